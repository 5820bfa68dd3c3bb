#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# berm init and a registry with a private address, in a network of the test's own: a rule with the name alone does not reach it, the
# address is asked for in the same step, and neither the project's files nor --yes open one silently.
. "$(dirname "$0")/../support/internet.sh"
. "$(dirname "$0")/../support/lib.sh"
trap 'rm -rf "$internet"; clean_up' EXIT

if ! python3 -c 'import pip' 2>/dev/null; then
	echo "pip is needed"
	exit 77
fi
for name in $(compgen -e | grep -E '^(PIP_|UV_)'); do
	unset "$name"
done
mkdir -p "$XDG_CONFIG_HOME/pip"

# new NAME: a project with a dependency, and no configuration of pip.
new() {
	rm -rf "${scratch:?}/$1" "$XDG_CONFIG_HOME/pip/pip.conf"
	mkdir "$scratch/$1" && cd "$scratch/$1" || exit 1
	echo 'tinypkg==1.0.0' >requirements.txt
}

configure() {
	printf '[global]\nindex-url = http://%s/simple\ntrusted-host = %s\n' "$1" "$1" >"$XDG_CONFIG_HOME/pip/pip.conf"
}

scratch_home
fetch=(python3 -m pip --disable-pip-version-check --no-cache-dir download -q --no-deps -d got -r requirements.txt)

# The user's mirror.
new mirror
configure private.test
expect_status "control: outside it works" 0 "${fetch[@]}"
rm -rf got
expect_status "mirror: init --yes" 0 "$BERM" init --yes
expect "mirror: the name" grep -qE '^    - private.test:80 +# pip, from ' berm.yml
expect "mirror: the address" grep -qE '^    - 10.1.2.3:80 +# private address of private.test:80' berm.yml
expect_contains "mirror: said" "10.1.2.3:80" "$err"
expect_status "mirror: trust" 0 "$BERM" trust --yes
expect_status "mirror: fetch" 0 "$BERM" run -- "${fetch[@]}"
expect "mirror: it came" test -e got/tinypkg-1.0.0-py3-none-any.whl
rm -rf got
sed -i '/^    - 10\./d' berm.yml
expect_status "control: trust without the address" 0 "$BERM" trust --yes
expect_status "control: without the address it is refused" 1 "$BERM" run -- "${fetch[@]}"

# No terminal and no --yes: a comment.
new unasked
configure private.test
expect_status "unasked: init" 0 "$BERM" init
expect_contains "unasked: said" "not allowed" "$err"
expect_status "unasked: not allowed" 1 grep -qE '^    - 10\.' berm.yml
expect "unasked: a comment" grep -qE '^# +- 10.1.2.3:80 .*private address' berm.yml
expect_status "unasked: plan" 0 "$BERM" plan

# A terminal: the answer decides.
for answer in y n; do
	new "asked-$answer"
	configure private.test
	expect_status "asked, $answer: init" 0 python3 -B -c 'if True:
		import sys
		sys.path.insert(0, sys.argv[1])
		from terminal import BERM, Terminal
		terminal = Terminal(BERM, "init")
		terminal.expect(r"private.test:80 resolves to .*10.1.2.3:80.*\[y/N\] ")
		terminal.type(sys.argv[2] + "\n")
		sys.exit(terminal.wait())' "$support" "$answer"
	[ "$answer" = y ] && wanted=0 || wanted=1
	expect_status "asked, $answer: the address" "$wanted" grep -qE '^    - 10\.' berm.yml
done

# A name that only the project chose is not opened by --yes.
new project
printf -- '--index-url http://private.test/simple\ntinypkg==1.0.0\n' >requirements.txt
expect_status "project: init --yes" 0 "$BERM" init --yes
expect "project: the name" grep -qE '^    - private.test:80 ' berm.yml
expect_status "project: not the address" 1 grep -qE '^    - 10\.' berm.yml
expect "project: a comment" grep -qE '^# +- 10.1.2.3:80 ' berm.yml

# A metadata service and this machine never are.
for name in meta.test loop.test; do
	new "$name"
	configure "$name"
	expect_status "$name: init --yes" 0 "$BERM" init --yes
	expect_equal "$name: the name alone" 1 "$(grep -cE '^    - ' berm.yml)"
done

# A public one needs no address.
new public
configure registry.test
expect_status "public: init --yes" 0 "$BERM" init --yes
expect_equal "public: the name alone" 1 "$(grep -cE '^    - ' berm.yml)"
expect_status "public: no comment" 1 grep -q ' address of ' berm.yml

finish
