#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Output fits the screen, has colours only on a terminal, and none with NO_COLOR. Long lists are folded there.
. "$(dirname "$0")/../support/lib.sh"

# wide FILE: prints the lines that do not fit, except lines with an unbreakable word: a path of this
# test.
wide() {
	LC_ALL=C.UTF-8 grep -aE '^.{81}' "$1" | grep -avE '/[^ ]{20}'
}
# fits NAME COMMAND...
fits() {
	local name=$1
	shift
	run "$@"
	cat "$scratch/out" "$scratch/err" >"$scratch/both"
	expect "$name says something" test -s "$scratch/both"
	expect_equal "$name fits 80 columns" "" "$(wide "$scratch/both")"
}
printf '%081d\n' 0 >"$scratch/both"
expect_equal "the control: a line that is too wide is seen" 1 "$(wide "$scratch/both" | wc -l)"

fits "berm" "$BERM" help
for command in run shell plan check policies init trust state doctor setup hooks hook-rewrite; do
	fits "$command --help" "$BERM" "$command" --help
done
fits plan "$BERM" plan
fits policies "$BERM" policies
fits "policies --keys" "$BERM" policies --keys
fits setup "$BERM" setup
for host in claude-code codex gemini opencode aider cursor vscode zed jetbrains emacs vim npm make tmux mcp; do
	run "$BERM" setup "$host" --file="$scratch/none"
	[ "$status" = 0 ] || run "$BERM" setup "$host"
	sed -n '/^note:/,$p' "$scratch/out" >"$scratch/both"
	expect "setup $host has notes" test -s "$scratch/both"
	expect_equal "the notes for $host fit 80 columns" "" "$(wide "$scratch/both")"
done
git init -q . && mkdir own
for hook in applypatch-msg pre-applypatch post-applypatch pre-commit prepare-commit-msg commit-msg post-commit pre-rebase post-checkout; do
	printf '#!/bin/sh\n' >"own/$hook" && chmod +x "own/$hook"
done
git config core.hooksPath own

# on_terminal COMMAND: counts the escape sequences that it writes to a terminal.
on_terminal() {
	TERM=xterm script -qec "$1" /dev/null </dev/null | grep -c $'\033\\['
}
if command -v script >/dev/null; then
	expect "the control: plan has colours on a terminal" test "$(on_terminal "'$BERM' plan")" -gt 0
	expect_equal "none with NO_COLOR" 0 "$(NO_COLOR=1 on_terminal "'$BERM' plan")"
	expect "the control: an error too" test "$(on_terminal "'$BERM' run --nonsense")" -gt 0
	expect_equal "nor an error" 0 "$(NO_COLOR=1 on_terminal "'$BERM' run --nonsense")"
fi
# screen COLUMNS COMMAND: what stays on a terminal of that width, without colours.
screen() {
	TERM=xterm script -qec "stty cols $1; $2" /dev/null </dev/null | sed 's/\x1b\[[0-9;]*m//g; s/\r$//; s/.*\r//' >"$scratch/both"
}
# widest: the longest line of that, except lines with an unbreakable word.
widest() {
	grep -avE '/[^ ]{20}' "$scratch/both" | LC_ALL=C.UTF-8 wc -L
}
if command -v script >/dev/null; then
	screen 80 "'$BERM' hooks status"
	expect "hooks status fits 80 columns" test "$(widest)" -le 80
	expect_contains "in several lines" "post-checkout in own" "$(tr -s ' \n' ' ' <"$scratch/both")"
	for command in plan doctor; do
		screen 60 "'$BERM' $command"
		expect "$command fits 60 columns" test "$(widest)" -le 60
		screen 200 "'$BERM' $command"
		expect "$command uses more than 80 of 200" test "$(widest)" -gt 80
		expect "but stays readable" test "$(widest)" -le 100
	done
	LC_ALL=C.UTF-8 screen 80 "'$BERM' plan"
	expect "symbols in UTF-8" grep -q '^✓ writes ' "$scratch/both"
	LC_ALL=C screen 80 "'$BERM' plan"
	expect "ASCII elsewhere" grep -q '^+ writes ' "$scratch/both"
	expect_equal "and nothing else" "" "$(LC_ALL=C grep -a '[^ -~]' "$scratch/both")"
	screen 70 "'$BERM' run -- curl -sS https://example.org"
	expect "a long sentence is wrapped" test "$(widest)" -le 70
	LC_ALL=C.UTF-8 screen 80 "'$BERM' doctor"
	expect "doctor's verdict has a symbol" grep -qE '^[✓△✗] The default policy' "$scratch/both"
fi
# Lists: many entries with long paths, few, and none.
long=$scratch/a-rather-long-directory-name/of-a-customer-with-many-projects
mkdir -p "$XDG_CONFIG_HOME/berm"
printf 'version: 1\nfiles: {guard: repair}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
# words PROGRAM STRING: runs it with the words of the string.
words() {
	local list
	read -ra list <<<"$2"
	"$1" "${list[@]}"
}
on_screen() {
	LC_ALL=C.UTF-8 screen "$@"
}
if command -v script >/dev/null; then
	"$BERM" state reset --all --yes >/dev/null
	for command in state quarantine "trust --list"; do
		on_screen 80 "'$BERM' $command"
		expect_equal "$command: one sentence for an empty list" 1 "$(grep -cE '^no|^nothing' "$scratch/both")"
		expect_equal "$command: nothing for a program" "" "$(words "$BERM" "$command")"
	done
	for number in $(seq 23); do
		mkdir -p "$long/project-$number"
		cd "$long/project-$number" || exit 1
		printf 'version: 1\nnetwork: all\n' >berm.yml
		"$BERM" trust --yes . >/dev/null
		"$BERM" run -- sh -c 'echo a >.mcp.json' 2>/dev/null
	done
	echo '# changed' >>berm.yml
	touch .env
	for command in state quarantine "trust --list"; do
		on_screen 80 "'$BERM' $command"
		expect "$command fits 80 columns with long paths" test "$(LC_ALL=C.UTF-8 wc -L <"$scratch/both")" -le 80
		expect "$command is folded" grep -q '  and 3 more (-v shows all)' "$scratch/both"
		expect "$command has titles" grep -qE '^ +(home|id|state) ' "$scratch/both"
		expect "$command shows both ends of a path" grep -q '…' "$scratch/both"
		LC_ALL=C screen 80 "'$BERM' $command"
		expect_equal "$command in ASCII" "" "$(LC_ALL=C grep -a '[^ -~]' "$scratch/both")"
		on_screen 80 "'$BERM' $command -v"
		expect_equal "$command -v shows all" 23 "$(grep -c "$long/project-" "$scratch/both")"
		on_screen 200 "'$BERM' $command"
		expect_equal "$command in 200 columns: no path is shortened" 0 "$(grep -c '…' "$scratch/both")"
		expect_equal "$command: all for a program" 23 "$(words "$BERM" "$command" | grep -c "$long/project-")"
		expect_equal "$command: no colours for a program" 0 "$(words "$BERM" "$command" | grep -c $'\033')"
		expect "$command: colours on a terminal" test "$(on_terminal "'$BERM' $command")" -gt 0
		expect_equal "$command: none with NO_COLOR" 0 "$(NO_COLOR=1 on_terminal "'$BERM' $command")"
	done
	on_screen 80 "'$BERM' trust --list -v"
	expect "a changed file has another mark" grep -q '^△ changed ' "$scratch/both"
	expect "than a trusted one" grep -q '^✓ trusted ' "$scratch/both"
	on_screen 80 "'$BERM' check read .env berm.yml '$long/project-1/berm.yml'"
	expect "check fits 80 columns" test "$(LC_ALL=C.UTF-8 wc -L <"$scratch/both")" -le 80
	expect "check: a denial" grep -q '^✗ no   read .env' "$scratch/both"
	expect "check: an access" grep -q '^✓ yes  read berm.yml' "$scratch/both"
	expect_equal "check: one line and its rule for a program" "no   read .env ($PWD/.env): denied" "$("$BERM" check read .env | head -n 1)"
	on_screen 80 "'$BERM' setup"
	expect "setup has titles" grep -q '^  host  *state' "$scratch/both"
	on_screen 80 "'$BERM' setup gemini --check"
	expect "setup --check has a mark" grep -q '^✗ Gemini CLI: ' "$scratch/both"
	expect "a change has colours" test "$(on_terminal "'$BERM' setup gemini --file='$scratch/none.json'")" -gt 3
	cd "$project" || exit 1
fi
run "$BERM" plan
expect "long lists are folded" grep -q 'and [0-9]* more (-v shows all)' "$scratch/out"
expect_equal "no symbols in a pipe" 0 "$(grep -c '^[✓+] ' "$scratch/out")"
run "$BERM" plan -v
expect_equal "-v shows all" 0 "$(grep -c 'more (-v' "$scratch/out")"
expect_equal "also what the default does not search" 1 "$(grep -c '^  .zig-cache ' "$scratch/out")"
run "$BERM" plan --env=ZZZ=1
expect_contains "variables are not folded" "ZZZ" "$out"
run "$BERM" plan
expect_equal "none in a pipe" 0 "$(grep -c $'\033' "$scratch/out")"

finish
