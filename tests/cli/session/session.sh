#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# berm session: start, exec, list, stop. A joined command is as a cold one: status, signals, environment, limits, streams, working
# directory; loopback, /tmp and background processes are shared. Each property is compared with the command without berm or with a
# cold launch.
# shellcheck disable=SC2016 # scripts are for the shell inside
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home

stop_all() { timeout 20 "$BERM" session stop --all >/dev/null 2>&1; }
trap 'stop_all; clean_up' EXIT

git init -q .
mkdir sub
echo text >file

run "$BERM" session start
if [ "$status" != 0 ] && grep -q "needs the guard\|needs namespaces" <<<"$err"; then
	echo "no sessions here: $err"
	exit 77
fi
expect_equal "start" 0 "$status"
expect_equal "start prints nothing on stdout" "" "$out"
expect_status "a second one of that name" 125 "$BERM" session start
expect_contains "it runs already" "already" "$err"
expect_status "no such session" 125 "$BERM" session exec other -- true
expect_contains "how to start it" "berm session start other" "$err"
expect_status "no command" 125 "$BERM" session exec
expect_status "two names" 125 "$BERM" session exec a b -- true
expect_status "a bad name" 125 "$BERM" session start ../x
expect_status "an unknown verb" 125 "$BERM" session begin

exec_() { "$BERM" session exec -- "$@"; }

expect_output "output" hi exec_ echo hi
# A command's status, and that of a signal, as without berm.
for code in 0 1 3 125 255; do
	expect_status "status $code" "$code" exec_ sh -c "exit $code"
done
expect_status "ended by SIGTERM" 143 exec_ sh -c 'kill -TERM $$'
expect_status "not found" 127 exec_ no-such-program
expect_contains "its name" "no-such-program" "$err"
expect_status "not executable" 126 exec_ ./file
expect_equal "stdin is a pipe" abc "$(printf abc | exec_ cat)"
expect_equal "stdin is a file" text "$(exec_ cat <file)"
exec_ sh -c 'echo out; echo err >&2' >"$scratch/1" 2>"$scratch/2"
expect_equal "stdout and stderr" "out err" "$(cat "$scratch/1") $(cat "$scratch/2")"
expect_equal "only 0, 1 and 2 are open" "0 1 2" "$(exec_ sh -c 'for f in /proc/self/fd/*; do [ -e "$f" ] && printf "%s " "${f##*/}"; done' | sed 's/ *$//; s/ 3$//')"

# Inherited properties: compared with the same command without berm.
properties='umask; ulimit -Sn; ulimit -Hn; ulimit -s; cat /proc/self/oom_score_adj; nice; grep -E "^Sig(Blk|Ign)" /proc/self/status; pwd'
same() {
	local bare joined
	bare=$("${@:2}" sh -c "$properties")
	joined=$("${@:2}" "$BERM" session exec -- sh -c "$properties")
	expect_equal "$1" "$bare" "$joined"
}
# The open-file limit of the default policy is lower than a host's may be.
limit=$("$BERM" run -- sh -c 'ulimit -Hn')
ulimit -n "$limit" 2>/dev/null
same "as the caller" env
same "umask" sh -c 'umask 027; exec "$@"' sh
same "nice" nice -n 3
same "limits" sh -c 'ulimit -n 100; ulimit -s 4096; exec "$@"' sh
same "ignored signals" sh -c 'trap "" HUP USR1; exec "$@"' sh
same "working directory" env -C sub
expect_status "another oom_score_adj" 125 sh -c 'echo 500 >/proc/self/oom_score_adj; exec "$BERM" session exec -- true'

# The environment: filtered as cold.
export LANG=C.UTF-8 MY_SECRET_TOKEN=x
expect_equal "the same variables as cold" "$("$BERM" run -- env | grep -v '^_=' | sort)" "$(exec_ env | grep -v '^_=' | sort)"
expect_equal "a secret variable" "" "$(exec_ sh -c 'echo $MY_SECRET_TOKEN')"

# Shared on purpose.
exec_ sh -c 'echo kept >/tmp/shared'
expect_equal "/tmp is shared" kept "$(exec_ cat /tmp/shared)"
exec_ sh -c 'sleep 300 >/dev/null 2>&1 </dev/null & echo $! >/tmp/pid'
expect "a background process goes on" exec_ sh -c 'kill -0 $(cat /tmp/pid)'
port=$((20000 + RANDOM % 20000))
serve="import http.server as h; s=h.HTTPServer(('127.0.0.1',$port),h.SimpleHTTPRequestHandler); print('ready',flush=True); s.serve_forever()"
exec_ sh -c "python3 -c \"$serve\" >/tmp/log 2>&1 </dev/null & until grep -qs ready /tmp/log; do sleep 0.05; done"
get="import urllib.request as u; print(u.urlopen('http://127.0.0.1:$port/file').status)"
expect_equal "a server of one command answers the next" 200 "$(exec_ python3 -c "$get")"
run "$BERM" run -- python3 -c "$get"
expect_equal "control: a cold launch has its own loopback" 1 "$status"

# Signals that the client forwards.
wait_for() { for _ in $(seq 600); do "$@" && return; sleep 0.05; done; return 1; }
"$BERM" session exec -- sh -c 'trap "echo term; exit 7" TERM; echo ready; while :; do sleep 0.05; done' >"$scratch/signal2" &
client=$!
expect "the command runs" wait_for grep -q ready "$scratch/signal2"
kill -TERM "$client"
wait "$client"
expect_equal "its own status after SIGTERM" 7 "$?"
expect_contains "it has handled it" term "$(cat "$scratch/signal2")"

# A client that is killed ends its command, and what that started.
"$BERM" session exec -- sh -c 'sleep 301 & echo $$ >/tmp/killed; sleep 302' &
client=$!
expect "the command runs" wait_for exec_ test -s /tmp/killed
kill -KILL "$client"
wait "$client" 2>/dev/null
gone() { ! exec_ sh -c 'ps -e -o args | grep -q "[s]leep 30[12]"'; }
expect "control: ps finds the background process" exec_ sh -c 'ps -e -o args | grep -q "[s]leep 300"'
expect "the command of a killed client ends" wait_for gone

# Stopped and continued. A shell ignores SIGINT in its background jobs.
env --default-signal=INT "$BERM" session exec -- sh -c 'echo $$ >/tmp/stopped; echo ready; while :; do sleep 0.05; done' >"$scratch/signal3" &
client=$!
expect "the command runs" wait_for grep -q ready "$scratch/signal3"
kill -TSTP "$client"
is_stopped() { [ "$(awk '{print $3}' "/proc/$client/stat")" = T ]; }
expect "berm stops with the command" wait_for is_stopped
expect_contains "the command is stopped" T "$(exec_ sh -c 'ps -o stat= -p $(cat /tmp/stopped)')"
kill -CONT "$client"
is_running() { exec_ sh -c 'case $(ps -o stat= -p $(cat /tmp/stopped)) in T*) false ;; esac'; }
expect "and continued" wait_for is_running
kill -INT "$client"
wait "$client"
expect_equal "SIGINT" 130 "$?"

# list and stop.
run "$BERM" session list --json
expect "list --json" python3 - "$scratch/out" "$PWD" <<-'PYTHON'
	import json, sys
	(one,) = json.load(open(sys.argv[1]))
	assert one["name"] == "default" and one["project"] == sys.argv[2] and one["answers"] and one["keeps_leftovers"], one
	assert one["commands"] == 0, one
PYTHON
holder=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))[0]["pid"])' "$scratch/out")
expect "the holder runs" kill -0 "$holder"
expect_status "stop" 0 "$BERM" session stop
# Its new parent may take its time to reap it.
holder_gone() { case $(ps -o stat= -p "$holder") in "" | Z*) true ;; *) false ;; esac }
expect "the holder is gone" wait_for holder_gone
expect_equal "nothing is left" "" "$(ls "$HOME/.local/state/berm/sessions")"
expect_status "stop again" 1 "$BERM" session stop
expect_status "exec after stop" 125 "$BERM" session exec -- true

# Names, the idle time, the time limit.
expect_status "start a named one" 0 "$BERM" session start web --idle=1s
expect_status "exec in it" 0 "$BERM" session exec web -- true
empty() { [ -z "$(ls "$HOME/.local/state/berm/sessions")" ]; }
expect "it ends when it is idle" wait_for empty
mkdir -p "$HOME/.config/berm"
printf 'version: 1\nlimits: {time: 1s}\n' >"$HOME/.config/berm/berm.yml"
expect_status "start with a time limit" 0 "$BERM" session start
since=$SECONDS
expect_status "the time limit" 124 exec_ sleep 60
expect_equal "in time" 1 "$((SECONDS - since < 20))"
expect_status "of each command" 0 exec_ true
stop_all
finish
