#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What people read fits a terminal of 80 columns, has colours only on one, and none with NO_COLOR.
. "$(dirname "$0")/support/lib.sh"

# wide FILE: the lines that do not fit, but for those that hold a word which nobody could break: a path of this test.
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
fits "hooks status" "$BERM" hooks status
expect_contains "hooks status, in several lines" "post-checkout in own" "$(tr -s ' \n' ' ' <<<"$out")"

# on_terminal COMMAND: what it writes to one.
on_terminal() {
	TERM=xterm script -qec "$1" /dev/null </dev/null | grep -c $'\033\\['
}
if command -v script >/dev/null; then
	expect "the control: plan has colours on a terminal" test "$(on_terminal "'$BERM' plan")" -gt 0
	expect_equal "none with NO_COLOR" 0 "$(NO_COLOR=1 on_terminal "'$BERM' plan")"
	expect "the control: an error too" test "$(on_terminal "'$BERM' run --nonsense")" -gt 0
	expect_equal "nor an error" 0 "$(NO_COLOR=1 on_terminal "'$BERM' run --nonsense")"
fi
run "$BERM" plan
expect_equal "none in a pipe" 0 "$(grep -c $'\033' "$scratch/out")"

finish
