#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Real VS Code with berm: a breakpoint in a node program that is launched in the integrated terminal,
# with a picture of the window while it holds. Without the user's consent the program runs inside, and
# does not stop.
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/editors.sh"
need_vscode
make_home
make_settings
run "$BERM" setup vscode --file="$HOME/$user_settings" --write
expect_equal "setup" 0 "$status"
run "$BERM" setup vscode --debugger --write
expect_equal "setup of the debugger" 0 "$status"
user_policy "files: {read: [$installed]}"
round=held
held='{"steps": [{"name": "integrated-console", "kind": "debug", "program": "look.js", "line": 6, "hold": true,
	"config": {"console": "integratedTerminal", "args": ["integrated-console"]}}]}'
play_steps held "$held"
expect_equal "held: the debugger holds the program" "attached at look.js:6" "$(answer integrated-console)"
expect_where inside integrated-console
run "$BERM" setup vscode --debugger --undo
expect_equal "the debugger is no longer allowed" 0 "$status"
round='not allowed'
play_steps not-allowed '{"steps": [
	{"name": "internal-console", "kind": "debug", "program": "look.js", "line": 6, "config": {"args": ["internal-console"]}},
	{"name": "integrated-console", "kind": "debug", "program": "look.js", "line": 6, "config": {"console": "integratedTerminal", "args": ["integrated-console"]}}
]}'
expect_where inside internal-console integrated-console
expect_equal "not allowed: the debugger does not attach" "not attached not attached" "$(answer internal-console) $(answer integrated-console)"
finish
