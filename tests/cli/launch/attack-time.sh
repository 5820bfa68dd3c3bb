#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A command that stops itself stops berm with it, but not the clock: what it left running ends at the time limit all the same.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../support/lib.sh"

printf 'version: 1\nlimits: {time: 1s}\n' >"$scratch/time.yml"

# The control: without a limit the second process goes on while the first one and berm are stopped.
go_on='(i=0; while [ $i -lt 900 ]; do echo $i >>alive; i=$((i + 1)); sleep 0.1; done) & kill -STOP $$'

# start OPTION...: berm in the background; leaves its pid in $pid.
start() {
	: >alive
	setsid "$BERM" run "$@" -- sh -c "$go_on" >"$scratch/out" 2>"$scratch/err" &
	pid=$!
}

is_stopped() {
	[ "$(cut -d ' ' -f 3 "/proc/$1/stat" 2>/dev/null)" = T ]
}

# has_beaten COUNT: so often by now.
has_beaten() {
	[ "$(wc -l <alive)" -ge "$1" ]
}

# is_still: not once in a second.
is_still() {
	local before
	before=$(wc -l <alive)
	sleep 1
	[ "$(wc -l <alive)" = "$before" ]
}

start
expect 'berm stops with the command' until_true is_stopped "$pid"
expect 'what was left running goes on' until_true has_beaten "$(($(wc -l <alive) + 20))"
expect 'berm is stopped all the while' is_stopped "$pid"
kill -KILL "$pid"
wait "$pid" 2>/dev/null

start "--policy=$scratch/time.yml"
expect 'with a time limit it begins too' until_true has_beaten 1
expect 'nothing goes on after the time limit' until_true is_still
expect 'long before it is done by itself' test "$(wc -l <alive)" -lt 600
kill -CONT "$pid"
wait "$pid"
expect_equal 'the status is that of the time limit' 124 "$?"

finish
