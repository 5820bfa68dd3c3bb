#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The settings that `berm setup vscode` prints, used as the editor does: a task and a language
# server through the automation profile, and a terminal through the default profile, on a pseudo
# terminal of node-pty. Each runs bare first, with the system's bash.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/npm-packages.sh"
npm_packages node-pty-1.1.0 @lydell/node-pty@1.1.0
move_home # shims ignore XDG_STATE_HOME
git init -q "$project"
mkdir "$project/sub"

"$BERM" setup vscode --print >"$scratch/settings.json"
status=0
node "$support/editors.cjs" "$modules/node_modules/@lydell/node-pty" "$scratch/settings.json" || status=$?
expect_equal "editors.cjs" 0 "$status"
finish
