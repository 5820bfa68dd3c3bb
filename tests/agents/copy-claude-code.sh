#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A whole turn of the real Claude Code in a copy of the project: `berm agent --copy`, and BERM_COPY with the hook of `berm setup`. The
# project stays as it is until `berm apply`. Login and API are those of `berm agent`: only the project is a copy.
. "$(dirname "$0")/support/loopback.sh"
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/agents.sh"
agent claude-code
program=$(native "$modules/@anthropic-ai/claude-code-*/claude") || exit 1
make_home
start_model
export ANTHROPIC_BASE_URL=$url ANTHROPIC_API_KEY=x CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1
unset CLAUDE_CONFIG_DIR BERM_COPY
# `git status` refreshes the index, which would be a change of the project.
export GIT_OPTIONAL_LOCKS=0
put_program claude "$program"
arguments=(-p try --model claude-sonnet-4-5 --dangerously-skip-permissions)
mkdir -p ~/.claude
echo '{"claudeAiOauth": {"accessToken": "sk-ant-oat01-FAKE-LOGIN-'$$'", "refreshToken": "sk-ant-ort01-x", "expiresAt": 1, "scopes": ["user:inference"]}}' \
	>~/.claude/.credentials.json
chmod 600 ~/.claude/.credentials.json

snapshot() {
	find "$project" -printf '%P %y %i %m %s %T@ %C@ %l\n' | LC_ALL=C sort
}

# The turn: the agent's own tool, its shell, git, a secret, and its login.
turn() {
	steps=()
	tool Write "file_path=$project/tool.txt" "content=by the tool"
	shell "echo by the shell >shell.txt && rm first.txt && git add -A && git commit -qm turn && git log --oneline | wc -l"
	shell 'cat .env'
	shell "cat $HOME/.claude/.credentials.json"
	shell "echo $1 >$HOME/.claude/projects-mark; echo end"
}

turn copy
before=$(snapshot)
play "$BERM" agent --copy=turn claude "${arguments[@]}"
expect_equal "the agent ends well" 0 "$played"
expect_result "its shell works, and git" 2 2
expect_hidden "secrets of the project are hidden" 3 "FAKE-ENV-$$"
expect_result "its login is there, as without a copy" 4 "FAKE-LOGIN-$$"
expect_equal "the project has not changed" "$before" "$(snapshot)"
expect_contains "what to do next is said" "berm diff turn" "$(cat "$scratch/agent.log")"
expect "the login stays on the host" grep -q "FAKE-LOGIN-$$" ~/.claude/.credentials.json
expect "nothing of it is in the copy" test -z "$(grep -rl "FAKE-LOGIN-$$" ~/.local/state/berm/projects/*/copies)"
steps=()
shell 'cat tool.txt shell.txt; ls first.txt'
play "$BERM" agent --copy=turn claude "${arguments[@]}"
expect_result "the next turn goes on in it" 1 "by the tool"
expect_equal "the project has still not changed" "$before" "$(snapshot)"
run "$BERM" diff --stat turn
expect_contains "diff: the tool's file" "tool.txt" "$out"
expect_contains "diff: the shell's file" "shell.txt" "$out"
expect_status "apply" 0 "$BERM" apply turn
expect_equal "the tool's file" "by the tool" "$(cat tool.txt)"
expect_equal "the commit" turn "$(git log -1 --format=%s)"
expect "the repository is sound" git fsck --strict
expect_equal "it is clean" "" "$(git status --porcelain)"
expect_status "undo" 0 "$BERM" undo
expect_equal "undone" first "$(git log -1 --format=%s)"
"$BERM" discard --all --yes >/dev/null

# The variable, for the whole agent and for each command of one outside of it.
before=$(snapshot)
turn variable
BERM_COPY=turn play "$BERM" agent claude "${arguments[@]}"
expect_result "BERM_COPY: the agent works" 2 2
expect_equal "BERM_COPY: the project has not changed" "$before" "$(snapshot)"
expect_contains "BERM_COPY: the copy has it" tool.txt "$("$BERM" diff --name-only turn)"
"$BERM" discard --all --yes >/dev/null

turn direct
play "$BERM" agent claude "${arguments[@]}"
expect_equal "control: without a copy the project changes" "by the tool" "$(cat tool.txt)"

expect_status "setup" 0 "$BERM" setup claude-code --write
steps=()
shell 'echo hooked >hooked.txt; cat hooked.txt; echo "inside=$BERM"'
shell 'cat hooked.txt'
BERM_COPY=turn play claude "${arguments[@]}"
expect_result "the hook: the command is inside" 1 "inside=1"
expect_result "the hook: the next command sees it" 2 hooked
expect "the hook: the project has no such file" test ! -e hooked.txt
expect_output "the hook: the copy has it" hooked.txt "$BERM" diff --name-only turn
play claude "${arguments[@]}"
expect "control: without the variable the project changes" test -e hooked.txt
rm hooked.txt
finish
