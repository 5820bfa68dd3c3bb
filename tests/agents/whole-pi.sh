#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm agent pi` with the real pi: bare first, then whole in the sandbox.
. "$(dirname "$0")/support/loopback.sh"
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/agents.sh"
own_settings=.pi/settings.json
agent pi
make_home
start_model
unset PI_CODING_AGENT_DIR
mkdir -p ~/.pi/agent ~/.config/berm
cat >~/.pi/agent/models.json <<END
{"providers": {"fake": {"baseUrl": "$url/v1", "apiKey": "x", "api": "openai-completions",
  "models": [{"id": "m", "name": "m", "reasoning": false, "input": ["text"], "contextWindow": 100000, "maxTokens": 1000,
   "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}]}}}
END
# Its gateway is named in its settings, which berm does not read: the user allows it.
printf 'version: 1\nnetwork: {local: [%s]}\n' "${url##*:}" >~/.config/berm/berm.yml
put_program pi "$modules/.bin/pi"
arguments=(-p --provider fake --model m try)

read_file() {
	tool read "path=$1"
}

write_file() {
	tool write "path=$1" "content=$2"
}

bare_conversation pi "${arguments[@]}"
whole_conversation pi "${arguments[@]}"
server_conversation pi "${arguments[@]}"

mark=$project/mark
plant() {
	cat <<END
mkdir -p ~/.pi/agent/extensions ~/.pi/agent/skills ~/.pi/agent/bin
echo 'import { appendFileSync } from "node:fs"; appendFileSync("$mark", "extension"); export default function (pi) {}' >~/.pi/agent/extensions/x.ts
echo 'say planted' >~/.pi/agent/AGENTS.md
echo '{"extensions": ["$project/x.ts"]}' >~/.pi/agent/settings.json
mkdir -p .pi/extensions; cp ~/.pi/agent/extensions/x.ts .pi/extensions/x.ts
echo end
END
}
places=(.pi/agent/extensions .pi/agent/AGENTS.md .pi/agent/settings.json .pi/agent/skills)
# shellcheck source=SCRIPTDIR/support/planted.sh
. "$here/planted.sh"
finish
