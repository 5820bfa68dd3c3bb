# Unverified: parsed by nix-instantiate only; never built.
#   nix-build -E '(import <nixpkgs> { }).callPackage ./packaging/nix/package.nix { }'
# The last step, as your own user: berm doctor
{
  lib,
  stdenv,
  cmake,
  libcap,
  libseccomp,
  libyaml,
}:

stdenv.mkDerivation {
  pname = "berm";
  version = "0.1.0";
  src = lib.cleanSource ../..;

  nativeBuildInputs = [ cmake ];
  buildInputs = [ libyaml ] ++ lib.optionals stdenv.hostPlatform.isLinux [ libcap libseccomp ];
  cmakeFlags = [ "-DBERM_TESTS=OFF" ];

  # A build machine may have no user namespaces: this evaluates a policy and starts no sandbox.
  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/berm policies --schema | cmp - ${../../policies/berm.schema.json}
  '';

  meta = {
    description = "Sandbox for the commands that AI coding agents run";
    license = lib.licenses.asl20;
    mainProgram = "berm";
    platforms = lib.platforms.linux;
  };
}
