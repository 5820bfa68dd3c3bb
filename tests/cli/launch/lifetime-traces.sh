#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Nothing is left on the host, and a command that writes nothing changes nothing: mounts, the project, the temporary directories. In a new
# mount namespace, where no other process mounts anything or has files in them.
if [ -z "${BERM_TRACES_NAMESPACE:-}" ]; then
	options=(--mount)
	[ "$(id -u)" -eq 0 ] || options+=(--user --map-current-user --keep-caps)
	if ! unshare "${options[@]}" true; then
		echo "a mount namespace of its own is needed"
		exit 77
	fi
	BERM_TRACES_NAMESPACE=$(mktemp -d /var/tmp/berm-traces.XXXXXX) || exit 1
	export BERM_TRACES_NAMESPACE
	cp "$BERM" "$BERM_TRACES_NAMESPACE/berm" # it may lie in one of the places that are covered
	# The directory of this script is not compared.
	BERM_TRACES_PLACES=
	for place in /tmp /dev/shm; do
		[[ $(realpath "$0")/ == $place/* ]] || BERM_TRACES_PLACES="$BERM_TRACES_PLACES $place"
	done
	export BERM_TRACES_PLACES
	# From here on mounts that propagate to this namespace are seen.
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare "${options[@]}" bash -c 'mount --make-rprivate / && mount --make-rshared / || exit
		for place in $BERM_TRACES_PLACES; do
			mount -t tmpfs -o mode=1777 none "$place" || exit
		done
		exec setpriv --inh-caps=-all --ambient-caps=-all bash "$@"' bash "$0" "$@"
fi
BERM=$BERM_TRACES_NAMESPACE/berm
export BERM TMPDIR=$BERM_TRACES_NAMESPACE
. "$(dirname "$0")/../support/lib.sh"
trap '[ "$BASHPID" != "$$" ] || { clean_up; rm -rf "$BERM_TRACES_NAMESPACE"; }' EXIT
unset TMPDIR

listing() {
	cat /proc/self/mountinfo
	find "$project" -printf '%p %i %m %s %T@\n' | sort
	# shellcheck disable=SC2086 # several
	find $BERM_TRACES_PLACES -mindepth 1 -printf '%p %i %m %s %T@\n' | sort
}

# kill -9 of berm, at moments from "not yet started" to "long running".
touch steady
listing >"$scratch/before"
for delay in 0 0.001 0.002 0.003 0.004 0.005 0.006 0.008 0.01 0.015 0.02 0.03 0.05 0.1 0.3; do
	"$BERM" run -- sh -c 'sleep 300 & setsid sleep 300 & sleep 300' &
	pid=$!
	sleep $delay
	kill -KILL $pid
	wait $pid 2>/dev/null
done 2>/dev/null
listing >"$scratch/after"
expect "nothing is left on the host" diff "$scratch/before" "$scratch/after"

# Commands that write nothing change nothing, and one that writes adds what it wrote.
mkdir -p .git/hooks sub && touch .env sub/.env.local .git/config
listing >"$scratch/before"
"$BERM" run -- true
"$BERM" run -- sh -c 'ls -la / ~ /tmp . >/dev/null; cat .env' >/dev/null 2>&1
"$BERM" -c 'exit 3'
"$BERM" run -- no-such-command 2>/dev/null
"$BERM" run --nonsense 2>/dev/null
"$BERM" run --dry-run -- touch ran >/dev/null
"$BERM" plan >/dev/null
"$BERM" check read x >/dev/null
listing >"$scratch/after"
expect "no ghosts in the project" diff "$scratch/before" "$scratch/after"
"$BERM" run -- touch made
listing >"$scratch/after"
expect_equal "the control: a new file is seen" 1 "$(diff "$scratch/before" "$scratch/after" | grep -c '^> .*/made ')"
for place in $BERM_TRACES_PLACES; do
	touch "$place/made"
	listing >"$scratch/after"
	expect "the control: and one in $place" grep -q "^$place/made " "$scratch/after"
done

finish
