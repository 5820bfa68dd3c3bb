# Unverified: never run by Homebrew. The address and the checksum are placeholders.
class Berm < Formula
  desc "Run a command in a sandbox made of operating system mechanisms"
  homepage "https://example.org/berm"
  url "https://example.org/berm/berm-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"
  head "https://example.org/berm.git", branch: "main"

  depends_on "cmake" => :build
  depends_on "libyaml"

  on_linux do
    depends_on "libcap"
    depends_on "libseccomp"
  end

  def install
    system "cmake", "-S", ".", "-B", "build", "-DBERM_TESTS=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  def caveats
    "To see what holds on this machine: berm doctor"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/berm version")
    (testpath/"berm.yml").write "version: 1\nfiles: {deny: [secret]}\n"
    # Evaluates the policy alone: a build machine may have no user namespaces.
    assert_match "no", shell_output("#{bin}/berm check --project=#{testpath} read #{testpath}/secret", 1)
  end
end
