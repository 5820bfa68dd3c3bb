#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Replays the hooks of agents: runs the command that `berm setup HOST` writes into the host's
# settings as the host does, with the host's JSON, and then runs the resulting command as the host
# does.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home

plant_key "id_berm_test_$$" "the key of test $$"
trap '[ "$BASHPID" != "$$" ] || { remove_key; clean_up; }' EXIT

git init -q "$project"
mkdir "$project/sub" "$scratch/elsewhere"
# Claude Code has a shim as its shell instead: agent-tools.sh.
for host in codex gemini cursor; do
	python hooks.py "$host" "$BERM" "$project" "$secret" "$scratch/elsewhere"
done

# The reason is for the agent to read.
run bash -c "echo '{\"cwd\": \"$project\"}' | '$BERM' hook-rewrite --host=codex"
expect_equal "a reason is given" 2 "$status"
expect_contains "the reason" "event is missing" "$err"
expect_equal "and nothing else" "" "$out"
expect_status "help" 0 "$BERM" hook-rewrite --help
expect_status "an answer that cannot be written blocks" 2 bash -c "
	printf '{\"cwd\":\"$project\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"true\"}}' |
		'$BERM' hook-rewrite --host=codex >/dev/full"
finish
