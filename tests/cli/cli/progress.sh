#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Work that takes longer than a second has a line on the terminal, which is gone before the result or the command's output. Nothing
# for quick work, and nothing if stderr is not a terminal. The project is slow because strace delays every listing.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home
for program in strace script; do
	command -v "$program" >/dev/null || { echo "$program is needed"; exit 77; }
done
strace -qq -o "$scratch/trace" true || { echo "strace needs ptrace"; exit 77; }

mkdir -p slow quick
for number in $(seq 300); do
	mkdir -p "slow/d$number/e"
done
# slowly COMMAND...: each listing of a directory takes five milliseconds.
cat >"$scratch/slowly" <<'END'
#!/bin/sh
exec strace -f -qq -o /dev/null -e trace=getdents64 -e inject=getdents64:delay_enter=5000 "$@"
END
chmod +x "$scratch/slowly"
# seen COMMAND: the bytes that it writes to a terminal, with each return on a line.
seen() {
	TERM=xterm script -qec "$1" /dev/null </dev/null | tr -d '\n' | tr '\r' '\n' >"$scratch/both"
}
line='^berm: searching the project ([0-9]* s)'

cd slow || exit 1
seen "$scratch/slowly '$BERM' run -- echo done"
expect "a slow project: a line" grep -q "$line" "$scratch/both"
expect "removed before the command runs" grep -qx 'done' "$scratch/both"
expect_equal "by as many blanks" 1 "$(grep -B1 -x 'done' "$scratch/both" | grep -c '^ \{30,\}$')"
seen "$scratch/slowly '$BERM' check read x"
expect "check: a line" grep -q "$line" "$scratch/both"
seen "$scratch/slowly '$BERM' run -- echo done 2>'$scratch/err'"
expect_equal "stderr is a file: nothing" "" "$(cat "$scratch/err")"
expect "the command runs" grep -qx 'done' "$scratch/both"
run "$scratch/slowly" "$BERM" run -- true
expect_equal "no terminal at all: nothing" "" "$err"
# In the background of its terminal, where writing could stop it.
seen "set -m; $scratch/slowly '$BERM' check read x & wait"
expect_equal "in the background: nothing" 0 "$(grep -c "$line" "$scratch/both")"
expect "but the answer" grep -q 'read x' "$scratch/both"
cd ../quick || exit 1
seen "'$BERM' run -- echo done"
expect_equal "a quick project: nothing" "done" "$(head -n 1 "$scratch/both")"

seen "'$BERM' doctor"
expect "doctor: a line" grep -q '^berm: testing the guarantees in a sandbox ([0-9]* s)' "$scratch/both"
run "$BERM" doctor
expect_equal "doctor without a terminal: nothing" "" "$err"

# npm in <file>: an npm that answers after so many seconds.
npm_after() {
	rm -f berm.yml
	mkdir -p "$HOME/.nvm/bin"
	echo '{"name": "app"}' >package.json
	printf '#!/bin/sh\nsleep %s\necho https://registry.example.org/\n' "$1" >"$HOME/.nvm/bin/npm"
	chmod 755 "$HOME/.nvm/bin/npm"
}
PATH=$HOME/.nvm/bin:$PATH
npm_after 2
seen "'$BERM' init --yes"
expect "init: a line" grep -q '^berm: asking the package managers for their registries ([0-9]* s)' "$scratch/both"
expect "init: the answer" grep -q 'registry.example.org' berm.yml
npm_after 2
run "$BERM" init --yes
expect_equal "init without a terminal: nothing" 0 "$(grep -c 'asking' <<<"$err")"
finish
