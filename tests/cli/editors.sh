#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What an editor does with the settings that `berm setup vscode` prints: a task and a language server through the automation profile, and a terminal
# through the default profile, on a pseudo terminal of node-pty as in the editor itself. Each bare first, with the system's bash, then inside.
. "$(dirname "$0")/support/lib.sh"
. "$(dirname "$0")/support/node-pty-module.sh"
git init -q "$project"
mkdir "$project/sub"

"$BERM" setup vscode --print >"$scratch/settings.json"
status=0
node "$support/editors.cjs" "$modules/node_modules/@lydell/node-pty" "$scratch/settings.json" || status=$?
expect_equal "editors.cjs" 0 "$status"
finish
