#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The record under load: eight berms at once, SIGKILL at any moment, a full disk. Every line parses and the chain is valid.
. "$(dirname "$0")/../support/lib.sh"
log=$XDG_STATE_HOME/berm/log
many=${BERM_LONG:+125}
many=${many:-6}
kills=${BERM_LONG:+200}
kills=${kills:-20}
"$BERM" policies --schema=log >"$scratch/schema.json"

# Eight at once, in projects of their own.
for n in 1 2 3 4 5 6 7 8; do
	mkdir "$scratch/p$n"
	(
		cd "$scratch/p$n" || exit 1
		for ((i = 0; i < many; i++)); do
			"$BERM" run -- sh -c 'mkdir .vscode' 2>/dev/null
		done
	) &
done
wait
expect_equal "every run has a file" $((8 * many + 1)) "$(find "$log" -name '*.ndjson' | wc -l)"
expect_equal "and a line in the ledger" $((8 * many + 1)) "$(wc -l <"$log/HEAD")"
python record.py lines "$scratch/schema.json" "$log"
python record.py chain "$log"
expect_status "the chain is valid" 0 "$BERM" log verify

# Killed at any moment: the lines that exist are valid. The next runs go on.
unfinished=0
for ((i = 0; i < kills; i++)); do
	files=$(find "$log" -name '*.ndjson' | wc -l)
	"$BERM" run -- sh -c 'sleep 0.01; mkdir .vscode' 2>/dev/null &
	pid=$!
	# Half of them after the first line, where the moments are that matter most.
	if ((i % 2)); then
		until [ "$(find "$log" -name '*.ndjson' | wc -l)" -gt "$files" ] || ! kill -0 "$pid" 2>/dev/null; do :; done
	fi
	sleep "0.0$((RANDOM % 2))$((RANDOM % 10))$((RANDOM % 10))"
	kill -KILL "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
done
"$BERM" run -- true
python record.py chain "$log"
expect_status "valid after SIGKILL" 0 "$BERM" log verify --json
unfinished=$(echo "$out" | python3 -c 'import json, sys; print(json.load(sys.stdin)["unfinished"])')
echo "$unfinished of $kills were killed before their end was written"

# A full disk. Small enough that one record does not fit, then none.
if ! unshare -rm true 2>/dev/null; then
	echo "the full disk is not tried: no mount namespace"
	finish
fi
cat >"$scratch/full.sh" <<'END'
set -u
berm=$1 scratch=$2
mkdir -p "$scratch/small" && mount -t tmpfs -o size=1m,mode=700 none "$scratch/small" || exit 77
export XDG_STATE_HOME=$scratch/small
cd "$scratch/project" || exit 1
"$berm" run -- true || exit 2
"$berm" log verify >/dev/null || exit 3
mkdir -p "$XDG_CONFIG_HOME/berm"
head -c 2000000 /dev/zero >"$scratch/small/fill" 2>/dev/null
"$berm" run -- sh -c 'echo ran' >"$scratch/full.out" 2>"$scratch/full.err"
echo "status $?"
printf 'version: 1\nrequire: {audit: enforced}\nhome: empty\ntmp: empty\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
"$berm" run -- sh -c 'echo ran' >"$scratch/required.out" 2>"$scratch/required.err"
echo "required $?"
rm "$scratch/small/fill"
# It fills up while the command runs. Eight events do not fit into the page that the first line has.
"$berm" run -- sh -c 'echo started >started; until [ -e full ]; do sleep 0.02; done
	mkdir .vscode .idea .cursor .claude .gemini .husky .devcontainer .zed' >/dev/null 2>"$scratch/late.err" &
pid=$!
until [ -e started ]; do sleep 0.02; done
head -c 2000000 /dev/zero >"$scratch/small/fill" 2>/dev/null
touch full
wait "$pid"
echo "late $?"
rm "$scratch/small/fill" "$XDG_CONFIG_HOME/berm/berm.yml" started full
"$berm" run -- true || exit 4
"$berm" log verify >/dev/null
echo "verify $?"
END
run unshare -rm bash "$scratch/full.sh" "$BERM" "$scratch"
if [ "$status" = 77 ]; then
	echo "the full disk is not tried: no tmpfs"
	finish
fi
expect_contains "a full disk does not stop a run" "status 0" "$out"
expect_equal "the command ran" ran "$(cat "$scratch/full.out")"
expect_contains "and berm says so" "record" "$(cat "$scratch/full.err")"
expect_contains "required: nothing runs" "required 125" "$out"
expect_equal "it did not" "" "$(cat "$scratch/required.out")"
expect_contains "required: full in the end" "late 123" "$out"
expect_contains "what is there is valid" "verify 0" "$out"
finish
