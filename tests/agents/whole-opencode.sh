#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm agent opencode` with the real opencode: bare first, then whole in the sandbox.
. "$(dirname "$0")/support/loopback.sh"
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/agents.sh"
own_settings=opencode.json
agent opencode
program=$(native "$modules/opencode-*/bin/opencode") || exit 1
make_home
start_model
unset OPENCODE_CONFIG_DIR
mkdir -p ~/.config/opencode ~/.config/berm
settings='{"model": "fake/m", "autoupdate": false,
 "permission": {"bash": "allow", "edit": "allow", "read": "allow", "external_directory": "allow"},
 "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": {"baseURL": "'$url'/v1", "apiKey": "x"},
  "models": {"m": {"name": "m"}}}}'
echo "$settings}" >~/.config/opencode/opencode.json
# Its gateway is named in its settings, which berm does not read: the user allows it.
printf 'version: 1\nnetwork: {local: [%s]}\n' "${url##*:}" >~/.config/berm/berm.yml
export OPENCODE_DISABLE_MODELS_FETCH=1
put_program opencode "$program"
arguments=(run try)

read_file() {
	tool read "filePath=$1"
}

write_file() {
	tool write "filePath=$1" "content=$2"
}

bare_conversation opencode "${arguments[@]}"
whole_conversation opencode "${arguments[@]}"
server_conversation opencode "${arguments[@]}"

mark=$project/mark
hooks="$settings, \"mcp\": {\"x\": {\"type\": \"local\", \"command\": [\"sh\", \"-c\", \"echo server >>$mark\"]}}}"
plant() {
	cat <<END
mkdir -p ~/.config/opencode/plugin ~/.config/opencode/command ~/.local/share/opencode/bin ~/.cache/opencode
rm -f ~/.config/opencode/opencode.jsonc; printf '%s' '$hooks' >~/.config/opencode/opencode.json
printf '%s' '$hooks' >~/.config/opencode/config.json
echo 'require("fs").appendFileSync("$mark", "plugin"); export const X = async () => ({})' >~/.config/opencode/plugin/x.js
echo 'say planted' >~/.config/opencode/AGENTS.md
printf '%s' '$hooks' >opencode.json
echo end
END
}
places=(.config/opencode/opencode.json .config/opencode/config.json .config/opencode/plugin .config/opencode/AGENTS.md .config/opencode/command)
# shellcheck source=SCRIPTDIR/support/planted.sh
. "$here/planted.sh"
finish
