#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Nothing outlives the command: not at its end, not at its time limit, not when berm is killed.
. "$(dirname "$0")/../support/lib.sh"

# The time limit.
limit() {
	printf 'version: 1\nlimits: {time: %s}\n' "$1" >"$scratch/limit.yml"
}
limit 300ms
expect_status "the time limit" 124 "$BERM" run --policy="$scratch/limit.yml" -- sleep 20
expect_contains "in words" "time limit of 300ms" "$err"
expect_contains "with its rule" "limit.yml:2:16" "$err"
limit 50s
expect_status "a command that is quicker" 7 "$BERM" run --policy="$scratch/limit.yml" -- sh -c 'exit 7'
expect_equal "is not told about it" "" "$err"
limit 2s # long enough for any machine to get to its trap
expect_status "a command that cleans up" 124 "$BERM" run --policy="$scratch/limit.yml" -- sh -c 'trap "echo cleaned; exit 0" TERM; sleep 20 & wait'
expect_equal "may do so" cleaned "$out"
limit 300ms
expect_status "a command that is stopped" 124 "$BERM" run --policy="$scratch/limit.yml" -- sh -c 'trap "" TSTP; (sleep 0.1; kill -CONT $$) & sleep 20'
before=$SECONDS
expect_status "a command that ignores SIGTERM" 124 "$BERM" run --policy="$scratch/limit.yml" -- sh -c 'trap "" TERM; sleep 20; sleep 20'
expect "is killed soon after" test $((SECONDS - before)) -lt 20

# Daemons. The word is in their command lines.
word=$(printf "297.%07d" $$)
daemon="rm -f up; setsid sh -c 'sleep $word & (trap \"\" HUP TERM INT; sleep $word) & sleep $word & >up; exit' </dev/null >/dev/null 2>&1 &
	until [ -e up ]; do sleep 0.02; done; echo started"
none_left() {
	[ -z "$(with_word "$word")" ]
}
run sh -c "$daemon"
survivors=$(with_word "$word")
expect "the control: a daemon survives" test -n "$survivors"
# shellcheck disable=SC2086
kill -KILL $survivors
until_true none_left
expect_output "a daemon starts inside" started "$BERM" run -- sh -c "$daemon"
expect_equal "and is dead when berm returns" "" "$(with_word "$word")"
expect_output "with orphans" "done" "$BERM" run -- sh -c "for i in 1 2 3 4 5; do (sleep $word &) ; done; echo done"
expect_equal "all of them" "" "$(with_word "$word")"

# kill -9 of berm, at moments from "not yet started" to "long running".
for delay in 0 0.001 0.002 0.003 0.004 0.005 0.006 0.008 0.01 0.015 0.02 0.03 0.05 0.1 0.3; do
	"$BERM" run -- sh -c "sleep $word & setsid sleep $word & sleep $word" &
	pid=$!
	sleep $delay
	kill -KILL $pid
	wait $pid 2>/dev/null
done 2>/dev/null
expect "nothing survives kill -9 of berm" until_true none_left

# The caller's end does not matter: the same as without berm.
sh -c "\"$BERM\" run -- sh -c 'sleep 0.3; echo finished >finished' & exit" >/dev/null 2>&1
expect "a run outlives the shell that started it" until_true test -s finished
rm -f finished

# Two at once, in one project: each has its own processes, and the end of one is nothing to the other.
together() {
	"$BERM" run -- sh -c 'echo "$1" >"out$1"; sleep 0.1; [ "$(cat "out$1")" = "$1" ] && [ "$(ls -d /proc/[0-9]* | wc -l)" -le 5 ] && exit "$1"' sh "$1"
}
wrong=
for ((i = 0; i < 10; i++)); do
	together 11 &
	first=$!
	together 12 &
	second=$!
	wait $first
	a=$?
	wait $second
	[ "$a $?" = "11 12" ] || wrong="$wrong $a/$?"
done
expect_equal "two berms at once" "" "$wrong"
"$BERM" run -- sh -c 'sleep 0.4; echo on' >"$scratch/long" &
first=$!
"$BERM" run -- true
"$BERM" run -- sh -c 'kill -KILL -1' 2>/dev/null
wait $first
expect_equal "a short one ends, the long one goes on" on "$(cat "$scratch/long")"

finish
