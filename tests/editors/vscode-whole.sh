#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The whole of VS Code in the sandbox, as docs/whole-editor.md describes: what is outside with
# `berm setup vscode` is inside.
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/editors.sh"
need_vscode
make_home
mkdir "$project/.vscode"
echo '{"version": "2.0.0", "tasks": [{"label": "process", "type": "process", "command": "/bin/sh", "args": ["look.sh", "process-task"]}]}' \
	>"$project/.vscode/tasks.json"
printf '#!/bin/sh\nexec sh look.sh commit\n' >"$project/.git/hooks/pre-commit"
chmod +x "$project/.git/hooks/pre-commit"
# The editor's settings and the extension are in the project: its home is private.
cp -r "$editors/support/probe" "$project/probe"
scratch_steps=$project/steps.json
cat >"$scratch_steps" <<'END'
{"steps": [
	{"name": "terminal", "kind": "click", "command": "sh look.sh terminal", "then": "echo BERM=$BERM; cat ~/.ssh/id_rsa"},
	{"name": "process-task", "kind": "task", "task": "process"},
	{"name": "own-shell-terminal", "kind": "terminal", "command": "sh look.sh own-shell-terminal", "options": {"shellPath": "/bin/bash"}},
	{"name": "internal-console", "kind": "debug", "program": "look.js", "line": 6, "config": {"console": "internalConsole", "args": ["internal-console"]}},
	{"name": "integrated-console", "kind": "debug", "program": "look.js", "line": 6, "config": {"console": "integratedTerminal", "args": ["integrated-console"]}},
	{"name": "child-process", "kind": "program", "command": ["sh", "look.sh", "child-process"]},
	{"name": "commit", "kind": "commit"}
]}
END

# whole COMMAND...: the editor below this command, and its page.
whole() {
	local name=$1 status=0
	shift
	rm -rf "$scratch_steps.done" "$scratch_steps.started" "$scratch_steps.results" "$scratch/browser" "$project/look"
	(cd "$project" && exec env -i HOME="$HOME" USER="$(id -un)" SHELL=/bin/bash LANG=C.UTF-8 TERM=xterm PATH="${node%/*}:/usr/bin:/bin" \
		"$@" "$node" "$server" --auth none --bind-addr "127.0.0.1:$port" --extensions-dir "$project/extensions" \
		--disable-telemetry --disable-update-check --disable-workspace-trust "$project") >"$scratch/editor.log" 2>&1 </dev/null &
	editor=$!
	until_true curl -so /dev/null --max-time 5 "http://127.0.0.1:$port/healthz" || fail "$name: the editor starts" "$(tail -n 5 "$scratch/editor.log")"
	cp "$scratch_steps" "$scratch/steps.json"
	show_steps "$name" "$scratch_steps.done" || status=$?
	cp "$scratch_steps.results" "$scratch/steps.json.results"
	stop_editor
	expect_equal "$name: every step was tried" 0 "$status"
}
mkdir "$project/extensions"
cp -r "$editors/support/probe" "$project/extensions/test.bermprobe-0.0.1"
printf 'look\nprobe\nextensions\nsteps.json*\np.yml\n' >"$project/.gitignore"
port=$(free_port)
round=bare
whole whole-bare env BERM_PROBE="$scratch_steps"
expect_where outside terminal process-task own-shell-terminal internal-console integrated-console child-process commit
port=$(free_port)
printf 'version: 1\nnetwork:\n  publish: [%s]\n' "$port" >"$HOME/publish.yml"
round=whole
whole whole env BERM_PROBE="$scratch_steps" "$BERM" agent --policy="$HOME/publish.yml" --allow-read="$installed" --env=BERM_PROBE --
expect_where inside terminal process-task own-shell-terminal internal-console integrated-console child-process commit
expect_equal "whole: the debugger attaches" "attached attached" "$(answer internal-console) $(answer integrated-console)"
expect "whole: nothing is left" test -z "$(with_word "127.0.0.1:$port" | head -n 1)"
finish
