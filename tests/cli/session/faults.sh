#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Sessions that break: holder, init or client killed, leftovers of a killed holder, many clients at once, many commands one after
# the other. An answer or a cold launch within seconds, and nothing is left behind.
# shellcheck disable=SC2016 # scripts are for the shell inside
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home

stop_all() { timeout 20 "$BERM" session stop --all >/dev/null 2>&1; }
trap 'stop_all; clean_up' EXIT
exec_() { "$BERM" session exec -- "$@"; }
wait_for() { for _ in $(seq 600); do "$@" && return; sleep 0.05; done; return 1; }
records=$HOME/.local/state/berm/sessions
holder_of() { "$BERM" session list --json | python3 -c 'import json,sys; print(" ".join(str(s["pid"]) for s in json.load(sys.stdin)))'; }
is_gone() { case $(ps -o stat= -p "$1") in "" | Z*) true ;; *) false ;; esac }
# init_of HOLDER: its child that is pid 1 of a namespace.
init_of() { for p in $(pgrep -P "$1"); do [ "$(awk '/^NSpid/ {print $NF}' "/proc/$p/status")" = 1 ] && [ "$(awk '/^NSpid/ {print NF}' "/proc/$p/status")" -gt 2 ] && echo "$p"; done; }

# Other tests may run at the same time: these are found by their argument.
mark=$((10000 + RANDOM))
running() { pgrep -f "sleep $1[.]$mark\$" >/dev/null; }
none() { ! running "$1"; }
git init -q .
run "$BERM" session start
if [ "$status" != 0 ] && grep -q "needs the guard\|needs namespaces" <<<"$err"; then
	echo "no sessions here: $err"
	exit 77
fi
expect_equal "start" 0 "$status"

# many N: how many of N clients at once succeeded, each with its own output.
many() {
	local pids=() n=0
	for i in $(seq "$1"); do
		"$BERM" session exec -- sh -c "echo $i" >"$scratch/many$i" &
		pids+=($!)
	done
	for i in $(seq "$1"); do
		wait "${pids[i - 1]}" && [ "$(cat "$scratch/many$i")" = "$i" ] && n=$((n + 1))
	done
	echo "$n"
}
expect_equal "50 clients at once" 50 "$(many 50)"

# Many commands: memory, descriptors and processes stay as they are.
holder=$(holder_of)
init=$(init_of "$holder")
expect "the init is found" test -n "$init"
entries() { find "$1" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l; }
megabytes() { awk '/^VmData/ {print int($2 / 1024)}' "/proc/$1/status"; }
measure() { echo "$(entries "/proc/$holder/fd") $(entries "/proc/$init/fd") $(entries "/proc/$init/task") $(megabytes "$holder") $(megabytes "$init")"; }
settled() { [ "$(entries "/proc/$init/task")" = 1 ]; }
count=60
[ -n "${BERM_LONG:-}" ] && count=10000
for _ in $(seq 20); do exec_ sh -c 'echo x >made; rm made'; done
wait_for settled
sleep 0.2
before=$(measure)
failures=0
for _ in $(seq "$count"); do exec_ sh -c 'echo x >made; rm made' || failures=$((failures + 1)); done
expect_equal "$count commands succeed" 0 "$failures"
expect "their deputies are gone" wait_for settled
read -r f1 i1 t1 m1 n1 <<<"$before"
# The holder closes the last client's socket after the client has its answer.
as_before() { read -r f2 i2 t2 m2 n2 <<<"$(measure)" && [ "$f1 $i1 $t1" = "$f2 $i2 $t2" ]; }
expect "descriptors and threads are as before: $before" wait_for as_before
as_before
expect_equal "memory is as before, within 2 MB: $before, $(measure)" 1 "$((m2 - m1 <= 2 && n2 - n1 <= 2))"

# ended NAME: the client of a session that breaks ends with 123 in time, and nothing of its command is left.
ended() {
	wait "$client"
	expect_equal "$1: the client's status" 123 "$?"
	expect "$1: nothing is left" wait_for none 311
	expect_status "$1: the next client" 125 exec_ true
}
begin() {
	"$BERM" session exec -- sh -c "echo ready; sleep 311.$mark" >"$scratch/one" 2>/dev/null &
	client=$!
	expect "a command runs" wait_for grep -q ready "$scratch/one"
	expect "control: pgrep finds it" wait_for running 311
}
begin
kill -KILL "$holder"
ended "a killed holder"
expect "its files are left" test -e "$(echo "$records"/*.sock)"
expect_status "a new one takes their place" 0 "$BERM" session start
expect_status "and works" 0 exec_ true
holder=$(holder_of)
begin
kill -KILL "$(init_of "$holder")"
ended "a killed init"
expect_equal "its files are gone" "" "$(ls "$records")"
expect_status "start again" 0 "$BERM" session start
begin
expect_status "stop while a command runs" 0 "$BERM" session stop
ended "a stopped session"

# A client that is killed at any moment ends its command, and the session goes on.
expect_status "start again" 0 "$BERM" session start
for i in $(seq 12); do
	"$BERM" session exec -- sleep "312.$mark" &
	client=$!
	sleep "0.00$((i % 10))"
	kill -KILL "$client"
	wait "$client" 2>/dev/null
done 2>/dev/null
expect "commands of killed clients end" wait_for none 312
expect_status "the session goes on" 0 exec_ true
# A command that kills everything in reach ends nothing but commands.
exec_ sh -c "sleep 313.$mark >/dev/null 2>&1 </dev/null &"
expect "control: pgrep finds it" running 313
expect_status "a command that kills all others" 0 exec_ sh -c 'kill -9 -1; sleep 0.1'
expect "it has ended them" none 313
expect_status "the session still goes on" 0 exec_ true
expect_status "stop signals to init have no effect" 0 exec_ sh -c 'kill -STOP 1; kill -TSTP 1; kill -TERM 1; true'
expect_status "the session still goes on" 0 exec_ true

# The record vanishes: the session notices, and clients at once.
holder=$(holder_of)
rm "$records"/*.session
expect_status "without a record" 125 exec_ true
kill "$holder"
expect "SIGTERM ends the holder" wait_for is_gone "$holder"
expect_equal "SIGTERM ends the session and its files" "" "$(ls "$records")"

# sessions: auto.
mkdir -p "$HOME/.config/berm"
printf 'version: 1\nsessions: auto\n' >"$HOME/.config/berm/berm.yml"
auto() { "$BERM" -c "$1" </dev/null 2>&1 | cat; }
port=$((20000 + RANDOM % 20000))
auto "python3 -m http.server --bind 127.0.0.1 $port >/dev/null 2>&1 </dev/null & until python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", $port))' 2>/dev/null; do sleep 0.1; done"
get="python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:$port/\").status)'"
expect_equal "berm -c: a server of one command answers the next" 200 "$(auto "$get")"
expect_equal "berm run joins it, too" 200 "$("$BERM" run -- sh -c "$get" </dev/null 2>&1 | cat)"
ln -s "$BERM" "$scratch/berm-sh"
expect_equal "one session" 1 "$("$BERM" session list --json | grep -o '"name"' | wc -l)"
run "$BERM" run --env=FOO=1 -- sh -c "$get"
expect_equal "extra options run cold" 1 "$status"
expect_contains "a terminal runs cold" "none" "$(script -qec "\"$BERM\" run -- sh -c 'ps -e -o args | grep [h]ttp.server || echo none'" /dev/null)"
holder=$(holder_of)
kill -KILL "$holder"
expect_equal "a killed holder: the next starts another" ok "$(auto 'echo ok')"
expect_equal "50 clients without a session at once" 50 "$(stop_all; for i in $(seq 50); do "$BERM" -c "echo $i" </dev/null 2>/dev/null >"$scratch/auto$i" & done; wait; cat "$scratch"/auto* | sort -n | uniq | wc -l)"
expect_equal "one session of them" 1 "$("$BERM" session list --json | grep -o '"name"' | wc -l)"
# No session can be had: a cold launch.
stop_all
rm -rf "$records"
: >"$records"
expect_equal "without a place for records" ok "$(auto 'echo ok')"
rm "$records"
printf 'version: 1\nsessions: auto\ntmp: empty\n' >"$HOME/.config/berm/berm.yml"
expect_equal "tmp: empty runs cold" ok "$(auto 'echo ok')"
expect_equal "and starts none" "[]" "$("$BERM" session list --json | tr -d ' \n')"
finish
