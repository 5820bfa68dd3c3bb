#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm agent claude` with the real Claude Code: bare first, then whole in the sandbox.
# Commands of `--commands` share /tmp with the agent: its home is elsewhere.
export TMPDIR=/var/tmp
. "$(dirname "$0")/support/loopback.sh"
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/agents.sh"
own_settings=.claude/settings.local.json
agent claude-code
program=$(native "$modules/@anthropic-ai/claude-code-*/claude") || exit 1
make_home
start_model
export ANTHROPIC_BASE_URL=$url ANTHROPIC_API_KEY=x CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1
unset CLAUDE_CONFIG_DIR
put_program claude "$program"
arguments=(-p try --model claude-sonnet-4-5 --dangerously-skip-permissions)

read_file() {
	tool Read "file_path=$1"
}

write_file() {
	tool Write "file_path=$1" "content=$2"
}

bare_conversation claude "${arguments[@]}"
whole_conversation claude "${arguments[@]}"
server_conversation claude "${arguments[@]}"
mkdir -p ~/.claude
echo '{"claudeAiOauth": {"accessToken": "sk-ant-oat01-FAKE-LOGIN-'$$'", "refreshToken": "sk-ant-ort01-x", "expiresAt": 1, "scopes": ["user:inference"]}}' \
	>~/.claude/.credentials.json
chmod 600 ~/.claude/.credentials.json
walled_conversation claude ANTHROPIC_API_KEY .claude/.credentials.json "${arguments[@]}"
# Settings that are planted in the project name another shell, in the same session and for the next: the wall stays.
user_policy 'files: {guard: launch}'
planted='{"env": {"CLAUDE_CODE_SHELL": "/bin/bash", "CLAUDE_CODE_SHELL_PREFIX": ""}, "disableAllHooks": true}'
steps=()
shell "mkdir -p .claude && printf '%s' '$planted' >.claude/settings.local.json && printf '%s' '$planted' >.claude/settings.json; echo end"
shell 'sleep 4'
shell "cat $HOME/.claude/.credentials.json; echo \"key=\$ANTHROPIC_API_KEY.\""
play "$BERM" agent claude --commands "${arguments[@]}"
expect "walled: the control: settings are planted" test -e .claude/settings.local.json
expect_result "walled: planted settings do not open the wall" 3 "key=."
expect_hidden "walled: nor show the login" 3 "FAKE-LOGIN-$$"
play "$BERM" agent claude --commands "${arguments[@]}"
expect_result "walled: nor at the next start" 3 "key=."
expect_hidden "walled: nor the login" 3 "FAKE-LOGIN-$$"
rm -r .claude ~/.config/berm ~/.claude/.credentials.json

# The user's own guards hold inside.
mkdir -p ~/.claude/hooks
printf '#!/bin/sh\n! grep -q forbidden-by-hook || { echo "BLOCKED by the hook" >&2; exit 2; }\n' >~/.claude/hooks/guard.sh
chmod +x ~/.claude/hooks/guard.sh
cat >~/.claude/settings.json <<END
{"permissions": {"deny": ["Bash(touch:*)"]},
 "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "$HOME/.claude/hooks/guard.sh"}]}]}}
END
steps=()
shell 'echo forbidden-by-hook >hooked.txt'
shell 'touch ruled.txt'
play "$BERM" agent claude -p try --model claude-sonnet-4-5 --allowedTools Bash
expect_result "the user's hook blocks" 1 "BLOCKED by the hook"
expect_result "the user's rule denies" 2 denied
play "$BERM" agent claude --commands -p try --model claude-sonnet-4-5 --allowedTools Bash
expect_result "--commands: the user's hook blocks" 1 "BLOCKED by the hook"
expect_result "--commands: the user's rule denies" 2 denied
expect "--commands: neither ran" test ! -e hooked.txt -a ! -e ruled.txt
rm -r ~/.claude/settings.json ~/.claude/hooks

# What a command plants in the agent's directories. Each would leave a mark if it ran.
mark=$project/mark
hooks='{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo settings >>'$mark'"}]}],
 "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo prompt >>'$mark'"}]}]},
 "statusLine": {"type": "command", "command": "echo status >>'$mark'"}}'
plant() {
	cat <<END
mkdir -p ~/.claude/hooks ~/.claude/skills/s ~/.claude/commands ~/.claude/agents ~/.claude/plugins ~/.local/bin ~/.claude/shell-snapshots ~/.claude/local
printf '%s' '$hooks' >~/.claude/settings.json
printf '%s' '$hooks' >~/.claude/settings.local.json
printf '%s' '{"mcpServers": {"x": {"command": "sh", "args": ["-c", "echo server >>$mark"]}}}' >~/.claude/.mcp.json
node -e 'const f=process.env.HOME+"/.claude.json",fs=require("fs"),c=JSON.parse(fs.readFileSync(f));c.mcpServers={x:{command:"sh",args:["-c","echo server >>$mark"]}};fs.writeFileSync(f,JSON.stringify(c))'
printf -- '---\nname: s\n---\n!\`echo skill >>$mark\`\n' >~/.claude/skills/s/SKILL.md
for name in claude node sh git bash rg; do printf '#!/bin/sh\necho program >>$mark\n' >~/.local/bin/\$name; chmod +x ~/.local/bin/\$name; done
echo 'echo snapshot >>$mark' >~/.claude/shell-snapshots/snapshot-bash-1-x.sh
echo 'echo rc >>$mark' >>~/.bashrc
mkdir .claude; printf '%s' '$hooks' >.claude/settings.local.json; printf '%s' '$hooks' >.claude/settings.json
echo end
END
}
# Control: planted bare, the next start runs some of it.
before=$(host_files .claude .claude.json .local/bin .bashrc)
cp -a "$HOME" "$scratch/home-before"
steps=()
shell "$(plant)"
play claude "${arguments[@]}"
steps=()
shell 'echo fine'
play claude "${arguments[@]}"
expect "bare: what was planted runs" grep -q settings "$mark"
rm -rf "$mark" "$HOME" "$project/.claude"
cp -a "$scratch/home-before" "$HOME"
expect_equal "the home is as before" "$before" "$(host_files .claude .claude.json .local/bin .bashrc)"

steps=()
shell "$(plant)"
shell 'sleep 2; echo after'
play "$BERM" agent claude "${arguments[@]}"
expect_result "planted inside" 1 end
expect_result "the next turn goes on" 2 after
expect "the project's settings are refused" test ! -e "$project/.claude/settings.local.json"
rm -f "$mark" # inside, in the same run, its own private settings may count
expect_equal "nothing is in the real home" "$(sed '/claude.json/d' <<<"$before")" \
	"$(host_files .claude .claude.json .local/bin .bashrc | sed '/claude.json/d')"
steps=()
shell 'echo fine'
play "$BERM" agent claude "${arguments[@]}"
expect_result "the next start inside" 1 fine
# The private home stays, and its shell reads its start-up files: in the sandbox, as any command.
expect_equal "runs none of it but the private home's start-up files" "" "$(grep -vx rc "$mark" 2>/dev/null)"
rm -f "$mark"
play claude "${arguments[@]}"
expect_result "a bare start" 1 fine
expect "runs none of it either" test ! -e "$mark"
expect_equal "no servers in ~/.claude.json" "" "$(grep -o 'echo server' ~/.claude.json)"

# The TUI: it draws, answers, follows the size of the terminal and leaves it as it was.
if command -v tmux >/dev/null; then
	cat >~/.claude.json <<END
{"hasCompletedOnboarding": true, "lastOnboardingVersion": "9.9.9", "theme": "dark", "customApiKeyResponses": {"approved": ["x"], "rejected": []},
 "projects": {"$project": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}}
END
	steps=()
	# shellcheck disable=SC2016 # for the shell of the agent
	shell 'echo "in-the-tui=$BERM" >tui.txt'
	printf '[%s]' "${steps[*]}" >"$scratch/script.json"
	terminal() {
		tmux -S "$scratch/tmux" "$@"
	}
	screen() {
		terminal capture-pane -p | grep -q -- "$1"
	}
	width() {
		[ "$(terminal capture-pane -p | grep -E '[─━]{20}' | head -n 1 | grep -oE '[─━]' | wc -l)" -ge "$1" ]
	}
	terminal -f /dev/null new-session -d -x 100 -y 30 "'$BERM' agent claude --model claude-sonnet-4-5 --allowedTools Bash; echo status=\$?; exec sh"
	expect "the TUI draws" until_true screen '❯\|>'
	expect "in the width of the terminal" until_true width 90
	terminal resize-window -x 60 -y 30
	narrow() {
		! width 61 && width 50
	}
	expect "and follows it" until_true narrow
	terminal send-keys 'hello'
	until_true screen hello
	terminal send-keys Enter
	expect "a turn runs a command inside" until_true grep -q in-the-tui=1 tui.txt
	expect "and ends" until_true screen "done"
	terminal send-keys C-c
	until_true screen again
	terminal send-keys C-c
	expect "Ctrl-C twice ends it" until_true screen status=
	terminal send-keys 'echo terminal=$((40 + 2))' Enter
	expect "the terminal is as it was" until_true screen terminal=42
	terminal kill-server
else
	echo "tmux is needed for the TUI"
fi

# Transcripts: the agent continues its own; they are not among those of the host.
steps=()
play "$BERM" agent claude -p "remember-$$" --model claude-sonnet-4-5
play "$BERM" agent claude -p again --continue --model claude-sonnet-4-5
expect_equal "a conversation is continued" 0 "$played"
expect_equal "its transcript is not the host's" "" "$(grep -rl "remember-$$" ~/.claude 2>/dev/null)"

# The login: a token that the agent refreshes reaches the host. Its server is not asked here: a command stands for the agent.
cat >~/.claude/.credentials.json <<END
{"claudeAiOauth": {"accessToken": "sk-ant-oat01-oldoldold", "refreshToken": "sk-ant-ort01-oldoldold", "expiresAt": $(($(date +%s) + 3600))000, "scopes": ["user:inference"], "subscriptionType": "pro"}}
END
chmod 600 ~/.claude/.credentials.json
steps=()
shell "sed -i 's/oldoldold/newnewnew/g; s/\"expiresAt\": [0-9]*/\"expiresAt\": $(($(date +%s) + 9000))000/; s/\"pro\"/\"max\"/' ~/.claude/.credentials.json"
play "$BERM" agent claude "${arguments[@]}"
expect_equal "refreshed tokens reach the host, a forged field does not" "2 0" \
	"$(grep -o newnewnew ~/.claude/.credentials.json | wc -l) $(grep -c '"max"' ~/.claude/.credentials.json)"
finish
