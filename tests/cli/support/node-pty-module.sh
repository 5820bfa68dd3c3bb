# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced after lib.sh: node-pty from npm's registry, of a fixed version and with no script of its own run, in $modules.

for tool in node npm; do
	command -v "$tool" >/dev/null || { echo "$tool is not installed; script/setup --test installs it"; exit 77; }
done
version=1.1.0
modules=${BERM_SOURCE_DIR:?the top of the source tree}/build/deps/node-pty-$version
# One at a time: the second of two tests that need it waits, and then it is there.
mkdir -p "${modules%/*}" && exec 8>"$modules.lock" && flock 8
if [ ! -d "$modules/node_modules/@lydell/node-pty" ]; then
	# Beside it and then renamed: a half of it would stay.
	mkdir -p "$modules.$$"
	if ! npm install --prefix "$modules.$$" --no-save --no-audit --no-fund --ignore-scripts --silent "@lydell/node-pty@$version" \
		>"${scratch:?of lib.sh}/npm.log" 2>&1 || ! mv "$modules.$$" "$modules"; then
		rm -rf "$modules.$$"
		cat "$scratch/npm.log"
		echo "node-pty cannot be installed"
		exit 77
	fi
fi
exec 8>&-
