# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Holds a process of berm at a system call until the script lets it go on: no clock decides what comes first. Sourced after lib.sh.
if ! command -v strace >/dev/null || ! strace -qq -o "$scratch/trace" true; then
	echo "strace is needed"
	exit 77
fi

# The command that hold puts before strace, for example nohup.
starter=(env)

# children PID: their pids, one a line.
children() {
	tr ' ' '\n' <"/proc/$1/task/$1/children" | grep .
}

# hold CALL[:NTH] COMMAND...: starts the command in the background, its output in $scratch/out. $launcher is its pid. The process that
# makes CALL, for the NTH time if that is given, does not get beyond it before `release`.
hold() {
	local call=${1%:*} nth=${1#*:}
	[ "$nth" != "$call" ] || nth=1
	shift
	rm -f "$scratch/trace"
	"${starter[@]}" strace -DD -qq -f -o "$scratch/trace" -e "trace=$call,kill" -e "inject=$call:delay_enter=600000000:when=$nth" "$@" \
		>"$scratch/out" 2>&1 &
	launcher=$!
	until_true grep -qs "$call(" "$scratch/trace" || fail "nothing makes the call $call" "$(cat "$scratch/out")"
	tracer=$(awk '$1 == "TracerPid:" { print $2 }' "/proc/$launcher/status")
}

# was_killed: the launcher has sent SIGKILL. strace keeps hold of a process that is killed while it is held.
was_killed() {
	grep -q 'kill(.*SIGKILL' "$scratch/trace"
}

# Without a tracer whatever it held goes on.
release() {
	kill -s KILL "$tracer"
}

# The launcher sleeps, and no signal is pending for it.
is_idle() {
	[ "$(awk '$1 == "State:" { print $2 } $1 ~ /Pnd:$/ && $2 !~ /^0*$/ { print $1 }' "/proc/$launcher/status")" = S ]
}

# settle: waits until the launcher has taken what was sent to it and has nothing else to do.
settle() {
	local looks=0 end=$((SECONDS + patience))
	while [ "$looks" -lt 5 ] && [ "$SECONDS" -lt "$end" ]; do
		if is_idle; then
			looks=$((looks + 1))
		else
			looks=0
		fi
		sleep 0.01
	done
}

is_over() {
	! is_alive "$launcher"
}

# reap: returns the status of what hold has started. A launcher that does not end is ended.
reap() {
	until_true is_over || kill -s KILL "$launcher"
	wait "$launcher"
}
