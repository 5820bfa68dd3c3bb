#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Limits: a command that uses up memory, processes, CPUs, time, disk or files ends as documented, and the
# host stays responsive. Each bomb stops by itself at a harmless amount, so that the control can run it
# without berm first: there it gets all of it.
. "$(dirname "$0")/../support/lib.sh"

command -v python3 >/dev/null || { echo "python3 is needed"; exit 77; }
cp "$support/bombs.py" "$project/"

# with LIMITS BOMB AMOUNT [SECONDS]: inside. A bomb that got everything holds it for these seconds, because
# polling may be late on a busy machine, but not that late.
with() {
	printf 'version: 1\nlimits: {%s}\n' "$1" >"$scratch/limits.yml"
	shift
	run "$BERM" run --policy="$scratch/limits.yml" -- python3 bombs.py "$@"
}

# bare BOMB AMOUNT: the control.
bare() {
	run python3 bombs.py "$@"
	expect_equal "the control: $1 gets all of it" all "$out"
	rm -f bomb.*
}

# The host while a bomb runs: the latest wake-up of a process outside, in milliseconds.
latency() {
	python3 - "$scratch/stop" <<-'END'
	import os, sys, time
	worst = 0
	while not os.path.exists(sys.argv[1]):
	    before = time.monotonic()
	    time.sleep(0.01)
	    worst = max(worst, time.monotonic() - before - 0.01)
	print(int(worst * 1000))
	END
}
latency >"$scratch/latency" &
observer=$!

# Memory in total, of every kind. A hard limit and a polled one end alike.
memory="memory: 64M, time: 50s"
for bomb in private children shared memfd tmpfs; do
	bare "$bomb" 80
	with "$memory" "$bomb" 160 40
	case $bomb:$status in
	tmpfs:1) expect_contains "tmpfs: no space" "No space left" "$err" ;; # the tmpfs itself is as small
	*) expect_equal "$bomb is ended" 123 "$status" ;;
	esac
	if [ "$status" = 123 ]; then
		expect_contains "$bomb: in words" "memory limit of 64M reached" "$err"
		expect_contains "$bomb: with the way out" "limits.memory, $scratch/limits.yml:2:18" "$err"
	fi
done
with "$memory" forks 30
expect_equal "memory that a fork shares counts once" all "$out"

# Processes. As root without a kernel mechanism the sandbox is killed; otherwise fork fails.
bare processes 100
with "processes: 40, time: 50s" processes 100 40
case $status in
3) expect "fork fails at the limit" test "$out" -ge 30 -a "$out" -le 40 ;;
*) expect_equal "too many processes are ended" 123 "$status" ;;
esac
printf 'version: 1\nlimits: {processes: 40, time: 3s}\n' >"$scratch/limits.yml"
# A shell at the limit retries for a while and gives up: it exits by itself, or at the time limit.
# shellcheck disable=SC2016
run "$BERM" run --policy="$scratch/limits.yml" -- bash -c 'bomb() { [ $SECONDS -gt 1 ] || { bomb | bomb & wait; }; }; bomb'
expect "a fork bomb ends" test "$status" -ne 0 -o -z "$out"
expect_output "and the host goes on" fine echo fine

# CPUs.
with "cpus: 1, time: 20s" affinity 1
expect_contains "the set of processors is fixed" PermissionError "$err"
run "$BERM" run --policy="$scratch/limits.yml" -- nproc
expect_equal "one processor" 1 "$out"
run python3 bombs.py affinity 1
expect_equal "the control: it can be changed" all "$out"

# Time.
printf 'version: 1\nlimits: {time: 500ms}\n' >"$scratch/limits.yml"
expect_status "while : ends" 124 "$BERM" run --policy="$scratch/limits.yml" -- sh -c 'while :; do :; done'
expect_contains "in words" "time limit of 500ms reached" "$err"
expect_status "yes into a pipe ends with its time" 124 "$BERM" run --policy="$scratch/limits.yml" -- sh -c 'yes | cat >/dev/null'

# Disk: new files and files without a name count, earlier ones do not.
bare disk 30
with "disk: 20M, time: 50s" disk 150 40
expect_equal "disk is ended" 123 "$status"
expect_contains "in words" "disk limit of 20M reached" "$err"
expect_contains "with the way out" "limits.disk, $scratch/limits.yml:2:16" "$err"
expect "not far above" test "$(du -sm . | cut -f1)" -lt 150
rm -f bomb.*
with "disk: 20M, time: 50s" removed 150 40
expect_equal "a removed file is ended" 123 "$status"
printf 'version: 1\ntmp: empty\nlimits: {disk: 5M}\n' >"$scratch/limits.yml"
run "$BERM" run --policy="$scratch/limits.yml" -- sh -c 'head -c 8M /dev/zero >/tmp/full'
expect "an empty tmp holds no more" test "$status" -ne 0
# Another process fills the file system: the command continues.
printf 'version: 1\nlimits: {disk: 10M}\n' >"$scratch/limits.yml"
"$BERM" run --policy="$scratch/limits.yml" -- sh -c 'touch began; until [ -e go ]; do sleep 0.05; done; sleep 0.3; echo fine' >"$scratch/quiet" 2>&1 &
other=$!
until_true test -e began
head -c 30M /dev/zero >"$scratch/filled" && sync "$scratch/filled"
touch go
wait "$other"
expect_equal "what others write is not the command's" fine "$(cat "$scratch/quiet")"
rm -f "$scratch/filled"

# Files.
printf 'version: 1\nlimits: {file_size: 1M, open_files: 20}\n' >"$scratch/limits.yml"
run "$BERM" run --policy="$scratch/limits.yml" -- sh -c 'yes >full'
expect_equal "yes into a file ends" 153 "$status"
expect_equal "at the limit" 1048576 "$(stat -c %s full)"
expect_contains "in words" "file size limit of 1M reached" "$err"
run "$BERM" run --policy="$scratch/limits.yml" -- yes
expect_equal "into the caller's file too" 153 "$status"
expect_equal "at the limit too" 1048576 "$(stat -c %s "$scratch/out")"
run "$BERM" run --policy="$scratch/limits.yml" -- python3 -c 'l = [open("/dev/null") for i in range(30)]'
expect_contains "open files" "Too many open files" "$err"
expect_output "the control: without" "" python3 -c 'l = [open("/dev/null") for i in range(30)]'

# Output of plan.
printf 'version: 1\nlimits: {memory: 1G, processes: 40, cpus: 1, time: 20s, disk: 1G, open_files: 100, file_size: 1G}\n' >"$scratch/limits.yml"
run "$BERM" plan --policy="$scratch/limits.yml" --json
said=$(python3 -c 'import json, sys
plan = json.load(sys.stdin)
print(sorted(name for name, limit in plan["limits"].items() if limit["mechanism"] and "hard" in limit))
print([g["level"] for g in plan["guarantees"] if g["name"] == "limits"], plan["limits"]["disk"]["hard"])' <"$scratch/out")
expect_equal "how each is held" "['cpus', 'disk', 'file_size', 'memory', 'open_files', 'processes', 'time']
['partial'] False" "$said"
printf 'version: 1\nlimits: {disk: 1G}\nrequire: {limits: enforced}\n' >"$scratch/limits.yml"
expect_status "what is best effort does not satisfy enforced" 125 "$BERM" run --policy="$scratch/limits.yml" -- true
printf 'version: 1\nextends: none\nlimits: {time: 1m, file_size: 1G}\nfiles: {system: [/usr, /bin, /lib, /lib64]}\nrequire: {limits: enforced}\n' >"$scratch/limits.yml"
expect_status "what is hard does" 0 "$BERM" run --policy="$scratch/limits.yml" -- true

# A command that stops itself, and berm with it, does not escape polling: its other processes stop too.
printf 'version: 1\nlimits: {memory: 64M}\n' >"$scratch/limits.yml"
"$BERM" run --policy="$scratch/limits.yml" -- sh -c '(until [ -e free ]; do sleep 0.05; done; echo >went-on) & kill -STOP $$; wait; echo fine' >"$scratch/stopped" 2>&1 &
stopped=$!
is_stopped() {
	[ "$(cut -d' ' -f3 "/proc/$stopped/stat")" = T ]
}
if grep -q 'best effort' <("$BERM" plan --policy="$scratch/limits.yml"); then
	expect "berm stops with its command" until_true is_stopped
	touch free
	sleep 0.8
	expect "and so do the others" test ! -e went-on
fi
touch free
kill -CONT $stopped
wait $stopped
expect_equal "and all go on" fine "$(cat "$scratch/stopped")"

touch "$scratch/stop"
wait "$observer"
worst=$(cat "$scratch/latency")
echo "a host process was at worst $worst ms late"
expect "the host stays responsive" test "$worst" -lt 3000
finish
