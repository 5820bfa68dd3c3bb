#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The text that a command, or the model behind it, reads after a refusal: true, and with the next step.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home
git config --global user.name 'Test User'
git config --global user.email tester@example.org
git init -q .
echo one >file
git add file
git commit -q -m one

# git deletes the branch, and complains about an entry that was never there.
git branch old
expect_status "bare: a branch is deleted" 0 git branch -D old
git branch old
expect_status "a branch is deleted" 0 "$BERM" run -- git branch -D old
expect_equal "it is gone" "" "$(git branch --list old)"
expect_contains "that is no failure" "the command succeeded" "$err"
expect_status "a remote cannot be added" 255 "$BERM" run -- sh -c 'git remote add other ../x || exit 255'
expect_contains "that is one" "ask the user" "$err"

# A program behind a link: both directories are named, and are enough.
mkdir -p "$HOME/.local/bin" "$HOME/.local/share/tool"
printf '#!/bin/sh\necho "the tool ran"\n' >"$HOME/.local/share/tool/run"
chmod +x "$HOME/.local/share/tool/run"
ln -s ../share/tool/run "$HOME/.local/bin/tool"
PATH=$HOME/.local/bin:$PATH
expect_output "bare: the tool runs" "the tool ran" tool
expect_status "the tool is hidden" 127 "$BERM" run -- tool
expect_contains "both directories" "--allow-read=$HOME/.local/bin,$HOME/.local/share/tool would" "$err"
expect_output "they are enough" "the tool ran" "$BERM" run --allow-read="$HOME/.local/bin,$HOME/.local/share/tool" -- tool
expect_status "one is not" 127 "$BERM" run --allow-read="$HOME/.local/bin" -- tool
expect_contains "and the other is named" "$HOME/.local/share/tool" "$err"

# on_terminal COMMAND...
on_terminal() {
	script -qec "$(printf '%q ' "$@")" /dev/null </dev/null | tr -d '\r'
}

# Without a terminal no editor waits; the caller decides.
unset GIT_EDITOR VISUAL EDITOR
expect_status "git opens no editor" 0 "$BERM" run -- git commit --quiet --amend
expect_status "the caller's editor" 1 env GIT_EDITOR=false "$BERM" run -- git commit --quiet --amend
expect_output "a variable of an agent" "1 cat" env CLAUDECODE=1 GIT_PAGER=cat CLAUDE_CODE_OAUTH_TOKEN=x "$BERM" run -- \
	sh -c 'echo "$CLAUDECODE $GIT_PAGER$CLAUDE_CODE_OAUTH_TOKEN"'
# shellcheck disable=SC2016
expect_output "on a terminal the editor stays" unset on_terminal "$BERM" run -- sh -c 'echo "${EDITOR:-unset}"'
finish
