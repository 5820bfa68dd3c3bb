#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Real VS Code, bare and after `berm setup vscode`: each way in which it starts a program is inside or
# outside as docs/hosts/vscode.md says.
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/editors.sh"
need_vscode
make_home
make_settings
mkdir "$project/.vscode"
cat >"$project/.vscode/tasks.json" <<'END'
{"version": "2.0.0", "tasks": [
	{"label": "shell", "type": "shell", "command": "sh look.sh shell-task", "options": {"env": {"TASKVAR": "of the task", "TASK_TOKEN": "FAKE"}}},
	{"label": "process", "type": "process", "command": "/bin/sh", "args": ["look.sh", "process-task"]},
	{"label": "own", "type": "shell", "command": "sh look.sh own-shell-task", "options": {"shell": {"executable": "/bin/bash", "args": ["-c"]}}}
]}
END
echo '{"name": "app", "version": "1.0.0", "scripts": {"look": "sh look.sh npm-task"}}' >"$project/package.json"
printf '#!/bin/sh\nexec sh look.sh commit\n' >"$project/.git/hooks/pre-commit"
chmod +x "$project/.git/hooks/pre-commit"
steps='{"variables": {"EXTVAR": "of an extension"}, "steps": [
	{"name": "terminal", "kind": "click", "command": "sh look.sh terminal"},
	{"name": "extension-terminal", "kind": "terminal", "command": "sh look.sh extension-terminal", "integrated": true},
	{"name": "shell-task", "kind": "task", "task": "shell"},
	{"name": "npm-task", "kind": "task", "task": "look", "type": "npm"},
	{"name": "process-task", "kind": "task", "task": "process"},
	{"name": "own-shell-task", "kind": "task", "task": "own"},
	{"name": "own-shell-terminal", "kind": "terminal", "command": "sh look.sh own-shell-terminal", "options": {"shellPath": "/bin/bash"}},
	{"name": "internal-console", "kind": "debug", "program": "look.js", "line": 6, "config": {"console": "internalConsole", "args": ["internal-console"]}},
	{"name": "integrated-console", "kind": "debug", "program": "look.js", "line": 6, "config": {"console": "integratedTerminal", "args": ["integrated-console"]}},
	{"name": "debug-terminal", "kind": "debug", "program": "look.js", "line": 6, "command": "node look.js debug-terminal"},
	{"name": "child-process", "kind": "program", "command": ["sh", "look.sh", "child-process"]},
	{"name": "commit", "kind": "commit"}
]}'
round=bare
play_steps bare "$steps"
cat "$scratch/steps.json.results"
expect_where outside terminal extension-terminal shell-task npm-task process-task own-shell-task own-shell-terminal internal-console \
	integrated-console debug-terminal child-process commit
run "$BERM" setup vscode --file="$HOME/$user_settings" --write
expect_equal "setup" 0 "$status"
round=berm
play_steps berm "$steps"
cat "$scratch/steps.json.results"
expect_where inside terminal extension-terminal shell-task npm-task integrated-console debug-terminal
expect_where outside process-task own-shell-task own-shell-terminal internal-console child-process commit
finish
