#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What an editor does with the settings that `berm setup vscode` prints: a task and a language server through the automation profile, and a terminal
# through the default profile, on a pseudo terminal of node-pty as in the editor itself. Each bare first, with the system's bash, then inside.
. "$(dirname "$0")/support/lib.sh"

for tool in node npm; do
	command -v "$tool" >/dev/null || { echo "$tool is not installed; script/setup --test installs it"; exit 77; }
done
version=1.1.0
modules=${BERM_SOURCE_DIR:?the top of the source tree}/build/deps/node-pty-$version
if [ ! -d "$modules/node_modules/@lydell/node-pty" ]; then
	# Beside it and then renamed: a half of it would stay.
	mkdir -p "$modules.$$"
	if ! npm install --prefix "$modules.$$" --no-save --no-audit --no-fund --ignore-scripts --silent "@lydell/node-pty@$version" \
		>"$scratch/npm.log" 2>&1 || ! mv "$modules.$$" "$modules"; then
		rm -rf "$modules.$$"
		cat "$scratch/npm.log"
		echo "node-pty cannot be installed"
		exit 77
	fi
fi
git init -q "$project"
mkdir "$project/sub"

"$BERM" setup vscode --print >"$scratch/settings.json"
status=0
node "$support/editors.cjs" "$modules/node_modules/@lydell/node-pty" "$scratch/settings.json" || status=$?
expect_equal "editors.cjs" 0 "$status"
finish
