#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# pi: the whole agent in the sandbox, because `berm setup` has no host for it. Its file tools are then
# behind the same wall.
. "$(dirname "$0")/support/loopback.sh"
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/agents.sh"
agent pi
own_settings=.pi/settings.json
make_home
start_model
# Its directory is in the project, so that it is there inside too.
export PI_CODING_AGENT_DIR=$project/.pi-agent
mkdir "$PI_CODING_AGENT_DIR"
cat >"$PI_CODING_AGENT_DIR/models.json" <<END
{"providers": {"fake": {"baseUrl": "$url/v1", "apiKey": "x", "api": "openai-completions",
  "models": [{"id": "m", "name": "m", "reasoning": false, "input": ["text"], "contextWindow": 100000, "maxTokens": 1000,
   "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}]}}}
END
pi=("$modules/.bin/pi" -p --provider fake --model m --no-session try)

read_file() {
	tool read "path=$1"
}

write_file() {
	tool write "path=$1" "content=$2"
}

bare_conversation "${pi[@]}"
boxed_conversation PI_CODING_AGENT_DIR "${pi[@]}"
finish
