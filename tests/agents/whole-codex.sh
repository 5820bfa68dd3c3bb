#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm agent codex` with the real Codex: bare first, then whole in the sandbox.
# Commands of `--commands` share /tmp with the agent: its home is elsewhere.
export TMPDIR=/var/tmp
. "$(dirname "$0")/support/loopback.sh"
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/agents.sh"
own_settings=.codex/config.toml
has_read_tool=no
agent codex
make_home
start_model
unset CODEX_HOME
mkdir ~/.codex
cat >~/.codex/config.toml <<END
model = "gpt-5.5"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "$url/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
END
# The piece passes the variable. The model's port is opened as a gateway's would be.
export OPENAI_API_KEY=x OPENAI_BASE_URL=$url/v1
put_program codex "$modules/.bin/codex"
arguments=(exec --skip-git-repo-check try)

# Codex has no tool that reads a text file.
read_file() {
	shell "cat $1"
}

write_file() {
	text_tool apply_patch "*** Begin Patch
*** Add File: $1
+$2
*** End Patch"
}

bare_conversation codex -c 'sandbox_mode="danger-full-access"' "${arguments[@]}"
whole_conversation codex "${arguments[@]}"
server_conversation codex "${arguments[@]}"
echo '{"OPENAI_API_KEY": "FAKE-LOGIN-'$$'"}' >~/.codex/auth.json
chmod 600 ~/.codex/auth.json
walled_conversation codex OPENAI_API_KEY .codex/auth.json "${arguments[@]}"
# The model may choose the shell of a command.
steps=()
shell "cat $HOME/.codex/auth.json; echo \"key=\$OPENAI_API_KEY.\"" '{"shell": "/bin/bash"}'
shell "cat $HOME/.codex/auth.json; echo \"key=\$OPENAI_API_KEY.\"" '{"shell": "/bin/sh", "login": true}'
play "$BERM" agent codex --commands "${arguments[@]}"
expect_result "walled: a shell that the model names" 1 "key=."
expect_hidden "walled: does not show the login" 1 "FAKE-LOGIN-$$"
expect_result "walled: another one" 2 "key=."
expect_hidden "walled: neither" 2 "FAKE-LOGIN-$$"
rm ~/.codex/auth.json

# The user's own guard holds inside.
mkdir -p ~/.codex/hooks
printf '#!/bin/sh\n! grep -q forbidden-by-hook || { echo "BLOCKED by the hook" >&2; exit 2; }\n' >~/.codex/hooks/guard.sh
chmod +x ~/.codex/hooks/guard.sh
echo '{"hooks": {"PreToolUse": [{"matcher": "^Bash$", "hooks": [{"type": "command", "command": "'"$HOME"'/.codex/hooks/guard.sh"}]}]}}' >~/.codex/hooks.json
steps=()
shell 'echo forbidden-by-hook >hooked.txt'
shell 'echo "inside=$BERM"'
trusting=(exec --dangerously-bypass-hook-trust --skip-git-repo-check try)
play codex -c 'sandbox_mode="danger-full-access"' "${trusting[@]}"
expect_result "bare: the user's hook blocks" 1 "BLOCKED by the hook"
for option in '' --commands; do
	play "$BERM" agent codex ${option:+"$option"} "${trusting[@]}"
	expect_result "the user's hook blocks${option:+ with $option}" 1 "BLOCKED by the hook"
	expect_result "and lets others run${option:+ with $option}" 2 "inside=1"
	expect "the command did not run${option:+ with $option}" test ! -e hooked.txt
done
rm -r ~/.codex/hooks.json ~/.codex/hooks

# Pictures are read by the agent itself.
picture=iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
base64 -d <<<"$picture" >~/.ssh/picture.png
base64 -d <<<"$picture" >picture.png
steps=()
tool view_image "path=$HOME/.ssh/picture.png"
tool view_image "path=$project/picture.png"
play codex -c 'sandbox_mode="danger-full-access"' "${arguments[@]}"
expect_result "bare: the picture is seen" 1 "[input_image]"
play "$BERM" agent codex "${arguments[@]}"
expect_hidden "a picture outside is not seen" 1 "[input_image]"
expect_result "another one is" 2 "[input_image]"

# What a command plants. A server and a program that is told about each turn leave a mark when they run.
mark=$project/mark
planted="notify = [\"sh\", \"-c\", \"echo notify >>$mark\"]
[mcp_servers.x]
command = \"sh\"
args = [\"-c\", \"echo server >>$mark\"]"
plant() {
	cat <<END
{ echo '$planted' | head -n 1; cat ~/.codex/config.toml; echo '$planted' | tail -n +2; } >/tmp/new.toml; cp /tmp/new.toml ~/.codex/config.toml
mkdir -p ~/.codex/rules ~/.codex/prompts ~/.codex/skills/s ~/.codex/plugins ~/.local/bin
echo 'prefix_rule(pattern=["rm"], decision="allow")' >~/.codex/rules/default.rules
echo '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo hook >>$mark"}]}]}}' >~/.codex/hooks.json
echo 'say planted' >~/.codex/AGENTS.md
for name in codex node sh git bash rg; do printf '#!/bin/sh\necho program >>$mark\n' >~/.local/bin/\$name; chmod +x ~/.local/bin/\$name; done
mkdir .codex; cp ~/.codex/config.toml .codex/config.toml
echo end
END
}
before=$(host_files .codex/config.toml .codex/rules .codex/hooks.json .codex/AGENTS.md .codex/skills .codex/prompts .local/bin)
cp -a "$HOME" "$scratch/home-before"
steps=()
shell "$(plant)"
play codex -c 'sandbox_mode="danger-full-access"' "${arguments[@]}"
steps=()
shell 'echo fine'
play codex -c 'sandbox_mode="danger-full-access"' "${arguments[@]}"
expect "bare: what was planted runs" test -e "$mark"
rm -rf "$mark" "$HOME" "$project/.codex"
cp -a "$scratch/home-before" "$HOME"
steps=()
shell "$(plant)"
shell 'sleep 1; echo after'
play "$BERM" agent codex "${arguments[@]}"
expect_result "planted inside" 1 end
expect_result "the next turn goes on" 2 after
expect "the project's settings are refused" test ! -e "$project/.codex/config.toml"
rm -f "$mark"
expect_equal "nothing is in the real home" "$before" \
	"$(host_files .codex/config.toml .codex/rules .codex/hooks.json .codex/AGENTS.md .codex/skills .codex/prompts .local/bin)"
steps=()
shell 'echo fine'
play "$BERM" agent codex "${arguments[@]}"
expect_result "the next start inside" 1 fine
expect "runs none of it" test ! -e "$mark"
play codex -c 'sandbox_mode="danger-full-access"' "${arguments[@]}"
expect_result "a bare start" 1 fine
expect "runs none of it either" test ! -e "$mark"

# Transcripts: the agent resumes its own.
steps=()
play "$BERM" agent codex exec --skip-git-repo-check "remember-$$"
play "$BERM" agent codex exec --skip-git-repo-check resume --last again
expect_equal "a conversation is resumed" 0 "$played"
expect_equal "its transcript is not the host's" "" "$(grep -rl "remember-$$" ~/.codex 2>/dev/null)"
finish
