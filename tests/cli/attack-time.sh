#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A command that stops itself stops berm with it, but not the clock: what it left running ends at the time limit all the same.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/support/lib.sh"

printf 'version: 1\nlimits: {time: 1s}\n' >"$scratch/time.yml"

# The control: without a limit the second process goes on while the first one and berm are stopped.
go_on='(i=0; while [ $i -lt 90 ]; do echo $i >alive; i=$((i + 1)); sleep 0.1; done) & kill -STOP $$'

# start OPTION...: berm in the background; leaves its pid in $pid.
start() {
	rm -f alive
	setsid "$BERM" run "$@" -- sh -c "$go_on" >"$scratch/out" 2>"$scratch/err" &
	pid=$!
}

is_stopped() {
	[ "$(cut -d ' ' -f 3 "/proc/$1/stat" 2>/dev/null)" = T ]
}

start
for _ in $(seq 50); do
	is_stopped "$pid" && break
	sleep 0.1
done
expect 'berm stops with the command' is_stopped "$pid"
before=$(cat alive)
sleep 5
expect 'what was left running goes on' [ "$(cat alive)" -gt "$((before + 20))" ]
kill -KILL "$pid"
wait "$pid" 2>/dev/null

start "--policy=$scratch/time.yml"
sleep 5.5
before=$(cat alive)
sleep 1
expect_equal 'nothing goes on after the time limit' "$before" "$(cat alive)"
kill -CONT "$pid"
wait "$pid"
expect_equal 'the status is that of the time limit' 124 "$?"

finish
