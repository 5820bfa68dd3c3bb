#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Signals sent to berm and to its process group, and dispositions that the command inherits. Each case is run bare as well, and the two
# have to agree in output and status.
. "$(dirname "$0")/../support/lib.sh"

# start_job COMMAND...: in the background, in a new process group and with signals at their default, as an interactive shell
# does it; $pid is the command itself.
start_job() {
	: >"$scratch/out"
	set -m
	env --default-signal "$@" >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	set +m
}

ready() {
	until_true grep -q ready "$scratch/out" || fail "never became ready"
}

is_dead() {
	! is_alive "$1"
}

# await: $status and $out of what was started; what never ends is killed.
await() {
	until_true is_dead "$pid" || kill -KILL "$pid"
	status=0
	wait "$pid" 2>/dev/null || status=$?
	out=$(cat "$scratch/out")
}

# Without external programs: a signal to the group would reach those as well, and what they do is not the question.
loop='echo ready; i=0; while [ $i -lt 2000 ]; do read -t 0.05 x <>fifo; i=$((i + 1)); done; echo over'
mkfifo fifo

# agree NAME SENDER SCRIPT: SENDER gets the pid.
agree() {
	local name=$1 sender=$2 script=$3 bare
	start_job bash -c "$script"
	ready
	$sender "$pid"
	await
	bare="$status: $out"
	start_job "$BERM" run -- bash -c "$script"
	ready
	$sender "$pid"
	await
	expect_equal "$name" "$bare" "$status: $out"
}

to_berm() {
	kill -s "$signal" "$1"
}

to_group() {
	kill -s "$signal" -- "-$1"
}

for signal in TERM INT HUP USR1 USR2 ALRM QUIT WINCH PWR RTMIN; do
	agree "$signal to berm, caught" to_berm "trap 'echo got; exit 7' $signal; $loop"
done
for signal in TERM HUP USR1 ALRM RTMAX; do
	agree "$signal to berm, not caught" to_berm "$loop"
done
for signal in TERM INT HUP USR1; do
	# Counted: each has to arrive exactly once. Waits for the first, and then whether there is a second.
	agree "$signal to the group, counted" to_group "trap 'echo got; n=1' $signal; n=0; i=0; echo ready
		while [ \$n = 0 ] && [ \$i -lt 2000 ]; do read -t 0.05 x <>fifo; i=\$((i + 1)); done; read -t 0.3 x <>fifo; echo over"
	agree "$signal to the group, not caught" to_group "$loop"
done

# The numbers by themselves, in case the control is wrong too.
start_job "$BERM" run -- sleep 20
sleep 0.3
kill "$pid"
await
expect_equal "SIGTERM to berm is 143" 143 "$status"
start_job "$BERM" run -- sh -c 'trap "" TERM; echo ready; sleep 0.5; exit 9'
ready
kill "$pid"
await
expect_equal "ignored by the command, it changes nothing" 9 "$status"

# An alarm that was set before berm was executed is the command's.
if command -v perl >/dev/null; then
	expect_status "an inherited alarm: the control" 142 sh -c "perl -e 'alarm 1; exec @ARGV' sleep 5; exit \$?"
	expect_status "an inherited alarm" 142 perl -e 'alarm 1; exec @ARGV' "$BERM" run -- sleep 5
fi

# Stopping and continuing. berm shows the command's state to the shell that started it.
is_stopped() {
	[ "$(cut -d' ' -f3 "/proc/$1/stat")" = T ]
}

is_not_stopped() {
	! is_stopped "$1"
}

start_job "$BERM" run -- sh -c 'echo ready; kill -STOP $$; echo continued'
expect "a command that stops itself stops berm" until_true is_stopped "$pid"
kill -CONT "$pid"
await
expect_equal "and goes on with it" "0: ready
continued" "$status: $out"

start_job "$BERM" run -- bash -c "trap 'echo on' CONT; $loop"
ready
kill -TSTP "$pid"
expect "SIGTSTP stops the command and berm" until_true is_stopped "$pid"
kill -CONT "$pid"
expect "SIGCONT continues berm" until_true is_not_stopped "$pid"
expect "and the command" until_true grep -q on "$scratch/out"
kill -KILL "$pid"
await

start_job "$BERM" run -- sh -c 'trap "" TSTP; echo ready; sleep 0.5; echo over'
ready
kill -TSTP "$pid"
await
expect_equal "a command that ignores SIGTSTP is not stopped" "0: ready
over" "$status: $out"

start_job "$BERM" run -- bash -c "$loop"
ready
kill -STOP "$pid"
expect "SIGSTOP stops berm" until_true is_stopped "$pid"
kill -CONT "$pid"
kill -TERM "$pid"
await
expect_equal "and it still forwards afterwards" 143 "$status"

start_job "$BERM" run -- bash -c "$loop"
ready
kill -STOP -- "-$pid"
expect "SIGSTOP to the group" until_true is_stopped "$pid"
kill -CONT -- "-$pid"
kill -TERM -- "-$pid"
await
expect_equal "and SIGTERM to the group afterwards" 143 "$status"

# Dispositions and the mask, as the command finds them.
# inherited NAME ENV-OPTION...
inherited() {
	local name=$1 bare
	shift
	bare=$(env "$@" grep '^Sig[BI]' /proc/self/status)
	expect_output "$name arrives" "$bare" env "$@" "$BERM" run -- grep '^Sig[BI]' /proc/self/status
}
inherited "everything at its default" --default-signal
inherited "SIGPIPE ignored" --ignore-signal=PIPE
inherited "SIGCHLD ignored" --ignore-signal=CHLD
inherited "SIGHUP, SIGINT and SIGQUIT ignored" --ignore-signal=HUP --ignore-signal=INT --ignore-signal=QUIT
inherited "a mask" --block-signal=USR1 --block-signal=TERM --block-signal=CHLD
inherited "everything blocked" --block-signal
expect "the control: a mask can be seen" test \
	"$(env --block-signal=USR1 grep ^SigBlk /proc/self/status)" != "$(env grep ^SigBlk /proc/self/status)"
expect_status "SIGCHLD ignored in the caller: the status is right" 3 env --ignore-signal=CHLD "$BERM" run -- sh -c 'exit 3'
expect_status "SIGCHLD ignored in the caller: a signal too" 139 env --ignore-signal=CHLD "$BERM" run -- sh -c 'kill -SEGV $$'

# Where files move while the sandbox is set up, berm tries again: the command must not notice. Some of these runs are refused.
mkdir moving
echo secret >moving/.env
(while [ -d "$scratch" ]; do mv moving moved && : >moving && rm moving && mv moved moving; done) 2>/dev/null &
mover=$!
bare=$(grep '^Sig[BI]' /proc/self/status)
seen=$(for ((i = 0, ran = 0; i < 300 && (i < 30 || ran < 3); i++)); do
	"$BERM" run -- grep '^Sig[BI]' /proc/self/status 2>/dev/null && ran=$((ran + 1))
done | sort -u)
kill $mover
wait $mover 2>/dev/null
expect_equal "after a second attempt" "$(sort -u <<<"$bare")" "$seen"

timeout "$patience" "$BERM" run -- yes | head -n 1 >/dev/null
expect_equal "a closed pipe ends the command" 141 "${PIPESTATUS[0]}"
timeout "$patience" env --ignore-signal=PIPE "$BERM" run -- sh -c 'yes 2>/dev/null; exit 5' | head -n 1 >/dev/null
expect_equal "or is an error where SIGPIPE is ignored" 5 "${PIPESTATUS[0]}"

# From inside, nothing outside can be signalled: not even berm, which shares the process group at first.
(
	exec env --default-signal setsid sh -c "\"$BERM\" run -- sh -c 'kill -KILL 0'; echo survived"
) >"$scratch/out" 2>&1
expect_equal "kill 0 ends the sandbox only" survived "$(cat "$scratch/out")"
expect_status "kill -1 too" 0 sh -c "\"$BERM\" run -- sh -c 'kill -KILL -1' || true"

finish
