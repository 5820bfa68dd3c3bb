#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# berm killed with SIGKILL while it sweeps: at every moment each plant is in its place or in quarantine, and the next launch moves what was
# left. On one file system and, where /dev/shm is another, on two: there the content is copied.
. "$(dirname "$0")/../support/lib.sh"
# The guard would refuse the names; the subject is what happens without it.
mkdir -p "$XDG_CONFIG_HOME/berm"
printf 'version: 1\nfiles: {guard: repair}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"

rounds=${BERM_LONG:+150}
rounds=${rounds:-25}
# Plants that the watcher of repair answers at once are moved into place whole: a file that is written
# into a directory that it took, or after it has ended the run, was never there.
plant='mkdir -p v/deep i; for i in 1 2 3 4 5 6 7 8; do head -c 20000 /dev/zero | tr "\0" $i >v/deep/$i; done; echo three >i/x; echo four >.git/c
	mv v .vscode; mv i .idea; echo one >.mcp.json; echo two >.envrc; mv .git/c .git/commondir; : >.done'

# content FILE: its text, from its place or from quarantine.
content() {
	if [ -e "$1" ]; then
		cat "$1"
		return
	fi
	for entry in "$state"/berm/quarantine/*/; do
		[ -e "$entry/path" ] || continue
		case $(cat "$entry/path") in
		"$project/$1") [ ! -f "$entry/content" ] || cat "$entry/content" ;;
		"$project/${1%%/*}") [ ! -f "$entry/content/${1#*/}" ] || cat "$entry/content/${1#*/}" ;;
		esac
	done | head -1
}

# whole NAME: nothing is lost.
whole() {
	for pair in .mcp.json=one .envrc=two .idea/x=three .git/commondir=four; do
		[ "$(content "${pair%%=*}")" = "${pair#*=}" ] || fail "$1: ${pair%%=*} is lost" "$(find . "$state/berm/quarantine" 2>&1)"
	done
	pass
}

try() {
	local name=$1
	for ((i = 0; i < rounds; i++)); do
		cd "$scratch" && rm -rf "$project" "$state/berm/quarantine" && mkdir "$project" && cd "$project" || exit 1
		mkdir -p .git/objects .git/refs && echo "ref: refs/heads/main" >.git/HEAD
		"$BERM" run -- sh -c "$plant" 2>/dev/null &
		pid=$!
		until [ -e .done ] || ! kill -0 "$pid" 2>/dev/null; do :; done
		sleep "0.0$((RANDOM % 6))$((RANDOM % 10))"
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		whole "$name, killed"
		"$BERM" run -- true 2>/dev/null
		[ -z "$(ls -d .vscode .idea .mcp.json .envrc .git/commondir 2>/dev/null)" ] || fail "$name: a plant is left" "$(ls -Al . .git)"
		whole "$name, swept"
		[ -z "$(ls -d berm-quarantine-* 2>/dev/null)" ] || fail "$name: a file is left beside" "$(ls -A)"
	done
}

state=$XDG_STATE_HOME
try "one file system"
if [ "$(stat -c %d /dev/shm)" != "$(stat -c %d "$scratch")" ] && state=$(mktemp -d /dev/shm/berm-sweep.XXXXXX); then
	export XDG_STATE_HOME=$state
	try "two file systems"
	rm -rf "$state"
fi
finish
