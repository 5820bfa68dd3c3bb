#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Qwen Code: the whole agent in the sandbox, because `berm setup` has no host for it. Its file tools
# are then behind the same wall.
. "$(dirname "$0")/support/loopback.sh"
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/agents.sh"
agent qwen
own_settings=.qwen/settings.json
make_home
start_model
export OPENAI_API_KEY=x OPENAI_BASE_URL=$url/v1 OPENAI_MODEL=m
qwen=("$modules/.bin/qwen" --auth-type openai -y -p try)

read_file() {
	tool read_file "file_path=$1"
}

write_file() {
	tool write_file "file_path=$1" "content=$2"
}

# Its own tools refuse or ask about paths outside the workspace.
own_tools=no bare_conversation "${qwen[@]}"
boxed_conversation OPENAI_API_KEY,OPENAI_BASE_URL,OPENAI_MODEL "${qwen[@]}"
finish
