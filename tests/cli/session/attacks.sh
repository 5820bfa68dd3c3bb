#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The promises of a cold launch hold for every command of a session: names that appear, or are replaced, after it began; the policy
# that changes meanwhile; requests that lead out. Each case has a control.
# shellcheck disable=SC2016 # scripts are for the shell inside
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home

stop_all() { timeout 20 "$BERM" session stop --all >/dev/null 2>&1; }
trap 'stop_all; clean_up' EXIT
exec_() { "$BERM" session exec -- "$@"; }
wait_for() { for _ in $(seq 600); do "$@" && return; sleep 0.05; done; return 1; }
records=$HOME/.local/state/berm/sessions

git init -q .
mkdir src
echo old >.env
run "$BERM" session start
if [ "$status" != 0 ] && grep -q "needs the guard\|needs namespaces" <<<"$err"; then
	echo "no sessions here: $err"
	exit 77
fi
expect_equal "start" 0 "$status"

# hidden NAME FILE: readable without berm, hidden cold, hidden in the session, and never writable there.
hidden() {
	expect "control: $1 is readable without berm" grep -q secret "$2"
	run "$BERM" run -- cat "$2"
	expect_equal "$1 is hidden cold" "1 " "$status $out"
	run exec_ cat "$2"
	expect_equal "$1 is hidden in the session" "1 " "$status $out"
	exec_ sh -c "echo changed >'$2'" 2>/dev/null
	expect "$1 is not changed" grep -q secret "$2"
}
echo secret >.env
hidden "a file that existed" .env
echo secret >src/.env
hidden "a late .env" src/.env
echo secret >new && mv new .env
hidden "a .env that the host replaced" .env
rm src/.env && exec_ true && echo secret >src/.env
hidden "a late .env that was removed and made again" src/.env
mkdir -p deep/er/dir && echo secret >deep/er/dir/.env.local
hidden "one in a new directory" deep/er/dir/.env.local
mkdir other && echo secret >other/.env && mv src src.old && mv other src
hidden "one in a directory that took the place of another" src/.env
for i in $(seq 20); do mkdir "many$i" && echo secret >"many$i/.env"; done
expect_equal "twenty at once" 0 "$(exec_ sh -c 'cat many*/.env 2>/dev/null | wc -l')"
expect_equal "control: they are readable without berm" 20 "$(cat many*/.env | wc -l)"
rm -rf many*

# While a command runs: it does not start before the covers are there, and one that runs loses sight of it.
"$BERM" session exec -- sh -c 'echo ready; while :; do cat watched/.env 2>/dev/null; sleep 0.01; done' >"$scratch/reader" &
client=$!
expect "a reader runs" wait_for grep -q ready "$scratch/reader"
mkdir watched && echo secret >watched/.env
exec_ true
lines=$(wc -l <"$scratch/reader")
sleep 0.3
expect_equal "a reader that runs reads no more after the next command began" "$lines" "$(wc -l <"$scratch/reader")"
kill "$client" && wait "$client" 2>/dev/null

# Protected names: those that appeared on the host are locked, absent ones cannot be made.
mkdir -p .vscode && echo '{}' >.vscode/tasks.json
expect "control: a late file can be changed without berm" sh -c 'echo "{ }" >.vscode/tasks.json'
run exec_ sh -c 'echo planted >.vscode/tasks.json'
expect "a late protected file" grep -qv planted .vscode/tasks.json
printf '#!/bin/sh\n' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
run exec_ sh -c 'echo planted >>.git/hooks/pre-commit'
expect "a late hook" sh -c '! grep -q planted .git/hooks/pre-commit'
git init -q sub
printf '#!/bin/sh\n' >sub/.git/hooks/post-merge
run exec_ sh -c 'echo planted >>sub/.git/hooks/post-merge; echo planted >>sub/.git/config; echo x >sub/.git/hooks/new'
expect "hooks and configuration of a late repository" sh -c '! grep -rq planted sub/.git && [ ! -e sub/.git/hooks/new ]'
run exec_ sh -c 'mkdir -p .cursor && echo x >.cursor/mcp.json'
expect "an absent name cannot be made" test ! -e .cursor/mcp.json
expect_contains "it is named" "not created: .cursor" "$err"
run exec_ sh -c 'echo x >ordinary'
expect "an ordinary file can" test -e ordinary

# Background processes cannot do more than their command.
exec_ sh -c '(while :; do echo x >.git/hooks/post-checkout; echo y >.cursor/mcp.json; cat late2/.env; sleep 0.02; done) >/tmp/background 2>/dev/null </dev/null &'
mkdir late2 && echo secret >late2/.env
exec_ true
exec_ sh -c ': >/tmp/background'
sleep 0.3
expect_equal "a background process reads no late secret after the next command began" "" "$(exec_ cat /tmp/background)"
expect "and plants nothing" sh -c '[ ! -e .git/hooks/post-checkout ] && [ ! -e .cursor/mcp.json ]'
stop_all

# The policy changes: no command joins a session with the old one.
expect_status "start again" 0 "$BERM" session start
expect_status "control: it takes commands" 0 exec_ true
printf 'version: 1\nfiles: {deny: [ordinary]}\n' >berm.yml
run exec_ cat ordinary
expect_equal "the project's policy has changed" 125 "$status"
expect_contains "why" "changed" "$err"
rm berm.yml
expect_status "it is as before" 0 exec_ cat ordinary
mkdir -p "$HOME/.config/berm" && printf 'version: 1\nlimits: {processes: 50}\n' >"$HOME/.config/berm/berm.yml"
expect_status "the user's policy has changed" 125 exec_ true
rm "$HOME/.config/berm/berm.yml"
expect_status "extra grants" 125 "$BERM" session exec --allow-net -- true
expect_status "a copy of the program is another version" 125 sh -c 'cp "$BERM" "$1/berm" && "$1/berm" session exec -- true' sh "$scratch"

# Streams that lead out.
expect_status "a directory" 125 sh -c '"$BERM" session exec -- true </'
expect_status "control: /dev/null" 0 sh -c '"$BERM" session exec -- true </dev/null'
python3 - <<-'PYTHON' >"$scratch/path" 2>&1
	import os, subprocess
	fd = os.open("ordinary", os.O_PATH)
	r = subprocess.run([os.environ["BERM"], "session", "exec", "--", "true"], stdin=fd, capture_output=True, text=True)
	print(r.returncode, r.stderr)
PYTHON
expect_contains "a path without a file" "125 " "$(cat "$scratch/path")"
run script -qec "\"$BERM\" session exec -- true" /dev/null
expect_equal "a terminal" 125 "$status"

# Forged requests: nothing runs, the session goes on.
expect "forged requests" python3 "$support/session_forger.py" "$records"/*.sock "$records"/*.session "$scratch/forged"
expect "nothing of them ran" test ! -e "$scratch/forged"
expect_status "the session goes on" 0 exec_ true

# The socket is in no view, and no command reaches the records.
expect "control: the record exists" test -s "$(echo "$records"/*.session)"
expect_status "the records are hidden" 0 exec_ sh -c '! ls "$1" 2>/dev/null' sh "$records"
expect_status "and cannot be granted" 125 "$BERM" run --allow-read="$records" -- true

# Another user at the socket.
if [ "$(id -u)" -eq 0 ]; then
	chmod 777 "$records"/*.sock
	chmod 711 "$records"
	cat >"$scratch/stranger.py" <<-'PYTHON'
		import os, socket, sys
		records, uid = sys.argv[1], int(sys.argv[2])
		os.chdir(records)
		name = [n for n in os.listdir(records) if n.endswith(".sock")][0]
		if uid:
		    os.setgroups([])
		    os.setresgid(uid, uid, uid)
		    os.setresuid(uid, uid, uid)
		s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		s.settimeout(1.5)
		s.connect(name)
		try:
		    sys.exit(0 if s.recv(1) == b"" else 2)
		except TimeoutError:
		    sys.exit(1)
	PYTHON
	expect_status "control: the user's own connection stays open" 1 python3 "$scratch/stranger.py" "$records" 0
	expect_status "another user's is closed at once" 0 python3 "$scratch/stranger.py" "$records" 65534
	chmod 700 "$records" "$records"/*.sock
fi

# Another process in the place of the socket.
mv "$records"/*.sock "$scratch/moved.sock"
run exec_ true
expect_equal "a socket that is gone" 125 "$status"
python3 - "$records" <<-'PYTHON' &
	import os, socket, sys
	name = [n for n in os.listdir(sys.argv[1]) if n.endswith(".session")][0].replace(".session", ".sock")
	s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	os.chdir(sys.argv[1])
	s.bind(name)
	s.listen(1)
	open("/dev/null").close()
	c, _ = s.accept()
	c.recv(70000)
	import time
	time.sleep(30)
PYTHON
silent=$!
wait_for sh -c 'ls "$1"/*.sock >/dev/null 2>&1' sh "$records"
since=$SECONDS
expect_status "a socket that never answers" 125 exec_ true
expect_equal "within seconds" 1 "$((SECONDS - since < 10))"
kill "$silent" && wait "$silent" 2>/dev/null
rm -f "$records"/*.sock
mv "$scratch/moved.sock" "$records/$(basename "$records"/*.session .session).sock"
expect_status "the old one again" 0 exec_ true

# Inherited rights do not grow: lower limits of the session are no reason for a weaker run.
stop_all
expect_status "started with a low priority" 0 nice -n 5 "$BERM" session start
expect_status "a client with a higher one" 125 exec_ true
expect_status "one with the same" 0 nice -n 5 "$BERM" session exec -- true
stop_all

# leftovers: end.
printf 'version: 1\nsessions: {leftovers: end}\n' >"$HOME/.config/berm/berm.yml"
expect_status "start with leftovers: end" 0 "$BERM" session start
exec_ sh -c 'setsid sleep 303 >/dev/null 2>&1 </dev/null & echo $! >/tmp/pid'
expect_status "nothing survives the command" 0 exec_ sh -c '! ps -e -o args | grep -q "[s]leep 303"'
"$BERM" session exec -- sh -c 'echo ready; sleep 304' >"$scratch/one" &
client=$!
expect "a command runs" wait_for grep -q ready "$scratch/one"
expect_status "one command at a time" 125 exec_ true
kill "$client" && wait "$client" 2>/dev/null
expect_status "then the next" 0 exec_ true
stop_all
printf 'version: 1\nrequire: {processes: enforced}\n' >"$HOME/.config/berm/berm.yml"
expect_status "processes: enforced excludes sessions that keep them" 125 "$BERM" session start
printf 'version: 1\nrequire: {processes: enforced}\nsessions: {leftovers: end}\n' >"$HOME/.config/berm/berm.yml"
expect_status "but not those that end them" 0 "$BERM" session start
stop_all
rm "$HOME/.config/berm/berm.yml"
expect_status "a copy has no session" 125 sh -c 'printf "version: 1\nworkspace: {copy: always}\n" >"$HOME/.config/berm/berm.yml"; "$BERM" session start; s=$?; rm "$HOME/.config/berm/berm.yml"; exit $s'
printf 'version: 1\nsessions: auto\n' >berm.yml
expect_status "the key is the user's only" 125 "$BERM" run -- true
finish
