#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# berm as a shell: shims and berm-sh behave like the real shell, byte by byte. Nothing of their
# caller widens the sandbox: neither options nor variables nor files in PATH, each with the control
# that the attack works without berm. The calls of agents' hosts: opencode, make, Claude Code's
# prefix.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home

shims=$(dirname "$BERM")/shims
berm_sh=$(dirname "$BERM")/berm-sh
export BERM_SHIMS=$shims
mkdir -p "$home/.ssh" "$home/private" "$scratch/evil"
echo "the key" >"$home/.ssh/id_rsa"
echo "the diary" >"$home/private/diary"

# same_shell NAME SHELL ARGUMENT...: the real shell and the shim print the same. Stdin is $input.
input=/dev/null
same_shell() {
	local name=$1 shell=$2 bare=0 inside=0
	shift 2
	"/bin/$shell" "$@" <"$input" >"$scratch/bare.out" 2>"$scratch/bare.err" || bare=$?
	"$shims/$shell" "$@" <"$input" >"$scratch/inside.out" 2>"$scratch/inside.err" || inside=$?
	if [ "$bare" = "$inside" ] && cmp -s "$scratch/bare.out" "$scratch/inside.out" &&
		cmp -s "$scratch/bare.err" "$scratch/inside.err"; then
		pass
	else
		fail "$shell: $name" "status $bare, through the shim $inside
$(diff -a "$scratch/bare.out" "$scratch/inside.out") $(diff -a "$scratch/bare.err" "$scratch/inside.err")"
	fi
}

printf 'echo "script $# <$1> <$2>"; exit 3\n' >script.sh
echo 'echo "from stdin <$1>"' >stdin.sh
for shell in bash zsh sh dash; do
	if [ ! -x "/bin/$shell" ]; then
		echo "$shell is not installed"
		continue
	fi
	same_shell "-c" "$shell" -c 'echo "$# <$1> <$2>"' zero one ''
	same_shell "-c and \$0" "$shell" -c 'echo "$0"'
	same_shell "-lc" "$shell" -lc 'echo login'
	same_shell "-l -c" "$shell" -l -c 'echo login'
	same_shell "-e -u -c" "$shell" -e -u -c 'false; echo not reached'
	same_shell "-uc" "$shell" -uc 'echo $nothing' # the words are the shell's own, with its path
	same_shell "a script with arguments" "$shell" script.sh 'a b' $'c\nd'
	same_shell "a script that is not there" "$shell" ./none.sh
	same_shell "an exit status" "$shell" -c 'exit 42'
	same_shell "a signal" "$shell" -c 'kill -TERM $$'
	same_shell "an unknown command" "$shell" -c 'no-such-command-at-all'
	input=stdin.sh
	same_shell "-s with arguments" "$shell" -s argument
	same_shell "stdin alone" "$shell"
	input=/dev/null
	expect_equal "$shell: which one it is" "/bin/$shell" "$("$shims/$shell" -c 'readlink -f /proc/$$/exe >/dev/null; echo "$0"')"
	expect_equal "$shell: the control: the key can be read" "the key" "$("/bin/$shell" -c 'cat ~/.ssh/id_rsa')"
	expect_status "$shell: the key cannot be read through the shim" 1 "$shims/$shell" -c 'cat ~/.ssh/id_rsa'
	expect_equal "$shell: nothing of it" "" "$out"
done
same_shell "-euo pipefail" bash -euo pipefail -c 'echo on; false | true; echo not reached'
same_shell "long options" bash --norc --noprofile -c 'shopt -q login_shell; echo $?'
expect_contains "-i: an interactive shell" i "$("$shims/bash" --norc -i -c 'echo $-' 2>/dev/null)"
expect_output "as a login shell by its name" yes bash -c "exec -a -bash '$shims/bash' -c 'shopt -q login_shell && echo yes'"
if [ -x /usr/bin/fish ]; then
	expect_output "fish: -c" "2 a b" "$shims/fish" -c 'echo (count $argv) $argv' a b
	expect_status "fish: the key" 1 "$shims/fish" -c 'cat ~/.ssh/id_rsa'
fi

# Arguments byte by byte, in real launches; the unit test of the same name tests 100,000 without
# launches.
count=80
[ -z "${BERM_LONG:-}" ] || count=${BERM_VECTORS:-2000}
python vectors.py "$count" "$((RANDOM * 32768 + RANDOM))"

# The environment in the sandbox.
expect_output "BERM and the summary" "1 /run/berm/summary" "$shims/sh" -c 'echo $BERM $BERM_SUMMARY'
run "$shims/sh" -c 'cat "$BERM_SUMMARY"'
expect_contains "the summary names the project" "$(pwd -P): read and write" "$out"
expect_contains "and the network" "network     none" "$out"
expect_contains "and the way out" "/.config/berm/berm.yml" "$out"
expect_status "it cannot be written" 1 "$shims/bash" -c 'echo more >>"$BERM_SUMMARY"'
expect_status "nor replaced" 1 "$shims/sh" -c 'rm -f "$BERM_SUMMARY"'
mkdir -p "$home/.config/berm"
printf 'version: 1\nfiles: {read: [~/private], deny: [dull.txt]}\nlimits: {processes: 999}\n' >"$home/.config/berm/berm.yml"
run "$shims/sh" -c 'cat "$BERM_SUMMARY"'
expect_contains "the user's grant is in it" "read        $home/private" "$out"
expect_contains "the user's denial too" "dull.txt" "$out"
expect_contains "and limits" "processes 999" "$out"
expect_output "and it is true" "the diary" "$shims/sh" -c 'cat ~/private/diary'
rm "$home/.config/berm/berm.yml"
expect_status "and as soon as it is gone, not" 1 "$shims/sh" -c 'cat ~/private/diary'

# The shell is never found by PATH.
printf '#!/bin/sh\necho planted; id >%s/planted\n' "$scratch/evil" >"$scratch/evil/bash"
cp "$scratch/evil/bash" bash && chmod +x bash "$scratch/evil/bash"
expect_output "the control: PATH leads to the planted one" planted env PATH="$PWD:$scratch/evil:$PATH" bash -c 'exit 9'
expect_output "the shim is not led by PATH" real env PATH="$PWD:$scratch/evil:$PATH" "$shims/bash" -c 'echo real'
rm -f bash
expect_output "nor by a link that is called otherwise" real bash -c "exec -a '$scratch/evil/bash' '$shims/bash' -c 'echo real'"

# Widening by the environment of the caller.
printf 'version: 1\nfiles: {read: [~/private]}\n' >"$scratch/policy"
mkdir -p "$scratch/moved/berm" && cp "$scratch/policy" "$scratch/moved/berm/berm.yml"
expect_output "the control: XDG_CONFIG_HOME moves the policy of berm run" "the diary" \
	env XDG_CONFIG_HOME="$scratch/moved" XDG_STATE_HOME="$scratch/other" "$BERM" run -- cat "$home/private/diary"
expect_status "a shim refuses such a policy" 125 env XDG_CONFIG_HOME="$scratch/moved" "$shims/sh" -c "cat ~/private/diary"
expect_contains "in words" "XDG_CONFIG_HOME" "$err"
expect_status "berm-sh too" 125 env XDG_CONFIG_HOME="$scratch/moved" "$berm_sh" "cat ~/private/diary"
printf 'version: 1\nfiles: {deny: [dull.txt]}\n' >"$home/.config/berm/berm.yml"
echo dull >dull.txt
expect_output "the control: XDG_CONFIG_HOME takes a denial from berm run" dull \
	env XDG_CONFIG_HOME=/nonexistent XDG_STATE_HOME="$scratch/other" "$BERM" run -- cat dull.txt
expect_status "not from a shim" 1 env XDG_CONFIG_HOME=/nonexistent "$shims/sh" -c 'cat dull.txt'
expect_status "HOME is not asked" 1 env HOME=/nonexistent "$shims/sh" -c 'cat dull.txt'
rm "$home/.config/berm/berm.yml"

cp "$scratch/policy" berm.yml
expect_status "the control: the project's policy is not trusted" 1 "$BERM" run -- cat "$home/private/diary"
XDG_STATE_HOME=$scratch/forged "$BERM" trust --yes >/dev/null 2>&1
expect_output "the control: trust that was recorded elsewhere opens berm run" "the diary" \
	env XDG_STATE_HOME="$scratch/forged" "$BERM" run -- cat "$home/private/diary"
expect_status "not a shim" 1 env XDG_STATE_HOME="$scratch/forged" "$shims/sh" -c "cat ~/private/diary"
rm berm.yml

python3 -c 'import socket, sys, os; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])' "$scratch/agent.sock"
printf 'version: 1\nsockets: [$SSH_AUTH_SOCK]\n' >"$home/.config/berm/berm.yml"
export SSH_AUTH_SOCK=$scratch/agent.sock
expect_status "the control: a granted variable names a socket for berm run" 0 "$BERM" run -- test -S "$scratch/agent.sock"
expect_status "for a shim it names nothing" 1 "$shims/sh" -c "test -S '$scratch/agent.sock'"
rm "$home/.config/berm/berm.yml"
unset SSH_AUTH_SOCK

expect_status "an option of berm is the shell's" 2 "$shims/bash" --allow-read=/ -c 'echo x'
expect_status "the control: berm run takes it" 0 "$BERM" run --allow-read="$home/private" -- cat "$home/private/diary"

printf 'version: 1\ncommand_line: narrow\n' >"$home/.config/berm/berm.yml"
expect_status "nor where the user's policy says that options only narrow" 1 "$BERM" run --allow-read="$home/private" -- cat "$home/private/diary"
expect_status "which no other policy takes back" 1 "$BERM" run --policy="$scratch/policy" -- cat "$home/private/diary"
rm "$home/.config/berm/berm.yml"
expect_output "the control: that policy grants it" "the diary" "$BERM" run --policy="$scratch/policy" -- cat "$home/private/diary"

# The host's workspace.
mkdir -p nested/deep "$scratch/elsewhere"
git init -q nested 2>/dev/null || mkdir -p nested/.git
"$shims/sh" -c 'touch control'
expect "the control: the project is writable" test -e control
cd nested || exit 1
# Writes outside the project, where the view has a directory, do not reach the host.
CLAUDE_PROJECT_DIR=$project/nested "$shims/sh" -c 'touch ../made' 2>/dev/null
expect "a workspace in the project is the project" test ! -e ../made
cd deep || exit 1
GEMINI_PROJECT_DIR=$project "$shims/sh" -c 'touch ../../made ../in-nested' 2>/dev/null
expect "a workspace around it does not make more writable" test ! -e ../../made
expect "nor less" test -e ../in-nested
cd "$scratch/elsewhere" || exit 1
expect_output "the control: elsewhere is a project of its own" "" "$shims/sh" -c 'touch here'
expect_status "outside of the workspace nothing runs" 125 env CLAUDE_PROJECT_DIR="$project" "$shims/sh" -c 'touch there'
expect_contains "in words" "CLAUDE_PROJECT_DIR" "$err"
expect "nothing ran" test ! -e there
cd "$project" || exit 1
expect_status "a workspace that is not there" 125 env CURSOR_PROJECT_DIR=/nonexistent "$shims/sh" -c true

# In the sandbox a shim is the shell: there is no nested sandbox.
mkdir -p own/shims && cp "$BERM" own/berm && ln -s ../berm own/shims/sh
expect_output "a shim inside a shim" "inner 1" own/shims/sh -c 'own/shims/sh -c "echo inner \$BERM"'
expect_output "SHELL inside is no shim" /bin/bash env SHELL="$shims/bash" "$shims/bash" -c 'echo $SHELL'
expect_output "BERM=1 outside means nothing" "no" env BERM=1 BERM_SUMMARY="$scratch" "$shims/sh" -c 'cat ~/.ssh/id_rsa 2>/dev/null || echo no'
rm -rf own

# berm-sh
expect_output "one string" "a  b !x" "$berm_sh" "echo 'a  b' '!x'"
expect_output "as sh" "x y" "$berm_sh" -c 'echo $1 $2' sh x y
expect_status "its status" 7 "$berm_sh" 'exit 7'
expect_status "the key" 1 "$berm_sh" 'cat ~/.ssh/id_rsa'
input=stdin.sh
expect_output "stdin" "from stdin <>" "$berm_sh" <stdin.sh
expect_output "a script with arguments" "script 1 <x> <>" bash -c "'$berm_sh' script.sh x; exit 0"

# opencode: "$SHELL" -c STRING. make.
expect_output "opencode" "hi" env SHELL="$shims/bash" bash -c '"$SHELL" -c "echo hi"'
if command -v make >/dev/null; then
	printf 'all:\n\t@echo "made $$BERM_SUMMARY"\n\t@cat ~/.ssh/id_rsa\n' >Makefile
	expect_output "make: the control" $'made \nthe key' make -s
	expect_status "make: the key" 2 make -s SHELL="$shims/sh"
	expect_equal "make: what comes before works" "made /run/berm/summary" "$out"
	printf 'export XDG_CONFIG_HOME=%s\nall:\n\t@cat ~/private/diary\n' "$scratch/moved" >Makefile
	expect_status "make: a Makefile cannot bring its policy" 2 make -s SHELL="$shims/sh"
	expect_equal "make: nothing of it" "" "$out"
fi

# Claude Code: $PREFIX STRING in its own form. The snapshot is in the home and the file in the
# host's /tmp.
mkdir -p "$home/.claude/shell-snapshots"
snapshot=$home/.claude/shell-snapshots/snapshot-bash-1755042239230-87cw6n.sh
echo 'from_snapshot=yes' >"$snapshot"
report=/tmp/claude-$(printf '%x' $$)-cwd
# claude COMMAND: its status and output; $reported is what the host finds afterwards.
claude() {
	local prefix=${prefix-$berm_sh}
	rm -f "$report"
	run $prefix "source $snapshot && eval $(printf %q "$1") \\< /dev/null && pwd -P >| $report"
	reported=$(cat "$report" 2>/dev/null)
}
prefix='bash -c' claude 'cd nested; echo hi $from_snapshot; cat ~/.ssh/id_rsa'
expect_equal "claude, the control: output" $'hi yes\nthe key' "$out"
expect_equal "claude, the control: directory" "$PWD/nested" "$reported"
claude 'cd nested; echo hi; cat ~/.ssh/id_rsa'
expect_equal "claude: the key" "hi" "$out"
expect_equal "claude: the file is not written after a failure" "" "$reported"
claude 'cd nested; echo hi'
expect_equal "claude: status" 0 "$status"
expect_equal "claude: output" "hi" "$out"
expect_equal "claude: errors" "" "$err"
expect_equal "claude: directory" "$PWD/nested" "$reported"
expect_equal "claude: mode" 600 "$(stat -c %a "$report")"
claude 'exit 3'
expect_equal "claude: a status" 3 "$status"
mkdir -p $'odd \xc3\xa9 name'
claude "cd odd*"
expect_equal "claude: an odd name" "$PWD/"$'odd \xc3\xa9 name' "$reported"
for command in "cd /usr" "ln -sfn '$scratch/elsewhere' link; pwd() { echo '$PWD/link'; }" "ln -sfn nested link; cd link; pwd() { echo \"$PWD/link\"; }" \
	"pwd() { echo '$home'; }" "pwd() { echo ../x; }" "pwd() { printf '%s\n%s\n' '$PWD' '$PWD'; }" "pwd() { printf x; }" \
	"pwd() { head -c 60000 /dev/zero; }" "pwd() { printf '%s\33[31m\n' '$PWD'; }" "mkdir -p gone; pwd() { echo '$PWD/gone'; rmdir gone; }" \
	"pwd() { echo '$PWD/nested/../..'; }" "pwd() { echo '$PWD/script.sh'; }"; do
	claude "$command"
	expect_equal "claude: not told of: $command" "$PWD" "$reported"
done
claude 'pwd() { :; }'
expect_equal "claude: no answer, no file" "" "$reported"
# Existing entries with the file's name.
echo precious >"$scratch/precious"
rm -f "$report"; ln -s "$scratch/precious" "$report"
expect_status "claude: a link in its place" 1 "$berm_sh" "eval true && pwd -P >| $report"
expect_equal "claude: where it leads stays" precious "$(cat "$scratch/precious")"
rm -f "$report"; ln "$scratch/precious" "$report" 2>/dev/null || cp /dev/null "$report"
if [ "$(stat -c %h "$report")" = 2 ]; then
	expect_status "claude: a hard link in its place" 1 "$berm_sh" "eval true && pwd -P >| $report"
	expect_equal "claude: its other name stays" precious "$(cat "$scratch/precious")"
fi
rm -f "$report"; mkfifo "$report"
expect_status "claude: a pipe in its place" 1 "$berm_sh" "eval true && pwd -P >| $report"
rm -f "$report"; echo old >"$report"
expect_status "claude: an old one" 0 "$berm_sh" "eval true && pwd -P >| $report"
expect_equal "claude: is replaced" "$PWD" "$(cat "$report")"
rm -f "$report"
# Other files are not written, whatever the string contains.
for file in "$home/.profile" /tmp/other-$$ "$home/claude-1-cwd.sh" "/tmp/claude-$$-cwd.sh" "/tmp/x/../claude-$$-cwd" "/tmp/claude-../x-cwd"; do
	run "$berm_sh" "eval true && pwd -P >| $file"
	expect "claude: only files of that name: $file" test ! -e "$file"
done
mkdir -p "$scratch/open" && chmod 777 "$scratch/open"
run "$berm_sh" "eval true && pwd -P >| $scratch/open/claude-1-cwd"
expect "claude: not into a directory that others can write" test ! -e "$scratch/open/claude-1-cwd"
run "$berm_sh" "eval true && pwd -P >| $home/private/claude-1-cwd"
expect "claude: not into one that the host does not name" test ! -e "$home/private/claude-1-cwd"
run env CLAUDE_CODE_TMPDIR="$scratch/open" "$berm_sh" "eval true && pwd -P >| $scratch/open/claude-1-cwd"
expect "claude: not into a named one that others can write" test ! -e "$scratch/open/claude-1-cwd"
expect_equal "claude: and that is a failure" 1 "$status"
run env CLAUDE_CODE_TMPDIR="$home/private" "$berm_sh" "eval true && pwd -P >| $home/private/claude-1-cwd"
expect_equal "claude: into the one that the host names" "$PWD" "$(cat "$home/private/claude-1-cwd")"
run env TMPDIR="$home/private/" "$berm_sh" "eval true && pwd -P >| $home/private/claude-2-cwd"
expect_equal "claude: also by the usual variable" "$PWD" "$(cat "$home/private/claude-2-cwd")"
run env TMPDIR="$home/private/" CLAUDE_CODE_TMPDIR=/tmp "$berm_sh" "eval true && pwd -P >| $home/private/claude-3-cwd"
expect "claude: its own variable counts first" test ! -e "$home/private/claude-3-cwd"
mkdir -p "$home/private/\$(id)"
run env TMPDIR="$home/private/\$(id)" "$berm_sh" "eval true && pwd -P >| '$home/private/\$(id)/claude-4-cwd'"
expect "claude: no character with a meaning to a shell" test ! -e "$home/private/\$(id)/claude-4-cwd"
rm -f "$report"
run "$berm_sh" "true && pwd -P >| $report"
expect "claude: only a command of eval" test ! -e "$report"
run "$berm_sh" "source /etc/profile && eval true && pwd -P >| $report"
expect "claude: only after a snapshot" test ! -e "$report"
run "$berm_sh" "eval true && pwd -P >| nested/claude-1-cwd; echo after"
expect_equal "claude: another form runs as it is" after "$out"

finish
