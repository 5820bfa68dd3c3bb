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
	{"name": "own-runtime", "kind": "debug", "program": "look.js", "line": 6, "config": {"runtimeExecutable": "'$node'", "args": ["own-runtime"]}},
	{"name": "child-process", "kind": "program", "command": ["sh", "look.sh", "child-process"]},
	{"name": "commit", "kind": "commit"}
]}'
round=bare
play_steps bare "$steps"
expect_where outside terminal extension-terminal shell-task npm-task process-task own-shell-task own-shell-terminal internal-console \
	integrated-console debug-terminal own-runtime child-process commit
expect_equal "bare: the shell is integrated" "integrated, status 0" "$(answer extension-terminal)"
expect_equal "bare: the debugger attaches" "attached attached attached" "$(answer internal-console) $(answer integrated-console) $(answer debug-terminal)"
expect "bare: the task's variable" grep -qx "TASKVAR=of the task" "$project/look/shell-task"
expect "bare: the extension's variable" grep -qx "EXTVAR=of an extension" "$project/look/terminal"

run "$BERM" setup vscode --file="$HOME/$user_settings" --write
expect_equal "setup" 0 "$status"
run "$BERM" setup vscode --debugger --write
expect_equal "setup of the debugger" 0 "$status"
# The packages are in a directory that the sandbox does not show, as a server in the home would be. The
# hooks of commits are brought in by berm hooks.
user_policy "files: {read: [$installed]}" 'environment: {pass: [TASKVAR, EXTVAR]}'
run "$BERM" hooks install
expect_equal "hooks" 0 "$status"
round=berm
play_steps berm "$steps"
expect_where inside terminal extension-terminal shell-task npm-task internal-console integrated-console debug-terminal commit
expect_where outside process-task own-shell-task own-shell-terminal own-runtime child-process
expect_equal "berm: the shell is integrated" "integrated, status 0" "$(answer extension-terminal)"
expect_equal "berm: the debugger attaches" "attached attached attached" "$(answer internal-console) $(answer integrated-console) $(answer debug-terminal)"
expect "berm: a task's variable that the policy names" grep -qx "TASKVAR=of the task" "$project/look/shell-task"
expect "berm: an extension's variable that the policy names" grep -qx "EXTVAR=of an extension" "$project/look/terminal"
run "$BERM" setup vscode --file="$HOME/$user_settings" --check
expect_contains "berm: --check names the process task" ".vscode/tasks.json:3: task process runs outside" "$out"
expect_contains "berm: and the one with its own shell" ".vscode/tasks.json:4: task own runs outside" "$out"
expect_equal "berm: no other" "" "$(grep -h -e TASK_TOKEN -e VSCODE_IPC -e VSCODE_GIT "$project/look/shell-task" "$project/look/terminal")"
finish
