#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Toolchains that people install into their home run inside under the default policy, by the PATH they always have, and cannot be changed;
# files beside them (tokens, caches) are absent.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home

# Where each one puts programs.
places="
nvm      .nvm/versions/node/v22.1.0/bin
volta    .volta/bin
fnm      .local/share/fnm/node-versions/v22.1.0/installation/bin
pyenv    .pyenv/shims
uv       .local/share/uv/tools/ruff/bin
rustup   .rustup/toolchains/stable-x86_64-unknown-linux-gnu/bin
cargo    .cargo/bin
go       go/bin
gosdk    sdk/go1.23.0/bin
sdkman   .sdkman/candidates/java/current/bin
rbenv    .rbenv/shims
rvm      .rvm/bin
asdf     .asdf/shims
mise     .local/share/mise/shims
deno     .deno/bin
bun      .bun/bin
ghcup    .ghcup/bin
dotnet   .dotnet/tools
opam     .opam/default/bin
nix      .local/state/nix/profiles/profile-1-link/bin
"
path=
names=
while read -r name place; do
	[ -n "$name" ] || continue
	mkdir -p "$home/$place"
	printf '#!/bin/sh\necho "%s ${0#%s/}"\n' "$name" "$home" >"$home/$place/$name-tool"
	chmod 755 "$home/$place/$name-tool"
	path=$path:$home/$place
	names="$names $name"
done <<<"$places"
path=${path#:}:/usr/local/bin:/usr/bin:/bin
# Links, as these programs make them.
ln -s ../mise-program "$home/.local/share/mise/shims/linked-tool"
printf '#!/bin/sh\necho linked\n' >"$home/.local/share/mise/mise-program"
chmod 755 "$home/.local/share/mise/mise-program"
ln -s .local/state/nix/profiles/profile "$home/.nix-profile"
ln -s profile-1-link "$home/.local/state/nix/profiles/profile"
# Tokens and caches beside them.
echo "token = 'of crates'" >"$home/.cargo/credentials.toml"
mkdir -p "$home/.cargo/registry" "$home/go/pkg" "$home/.config/uv" && echo x >"$home/.cargo/registry/x"
echo secret >"$home/.nuget-key"
mkdir -p "$home/.dotnet/corefx/cryptography/x509stores/my" && echo key >"$home/.dotnet/corefx/cryptography/x509stores/my/a.pfx"
# In directories that are granted whole.
mkdir -p "$home/.nvm/versions/node/v22.1.0/etc" "$home/.opam/log" "$home/.asdf/installs/rust/1.80.0" "$home/.pyenv/versions/3.12.1"
for file in .nvm/versions/node/v22.1.0/etc/npmrc .opam/log/log-1.env .asdf/installs/rust/1.80.0/credentials.toml .pyenv/versions/3.12.1/pip.conf; do
	echo token >"$home/$file"
done

run_all='for name in '$names'; do "$name-tool" || echo "$name does not run"; done; linked-tool; ~/.nix-profile/bin/nix-tool'
wanted=$(PATH=$path sh -c "$run_all")
expect_equal "the control: all of them run outside" "$(wc -w <<<"$names")" "$(grep -c -- -tool <<<"$wanted" | awk '{ print $1 - 1 }')"
expect_equal "they run inside, by the same PATH" "$wanted" "$(PATH=$path "$BERM" run -- sh -c "$run_all" 2>&1)"
before=$(find "$home" -path "$home/.local/state/berm" -prune -o -type f -exec sha256sum {} + | sort)
# shellcheck disable=SC2016 # for the shell inside
change='for name in '$names'; do at=$(command -v "$name-tool"); (echo evil >>"$at") 2>/dev/null; rm -f "$at" 2>/dev/null; (echo evil >"${at%/*}/planted") 2>/dev/null
	[ -e "$at" ] && [ ! -e "${at%/*}/planted" ] || echo "$name was changed"; done'
cp -a "$home" "$scratch/copy"
expect_equal "the control: outside they can be changed" "$(wc -w <<<"$names")" \
	"$(PATH=${path//$home/$scratch/copy} sh -c "$change" | wc -l)"
expect_equal "inside they cannot" "" "$(PATH=$path "$BERM" run -- sh -c "$change" 2>&1)"
expect_equal "the home is as it was" "$before" "$(find "$home" -path "$home/.local/state/berm" -prune -o -type f -exec sha256sum {} + | sort)"
for file in .cargo/credentials.toml .cargo/registry/x .nuget-key .dotnet/corefx/cryptography/x509stores/my/a.pfx; do
	expect "the control: $file is there outside" test -s "$home/$file"
	expect_status "$file is not there inside" 1 "$BERM" run -- test -e "$home/$file"
done
for file in .nvm/versions/node/v22.1.0/etc/npmrc .opam/log/log-1.env .asdf/installs/rust/1.80.0/credentials.toml .pyenv/versions/3.12.1/pip.conf; do
	expect "the control: $file can be read outside" grep -q token "$home/$file"
	expect_status "$file cannot be read inside" 2 "$BERM" run -- grep -q token "$home/$file"
done
# Beside a toolchain's programs the private home has room for its cache.
expect_status "caches beside them can be written" 0 "$BERM" run -- sh -c 'mkdir -p ~/.cargo/registry ~/go/pkg ~/.cache/uv && touch ~/.cargo/registry/mine ~/go/pkg/mine ~/.cache/uv/mine'
expect "in the private home" test ! -e "$home/.cargo/registry/mine" -a ! -e "$home/go/pkg/mine"

finish
