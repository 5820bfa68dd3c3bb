#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# berm init in small real projects: `berm plan` accepts the policy and commands run, trusted or not.
# The policy never has a credential. Nothing is overwritten.
. "$(dirname "$0")/../support/lib.sh"

unset GOPROXY PIP_INDEX_URL PIP_EXTRA_INDEX_URL UV_INDEX UV_INDEX_URL UV_DEFAULT_INDEX npm_config_registry NPM_CONFIG_REGISTRY

# new NAME: creates an empty project and enters it.
new() {
	mkdir "$scratch/$1"
	cd "$scratch/$1" || exit 1
}

# good NAME: the written policy works before and after it is trusted.
good() {
	expect_status "$1: plan, untrusted" 0 "$BERM" plan
	expect_status "$1: run, untrusted" 0 "$BERM" run -- echo ran
	expect_equal "$1: run, untrusted: output" ran "$out"
	expect_contains "$1: run, untrusted: one line says so" "is not trusted" "$err"
	expect_output "$1: run, untrusted, again" ran "$BERM" run -- echo ran
	expect_status "$1: trust" 0 "$BERM" trust --yes
	expect_status "$1: plan, trusted" 0 "$BERM" plan
	expect_output "$1: run, trusted" ran "$BERM" run -- echo ran
	case $("$BERM" plan --json) in
	*SECRET*) fail "$1: a credential in the plan" ;;
	*) pass ;;
	esac
	expect_status "$1: no credential in it" 1 grep -i secret berm.yml
}

new node
git init -q .
cat >package.json <<'END'
{"name": "app", "version": "1.0.0", "scripts": {"test": "node test.js"}, "dependencies": {"left": "^1.0.0"}}
END
printf '{"name": "app", "lockfileVersion": 3, "packages": {}}\n' >package-lock.json
printf 'registry=https://user:SECRET@npm.example.org:8443/npm/\n//npm.example.org:8443/npm/:_authToken=SECRET\n' >.npmrc
expect_status "node: init" 0 "$BERM" init
expect_contains "node: where" "$PWD/berm.yml" "$out"
expect_contains "node: the command that accepts it" "berm trust $PWD" "$out"
expect_status "node: no path of this machine in it" 1 grep -nE "[ =\"'](/|~/)|$scratch" <(grep -v 'read: \[~/datasets\]' berm.yml)
expect "node: its pieces" grep -q '^use: \[git, node\]$' berm.yml
expect "node: the registry" grep -q ' npm.example.org:8443 .*npm, from .npmrc:1' berm.yml
expect_equal "node: not npm's own" 1 "$(grep -c '^    - ' berm.yml)"
expect "node: it was not trusted" test ! -e "$XDG_STATE_HOME/berm/trust"
good node

new rust
git init -q .
mkdir -p src .cargo
printf '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
printf 'fn main() {}\n' >src/main.rs
printf '[registries.corp]\nindex = "sparse+https://SECRET@cargo.example.org/index/"\ntoken = "SECRET"\n' >.cargo/config.toml
expect_status "rust: init" 0 "$BERM" init
expect "rust: its pieces" grep -q '^use: \[git, rust\]$' berm.yml
expect "rust: its own" grep -q 'cargo.example.org:443 .*cargo, from .cargo/config.toml:2' berm.yml
good rust

new python
cat >pyproject.toml <<'END'
[project]
name = "app"
version = "1.0"

[[tool.uv.index]]
url = "https://user:SECRET@pypi.example.org/simple"
END
touch uv.lock
expect_status "python: init" 0 env UV_INDEX="corp=https://SECRET@env.example.org/simple" "$BERM" init
expect "python: its pieces" grep -q '^use: \[python\]$' berm.yml
expect "python: from the project" grep -q 'pypi.example.org:443 .*uv, from pyproject.toml:6' berm.yml
# shellcheck disable=SC2016
expect "python: from the environment" grep -qF 'uv, from $UV_INDEX' berm.yml
good python

new many
touch go.mod pom.xml Gemfile App.csproj Makefile
printf '{"repositories": [{"type": "composer", "url": "https:\\/\\/php.example.org\\/x"}]}\n' >composer.json
expect_status "many: init" 0 "$BERM" init
expect "many: all of them" grep -q '^use: \[go, java, ruby, php, dotnet, c\]$' berm.yml
expect "many: composer" grep -q 'php.example.org:443 .*composer.json:1' berm.yml
good many

# Never overwrites an entry of any type.
cp berm.yml "$scratch/before"
expect_status "it is not overwritten" 1 "$BERM" init
expect_contains "and named" "$PWD/berm.yml" "$err"
expect "not a byte" cmp -s berm.yml "$scratch/before"
expect_status "but printed" 0 "$BERM" init --print
expect "as it was" cmp -s "$scratch/out" "$scratch/before"

new linked
touch Makefile
echo precious >"$scratch/precious"
ln -s "$scratch/precious" berm.yml
expect_status "a link is left" 1 "$BERM" init
expect_output "and what it leads to" precious cat "$scratch/precious"
rm berm.yml
ln -s "$scratch/nowhere" berm.yml
expect_status "a dangling link is left" 1 "$BERM" init
expect "and nothing made through it" test ! -e "$scratch/nowhere"
rm berm.yml
ln -s "$scratch/nowhere" .berm.yml.new
expect_status "a planted temporary file is not written through" 125 "$BERM" init
expect "nothing came of it" test ! -e "$scratch/nowhere"
rm .berm.yml.new
mkdir berm.yml
expect_status "a directory is left" 1 "$BERM" init
rmdir berm.yml
expect_status "printing writes nothing" 0 "$BERM" init --print
expect "nothing" test ! -e berm.yml
(umask 0 && "$BERM" init >/dev/null)
expect_equal "its mode" 644 "$(stat -c %a berm.yml)"
expect "no temporary file is left" test ! -e .berm.yml.new

# A project of no known kind gets a policy that allows nothing more.
new plain
expect_status "plain: init" 0 "$BERM" init
case $out in
*"berm trust"*) fail "plain: nothing to trust" "$out" ;;
*) pass ;;
esac
expect_status "plain: plan" 0 "$BERM" plan
expect_output "plain: run" ran "$BERM" run -- echo ran

# By name, from a subdirectory, and in a directory that cannot be a project.
mkdir -p "$scratch/named" "$scratch/node/sub"
touch "$scratch/named/go.mod"
expect_status "by name" 0 "$BERM" init "$scratch/named"
expect "there" test -e "$scratch/named/berm.yml"
cd "$scratch/node/sub" || exit 1
expect_status "in a subdirectory the project is meant" 1 "$BERM" init
cd / || exit 1
expect_status "not in /" 125 "$BERM" init
expect_status "not in what is not there" 125 "$BERM" init "$scratch/absent"
cd "$scratch/named" || exit 1

# An address that cannot be parsed is reported, not guessed.
rm berm.yml go.mod
touch package.json
# shellcheck disable=SC2016
printf 'registry=https://${HOST_SECRET}/\n' >.npmrc
expect_status "unreadable address" 0 "$BERM" init --print
expect_contains "unreadable address: told" .npmrc:1 "$err"

expect_status "unknown option" 125 "$BERM" init --prnt
expect_status "help" 0 "$BERM" init --help

finish
