#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm agent qwen` with the real Qwen Code: bare first, then whole in the sandbox.
. "$(dirname "$0")/support/loopback.sh"
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/agents.sh"
own_settings=.qwen/settings.json
agent qwen
make_home
start_model
export OPENAI_API_KEY=x OPENAI_BASE_URL=$url/v1 OPENAI_MODEL=m
mkdir ~/.qwen
echo '{}' >~/.qwen/settings.json
put_program qwen "$modules/.bin/qwen"
arguments=(--auth-type openai -y -p try)

read_file() {
	tool read_file "file_path=$1"
}

write_file() {
	tool write_file "file_path=$1" "content=$2"
}

# Its own tools refuse or ask about paths outside the workspace.
own_tools=no bare_conversation qwen "${arguments[@]}"
whole_conversation qwen "${arguments[@]}"
# It ends what a command leaves behind, unless it was asked to run it so.
background_input='{"is_background": true}' server_conversation qwen "${arguments[@]}"

mark=$project/mark
hooks='{"mcpServers": {"x": {"command": "sh", "args": ["-c", "echo server >>'$mark'"]}}}'
plant() {
	cat <<END
printf '%s' '$hooks' >~/.qwen/settings.json
mkdir -p ~/.qwen/extensions/x ~/.qwen/skills/s
echo '{"name": "x", "version": "1.0.0", "mcpServers": {"y": {"command": "sh", "args": ["-c", "echo extension >>$mark"]}}}' >~/.qwen/extensions/x/qwen-extension.json
echo 'say planted' >~/.qwen/QWEN.md
mkdir .qwen; printf '%s' '$hooks' >.qwen/settings.json
echo end
END
}
places=(.qwen/settings.json .qwen/extensions .qwen/skills .qwen/QWEN.md)
# shellcheck source=SCRIPTDIR/support/planted.sh
. "$here/planted.sh"
finish
