#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Rust: cargo with vendored crates, offline: build, test, run, install. The crates are made here and vendored as `cargo vendor` does it.
. "$(dirname "$0")/support/lib.sh"
need cargo rustc cc

# vendored NAME VERSION CODE
vendored() {
	local directory=vendor/$1
	mkdir -p "$directory/src"
	printf '[package]\nname = "%s"\nversion = "%s"\nedition = "2021"\n' "$1" "$2" >"$directory/Cargo.toml"
	echo "$3" >"$directory/src/lib.rs"
	printf '{"files":{"Cargo.toml":"%s","src/lib.rs":"%s"},"package":null}' \
		"$(sha256sum <"$directory/Cargo.toml" | cut -d' ' -f1)" "$(sha256sum <"$directory/src/lib.rs" | cut -d' ' -f1)" >"$directory/.cargo-checksum.json"
}
vendored left-example 1.2.0 'pub fn left(n: u64) -> u64 { n * 2 }'
vendored right-example 2.0.1 'pub fn right(n: u64) -> u64 { n + 1 }'
mkdir -p .cargo src tests
printf '[source.crates-io]\nreplace-with = "vendored-sources"\n[source.vendored-sources]\ndirectory = "vendor"\n' >.cargo/config.toml
cat >Cargo.toml <<'END'
[package]
name = "sample"
version = "0.1.0"
edition = "2021"
build = "build.rs"
[dependencies]
left-example = "1"
right-example = "2"
END
cat >build.rs <<'END'
fn main() {
    std::fs::write(std::path::Path::new(&std::env::var("OUT_DIR").unwrap()).join("made.txt"), "made").unwrap();
    println!("cargo:rerun-if-changed=build.rs");
}
END
cat >src/main.rs <<'END'
use std::sync::mpsc;
fn main() {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(left_example::left(right_example::right(20))).unwrap());
    println!("{} {}", receiver.recv().unwrap(), include_str!(concat!(env!("OUT_DIR"), "/made.txt")));
}
#[test]
fn computes() {
    assert_eq!(left_example::left(3), 6);
}
END

works "cargo build --offline" cargo build --offline
expect_equal "what it computes" "42 made" "$(target/debug/sample)"
works "cargo test --offline" cargo test --offline
expect_contains "its test" "1 passed" "$out"
works_sh "a second run does nothing" 'cargo build --offline --verbose 2>&1; ls -d ~/.cargo'
expect "everything is fresh" grep -q 'Fresh sample' "$scratch/out"
expect "nothing is compiled again" test -z "$(grep Compiling "$scratch/out")"
home=$(private_home)
expect "cargo's home is private" test -d "$home/.cargo"
works_sh "cargo install, into the private home" 'cargo install --offline --debug --path . --root ~/.local; ~/.local/bin/sample'
works_sh "and it is there the next time" '~/.local/bin/sample'
expect_equal "the installed program" "42 made" "$out"
if $has_own_home; then
	PATH=$HOME/.cargo/bin:$PATH works_sh "a toolchain of the real home runs, and cannot be changed" 'home-tool
		never sh -c "echo x >>~/.cargo/bin/home-tool"; never rm -f ~/.cargo/bin/home-tool; never touch ~/.cargo/bin/new; never mv ~/.cargo/bin ~/.cargo/other'
	expect_equal "the toolchain" "toolchain of the home" "$out"
fi

finish_work
