#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Init and the network's helper are forked and never execute anything, so they start with the launcher's memory. Variables that the
# policy withholds from the command must not stay in it: a bug in init would disclose them. Root reads the memory from the host.
. "$(dirname "$0")/../support/lib.sh"

if [ "$(id -u)" -ne 0 ]; then
	echo "needs root: init is not dumpable, so that its own user cannot read its memory"
	exit 77
fi

export AWS_SECRET_ACCESS_KEY=withheld-$$-secret

# descendants PID: all processes below it, one a line.
descendants() {
	local child
	cat "/proc/$1"/task/*/children 2>/dev/null | tr ' ' '\n' | while read -r child; do
		echo "$child"
		descendants "$child"
	done
}

# mentions PID: where the secret is in its memory, one area a line.
mentions() {
	/usr/bin/python3 - "$1" "$AWS_SECRET_ACCESS_KEY" <<-'END'
	import sys
	pid, secret = sys.argv[1], sys.argv[2].encode()
	with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
	    for line in maps:
	        begin, end = (int(n, 16) for n in line.split()[0].split("-"))
	        if "r" not in line.split()[1] or "[v" in line:  # vvar and vsyscall are the kernel's
	            continue
	        memory.seek(begin)
	        if secret in memory.read(end - begin):
	            print(line.split()[-1])
	END
}

# clean NAME LEAST OPTION...: at least LEAST processes of berm are below the launcher, and none of them has the secret.
clean() {
	local name=$1 least=$2 count=0 pid launcher
	shift 2
	rm -f here
	"$BERM" run "$@" -- sh -c 'echo >here; exec sleep 60' &
	launcher=$!
	expect "$name: the command runs" until_true test -e here
	expect_contains "$name: control: the launcher's environment has it" "$AWS_SECRET_ACCESS_KEY" "$(tr '\0' '\n' <"/proc/$launcher/environ")"
	expect_contains "$name: control: the search finds it there" "[stack]" "$(mentions "$launcher")"
	for pid in $(descendants "$launcher"); do
		if [ "$(cat "/proc/$pid/comm")" = berm ]; then
			count=$((count + 1))
			expect_equal "$name: the environment of process $count is wiped" "" "$(tr -d '\0' <"/proc/$pid/environ")"
		fi
		expect_equal "$name: process $pid ($(cat "/proc/$pid/comm")) does not have it" "" "$(mentions "$pid")"
	done
	expect "$name: $count processes were looked at" test "$count" -ge "$least"
	kill "$launcher"
	wait "$launcher" 2>/dev/null
}

clean "a new plan" 1
clean "a cached plan" 1
clean "with a proxy" 2 --allow-net=example.org:443
finish
