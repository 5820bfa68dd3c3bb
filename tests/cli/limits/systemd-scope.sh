#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Memory (and root's processes) without a delegated control group: systemd is asked for a scope, and only
# the kernel is trusted. A private bus has a stand-in for systemd's manager that moves no process: whatever
# it replies, no run may claim a limit that the kernel does not hold. That a correct group is adopted is
# tested in tests/unit/linux/limits/test_cgroup.c; a real systemd does not run here.

# root's bus has a fixed path: a private /run has another socket there.
if [ "$(id -u)" = 0 ] && [ -z "${BERM_SCOPE_RUN:-}" ]; then
	export BERM_SCOPE_RUN=private
	exec unshare --mount -- bash -c 'mount -t tmpfs -o mode=755 none /run && exec bash "$0"' "$0"
fi
. "$(dirname "$0")/../support/lib.sh"

command -v dbus-daemon >/dev/null || { echo "dbus-daemon is needed"; exit 77; }
/usr/bin/python3 -c 'import dbus, gi.repository.GLib' 2>/dev/null || { echo "python3-dbus and python3-gi are needed"; exit 77; }

runtime=$scratch/runtime
record=$scratch/record
mkdir -m 700 "$runtime"
socket=$runtime/bus
if [ "$(id -u)" = 0 ]; then
	mkdir /run/dbus
	socket=/run/dbus/system_bus_socket
fi
memory=$scratch/memory.yml
required=$scratch/required.yml
printf 'version: 1\nlimits: {memory: 64M, processes: 40}\n' >"$memory"
printf 'version: 1\nlimits: {memory: 64M, processes: 40}\nrequire: {limits: enforced}\n' >"$required"

# The states of the memory limit and of the guarantee in the output of `plan`.
planned() {
	XDG_RUNTIME_DIR=$runtime "$BERM" plan --policy="$1" --json | python3 -c 'import json, sys
plan = json.load(sys.stdin)
memory = plan["limits"]["memory"]
print("scope" if "systemd scope" in memory["mechanism"] else memory["mechanism"], memory["hard"],
      [g["level"] for g in plan["guarantees"] if g["name"] == "limits"][0])'
}

# inside POLICY: a run with the bus in its environment.
inside() {
	local policy=$1
	shift
	: >"$record"
	run env XDG_RUNTIME_DIR="$runtime" "$BERM" run --policy="$policy" -- "$@"
}

# Without a bus nothing is requested.
before=$(planned "$memory")
case $before in
*"control group"*) echo "a control group is delegated here: systemd is not asked"; exit 77 ;;
esac
expect_equal "without a bus: polled" "polled every 10 to 100 ms False partial" "$before"
inside "$memory" echo fine
expect_equal "and runs" "0 fine " "$status $out $err"
expect_status "without a bus: not enough where it is required" 125 \
	env XDG_RUNTIME_DIR="$runtime" "$BERM" run --policy="$required" -- touch ran

cat >"$scratch/bus.conf" <<-END
	<busconfig><type>session</type><listen>unix:path=$socket</listen><auth>EXTERNAL</auth>
	<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
END
dbus-daemon --config-file="$scratch/bus.conf" --nofork --nopidfile >"$scratch/bus.log" 2>&1 &
daemon=$!
expect "the bus is there" until_true test -S "$socket"
echo "done" >"$scratch/mode"
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$support/manager.py" "$socket" "$scratch/mode" "$record" >"$scratch/ready" 2>"$scratch/manager.log" &
manager=$!
expect "the manager is there" until_true grep -q ready "$scratch/ready"

: >"$record"
expect_equal "plan: asked for, not promised" "scope False partial" "$(planned "$memory")"
expect_equal "plan: promised where the run is refused without" "scope True enforced" "$(planned "$required")"
expect_equal "plan asks nobody" "" "$(cat "$record")"

# The contents of the request.
inside "$memory" echo fine
expect_equal "the run goes on" "0 fine" "$status $out"
said=$(/usr/bin/python3 - "$record" "$(id -u)" <<-'END'
	import json, re, sys
	asked = [json.loads(line) for line in open(sys.argv[1])]
	unit = asked[0]
	properties = unit["properties"]
	pids = properties.pop("PIDs")
	properties.pop("Description")
	wanted = {"Delegate": ["Boolean", 1], "CollectMode": ["String", "inactive-or-failed"], "MemoryMax": ["UInt64", (64 + 16) << 20],
	          "MemorySwapMax": ["UInt64", 0]}
	if sys.argv[2] == "0":
	    wanted["TasksMax"] = ["UInt64", 42]
	print(len(asked), unit["mode"], unit["others"], bool(re.fullmatch(r"berm-\d+-\d+\.scope", unit["name"])),
	      pids[0] == "u" and len(set(pids[1])) == 2 and min(pids[1]) > 1, properties == wanted or properties)
END
)
expect_equal "the right unit, once" "1 fail 0 True True True" "$said"

# A reply without effect is not trusted.
expect_contains "a claim alone is not believed" "systemd did not put the sandbox into the scope" "$err"
expect_contains "and what holds is told" "limits are best effort in this run" "$err"
inside "$memory" python3 -c 'import time
held = [bytearray(b"x" * (1 << 20)) for i in range(100)]
time.sleep(40)'
expect_equal "the limit is looked at then" 123 "$status"
expect_contains "in words" "memory limit of 64M reached" "$err"

# refused MODE WORDS: with `require` nothing runs, otherwise it runs with a note.
refused() {
	echo "$1" >"$scratch/mode"
	rm -f ran
	inside "$required" touch ran
	expect_equal "$1: refused where it is required" 125 "$status"
	expect_contains "$1: in words" "$2" "$err"
	expect "$1: nothing ran" test ! -e ran
	expect_equal "$1: systemd was asked" 1 "$(wc -l <"$record")"
	inside "$memory" echo fine
	expect_equal "$1: else it runs" "0 fine" "$status $out"
	expect_contains "$1: and says so" "$2" "$err"
}
refused "done" "systemd did not put the sandbox into the scope"
refused failed "could not start the scope"
refused refuse "not today"

# The timeout applies however it hangs.
for mode in hang silent; do
	echo $mode >"$scratch/mode"
	begin=$(date +%s%N)
	inside "$memory" echo fine
	took=$((($(date +%s%N) - begin) / 1000000))
	expect_equal "$mode: goes on" "0 fine" "$status $out"
	expect_contains "$mode: in words" "within 2 seconds" "$err"
	expect "$mode: after two seconds" test "$took" -ge 1900 -a "$took" -lt 30000
done

# --accept-weaker allows the run.
echo refuse >"$scratch/mode"
run env XDG_RUNTIME_DIR="$runtime" "$BERM" run --policy="$required" --accept-weaker=limits -- echo fine
expect_equal "accepted weaker" "0 fine" "$status $out"

# A plan that needs no scope does not ask for one.
if strace -f -o "$scratch/trace" env XDG_RUNTIME_DIR="$runtime" "$BERM" run -- true 2>/dev/null; then
	# The kernel's list of bound sockets, which every launch reads, has the bus in it.
	expect_equal "no limit of memory: no look at the bus" "" "$(grep -F "$socket" "$scratch/trace" | grep -v UNIX_DIAG_NAME)"
	strace -f -o "$scratch/trace" env XDG_RUNTIME_DIR="$runtime" "$BERM" run --policy="$memory" -- true 2>/dev/null
	expect "the control: with one there is" grep -q "connect.*$socket" "$scratch/trace"
fi

# A bus without a server.
kill "$manager" "$daemon"
wait "$manager" "$daemon" 2>/dev/null
[ -S "$socket" ] || python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$socket"
inside "$memory" echo fine
expect_equal "a dead bus: goes on" "0 fine" "$status $out"
expect_contains "a dead bus: in words" "Connection refused" "$err"
rm -f "$socket"

# talks WORDS MODE: a bus that stays silent, does not speak D-Bus, or closes; nothing runs if a scope is
# required.
talks() {
	rm -f ran "$scratch/listening"
	python3 "$support/not_a_bus.py" "$socket" "$2" "$scratch/listening" &
	local talker=$!
	expect "$2: it is there" until_true test -e "$scratch/listening"
	inside "$required" touch ran
	expect_equal "$2: refused where it is required" 125 "$status"
	# On a busy machine it may be slower than berm's timeout.
	case $err in
	*"within 2 seconds"*) pass ;;
	*) expect_contains "$2: in words" "$1" "$err" ;;
	esac
	expect "$2: nothing ran" test ! -e ran
	kill "$talker" 2>/dev/null
	wait "$talker" 2>/dev/null
	rm -f "$socket"
}
talks "within 2 seconds" mute
talks "does not speak D-Bus" prattle
talks "does not let this user" reject
talks "lost the connection to systemd" leave
talks "does not speak D-Bus" garbage
talks "does not speak D-Bus" huge
talks "does not speak D-Bus" spoilt

# A path that is no socket is no bus.
touch "$socket"
expect_equal "a file is no bus" "polled every 10 to 100 ms False partial" "$(planned "$memory")"
rm -f "$socket"
finish
