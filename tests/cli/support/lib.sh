# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Shared by the scripts in tests/cli: a scratch project, running a command bare and inside, expectations that are
# counted. A script sources this, expects things, and ends with `finish`. It must work as root and as any user.
set -uo pipefail

# Signals that the caller ignores (SIGINT and SIGQUIT in a background job) cannot be reset by a shell.
if [ -z "${BERM_CLI_SIGNALS:-}" ]; then
	exec env --default-signal BERM_CLI_SIGNALS=default bash "$0" "$@" </dev/null
fi

: "${BERM:?the path of the program under test}"
support=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/berm-cli.XXXXXX")
project=$scratch/project
# The user's own state and configuration are left alone.
export XDG_STATE_HOME=$scratch/state XDG_CONFIG_HOME=$scratch/config
unset NO_COLOR BERM_POLICY
mkdir "$project"
cd "$project" || exit 1

good=0
bad=0
# Seconds until what has to happen is held for something that never does: only a failure takes that long, however busy the machine is.
patience=60

clean_up() {
	# A subshell that a signal ends would run this too.
	[ "$BASHPID" = "$$" ] || return
	cd /
	chmod -R u+rwX "$scratch" 2>/dev/null
	rm -rf "$scratch"
}
trap clean_up EXIT

pass() {
	good=$((good + 1))
}

# fail NAME [DETAIL]
fail() {
	bad=$((bad + 1))
	printf 'FAIL %s\n' "$1"
	if [ -n "${2:-}" ]; then
		printf '%s\n' "$2" | head -c 2000 | sed 's/^/     /' | cat -v
	fi
}

finish() {
	echo "$good expectations held, $bad did not"
	[ "$bad" -eq 0 ]
	exit
}

# expect NAME COMMAND...: the command succeeds.
expect() {
	local name=$1
	shift
	if "$@" >"$scratch/expect.log" 2>&1; then
		pass
	else
		fail "$name" "not true: $* $(cat "$scratch/expect.log")"
	fi
}

# expect_equal NAME WANTED GOT
expect_equal() {
	if [ "$2" = "$3" ]; then
		pass
	else
		fail "$1" "wanted: $2
got:    $3"
	fi
}

# expect_contains NAME PART TEXT
expect_contains() {
	case $3 in
	*"$2"*) pass ;;
	*) fail "$1" "no \"$2\" in: $3" ;;
	esac
}

# run COMMAND...: status, output and errors of any command, in $status, $out and $err. Output without its last newlines;
# the exact bytes are in $scratch/out and $scratch/err.
run() {
	status=0
	if [ "$(type -t "$1")" = function ]; then
		"$@" >"$scratch/out" 2>"$scratch/err" || status=$?
	else
		timeout --foreground "$patience" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
	fi
	out=$(tr -d '\0' <"$scratch/out")
	err=$(tr -d '\0' <"$scratch/err")
}

# expect_status NAME WANTED COMMAND...
expect_status() {
	local name=$1 wanted=$2
	shift 2
	run "$@"
	if [ "$status" = "$wanted" ]; then
		pass
	else
		fail "$name" "wanted status $wanted, got $status
stdout: $out
stderr: $err"
	fi
}

# expect_output NAME WANTED COMMAND...: this output, nothing on stderr, status 0.
expect_output() {
	local name=$1 wanted=$2
	shift 2
	run "$@"
	if [ "$status" = 0 ] && [ "$out" = "$wanted" ] && [ -z "$err" ]; then
		pass
	else
		fail "$name" "wanted: $wanted
got:    $out
stderr: $err
status: $status"
	fi
}

# same NAME COMMAND...: bare and inside give the same bytes on stdout and stderr and the same status. BERM_OPTIONS (an array)
# goes to `berm run`.
BERM_OPTIONS=()
same() {
	local name=$1 bare_status=0 inside_status=0
	shift
	"$@" >"$scratch/bare.out" 2>"$scratch/bare.err" || bare_status=$?
	"$BERM" run "${BERM_OPTIONS[@]}" -- "$@" >"$scratch/inside.out" 2>"$scratch/inside.err" || inside_status=$?
	if [ "$bare_status" = "$inside_status" ] && cmp -s "$scratch/bare.out" "$scratch/inside.out" &&
		cmp -s "$scratch/bare.err" "$scratch/inside.err"; then
		pass
	else
		fail "$name" "status bare $bare_status, inside $inside_status
$(diff -a "$scratch/bare.out" "$scratch/inside.out" | head -n 10)
$(diff -a "$scratch/bare.err" "$scratch/inside.err" | head -n 10)"
	fi
}

# python PROGRAM ARGUMENT...: one of support/, whose expectations it counts itself: it prints those that did not hold.
python() {
	local program=$1
	shift
	if ! command -v python3 >/dev/null; then
		echo "python3 is needed"
		exit 77
	fi
	expect_python=0
	PYTHONDONTWRITEBYTECODE=1 python3 "$support/$program" "$@" || expect_python=$?
	expect_equal "$program" 0 "$expect_python"
}

# until_true COMMAND...: waits for it, at most $patience seconds.
until_true() {
	local end=$((SECONDS + patience))
	until "$@" 2>/dev/null; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.02
	done
}

# plant_key NAME TEXT: a file in ~/.ssh of the real home, where there may be no such directory and another test may just be removing the one
# that it made. Sets $home and $secret; `remove_key` takes it away.
plant_key() {
	home=$(getent passwd "$(id -u)" | cut -d: -f6)
	secret=$home/.ssh/$1
	made_ssh=
	local i
	for ((i = 0; i < 1000; i++)); do
		if mkdir -m 700 "$home/.ssh" 2>/dev/null; then
			made_ssh=1
		fi
		if echo "$2" 2>/dev/null >"$secret"; then
			return
		fi
	done
	echo "$secret cannot be made"
	exit 1
}

remove_key() {
	rm -f "$secret"
	[ -z "$made_ssh" ] || rmdir "$home/.ssh" 2>/dev/null
}

# scratch_home: programs that a script runs bare write their history there and not in the user's home. berm itself takes the home from
# the password database; support/home.sh is for scripts in which that one has to be another, too.
scratch_home() {
	mkdir -m 700 "$scratch/bare-home" "$scratch/bare-run"
	export HOME=$scratch/bare-home XDG_RUNTIME_DIR=$scratch/bare-run
}

# is_alive PID: exists and is no zombie.
is_alive() {
	case $(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null) in
	'' | Z | X) return 1 ;;
	esac
}

# with_word WORD: the pids of all processes with this word in their command line. The pattern does not match itself.
with_word() {
	grep -laE "[${1:0:1}]${1:1}" /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3
}

# Where the machine has no user namespaces there is nothing to compare.
if ! "$BERM" run -- true 2>"$scratch/err"; then
	echo "berm does not run here: $(head -n 1 "$scratch/err")"
	exit 77
fi
