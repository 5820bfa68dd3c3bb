#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The cost of a joined command: /bin/true bare, cold and in a session, taking turns.
#
#   tests/bench/sessions.sh [RUNS]
#
# BERM is the program, BENCH_LAUNCH the path of bench_launch. Prints the median and the least time of each, and the ratio to bare.
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
move_home
: "${BENCH_LAUNCH:?the path of bench_launch}" "${scratch:?}"
trap 'timeout 20 "$BERM" session stop --all >/dev/null 2>&1; clean_up' EXIT

git init -q .
for i in $(seq 90); do
	mkdir "d$i"
	for k in $(seq 10); do : >"d$i/f$k"; done
done
for i in $(seq 10); do echo secret >"d$i/.env"; done
"$BERM" session start || exit 1
"$BENCH_LAUNCH" --runs="${1:-200}" --warm-up=10 @bare /bin/true @cold "$BERM" run -- /bin/true \
	@joined "$BERM" session exec -- /bin/true >"$scratch/times" </dev/null
python3 - "$scratch/times" <<-'PYTHON'
	import sys
	# Section, name, runs, least, median, 99th percentile, mean, failures.
	rows = {w[1]: (float(w[3]), float(w[4]), w[-1]) for w in (line.rstrip("\n").split("\t") for line in open(sys.argv[1])) if len(w) > 6}
	least, median, _ = rows["bare"]
	for name, row in rows.items():
	    print(f"{name:8} median {row[1]:8.1f} us  least {row[0]:8.1f} us  {row[1] / median:5.2f} x  {row[0] / least:5.2f} x  {row[2]} failed")
PYTHON
