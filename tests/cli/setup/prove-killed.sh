#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm setup HOST --check --prove` that is killed leaves no directory and no process. The host is a
# program that reports its directory and waits.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home
git init -q "$project"
mkdir "$scratch/bin"
cat >"$scratch/bin/claude" <<END
#!/bin/sh
printf '%s %s\n' "\$\$" "\${CLAUDE_CONFIG_DIR%/config}" >"$scratch/started.new"
mv "$scratch/started.new" "$scratch/started"
while :; do sleep 1; done
END
chmod +x "$scratch/bin/claude"
PATH=$scratch/bin:$PATH
expect_status "set up" 0 "$BERM" setup claude-code --write
gone() {
	! kill -0 "$host" 2>/dev/null && [ ! -e "$directory" ]
}
for signal in KILL TERM HUP; do
	rm -f "$scratch/started"
	"$BERM" setup claude-code --check --prove >/dev/null 2>&1 &
	proof=$!
	expect "$signal: the host starts" until_true test -e "$scratch/started"
	read -r host directory <"$scratch/started"
	expect "$signal: control: the directory is there" test -e "$directory/witness"
	expect "$signal: control: the host runs" kill -0 "$host"
	kill -s "$signal" "$proof"
	wait "$proof" 2>/dev/null
	expect "$signal: nothing is left" until_true gone
done
finish
