#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The cost of a joined command: /bin/true bare, cold and in a session, taking turns. Needs root and the user berm-tester of script/test:
# everything runs as that user, with an empty file system over its home in a mount namespace of its own.
#
#   BERM=PROGRAM BENCH_LAUNCH=PATH tests/bench/sessions.sh [RUNS]
#
# Prints the median and the least time of each, and the ratios to bare.
set -euo pipefail
: "${BERM:?the program}" "${BENCH_LAUNCH:?the path of bench_launch}"
user=berm-tester

if [ "$(id -u)" -eq 0 ]; then
	home=$(getent passwd "$user" | cut -d: -f6)
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare --mount bash -c 'mount -t tmpfs -o "mode=755,uid=$(id -u "$1")" bench "$2" &&
		exec setpriv --reuid="$1" --regid="$1" --clear-groups env -i PATH=/usr/bin:/bin HOME="$2" BERM="$BERM" \
			BENCH_LAUNCH="$BENCH_LAUNCH" bash "$3" "${@:4}"' bash "$user" "$home" "$(realpath "$0")" "$@"
fi

project=$(mktemp -d /var/tmp/berm-bench.XXXXXX)
trap 'cd /; timeout 20 "$BERM" session stop --all >/dev/null 2>&1; rm -rf "$project"' EXIT
cd "$project"
git init -q .
for i in $(seq 90); do
	mkdir "d$i"
	for k in $(seq 10); do : >"d$i/f$k"; done
done
for i in $(seq 10); do echo secret >"d$i/.env"; done
for _ in 1 2 3; do "$BERM" run -- true; done
"$BERM" session start
"$BENCH_LAUNCH" --runs="${1:-200}" --warm-up=10 @bare /bin/true @cold "$BERM" run -- /bin/true \
	@joined "$BERM" session exec -- /bin/true >"$HOME/times" </dev/null
python3 - "$HOME/times" <<-'PYTHON'
	import sys
	# Section, name, runs, least, median, 99th percentile, mean, failures.
	rows = {w[1]: (float(w[3]), float(w[4]), w[-1]) for w in (line.rstrip("\n").split("\t") for line in open(sys.argv[1])) if len(w) > 6}
	least, median, _ = rows["bare"]
	for name, row in rows.items():
	    print(f"{name:8} median {row[1]:8.1f} us  least {row[0]:8.1f} us  {row[1] / median:5.2f} x  {row[0] / least:5.2f} x  {row[2]} failed")
PYTHON
