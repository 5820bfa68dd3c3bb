#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The memory that berm's own processes (launcher and init) take while a command runs: proportional set size, at most 3 MB.
set -euo pipefail

: "${BERM:?the path of the program}"
limit_kb=3072
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_STATE_HOME=$scratch/state
mkdir "$scratch/project"
cd "$scratch/project"

"$BERM" run -- sleep 300 &
launcher=$!
init=
for _ in $(seq 3000); do
	init=$(cat "/proc/$launcher/task/$launcher/children" 2>/dev/null || true)
	init=${init%% *}
	if [ -n "$init" ] && [ -n "$(cat "/proc/$init/task/$init/children" 2>/dev/null)" ]; then
		break
	fi
	sleep 0.02
done
sleep 0.2

# rollup PID FIELD: in kB
rollup() {
	sed -n "s/^$2: *\([0-9]*\) kB/\1/p" "/proc/$1/smaps_rollup"
}

status=0
sum=0
found=
for pid in "$launcher" "$init"; do
	if ! pss=$(rollup "$pid" Pss 2>/dev/null) || [ -z "$pss" ]; then
		if [ "$pid" = "$init" ] && [ "$(id -u)" != 0 ]; then
			# The launcher's part is judged all the same.
			[ "$sum" -le "$limit_kb" ] || status=1
			if [ "$status" -eq 0 ]; then
				# A reason is the first line that a skipped test prints.
				echo "needs root: init is not dumpable, so that no other user can look at its memory"
				status=77
			fi
		else
			echo "/proc/$pid/smaps_rollup has no Pss"
			status=1
		fi
		break
	fi
	found+="$([ "$pid" = "$launcher" ] && echo launcher || echo init): Pss $pss kB, Rss $(rollup "$pid" Rss) kB"$'\n'
	sum=$((sum + pss))
done
kill "$launcher" 2>/dev/null || true
wait "$launcher" 2>/dev/null || true
printf '%s' "$found"
[ "$status" -eq 0 ] || exit "$status"
echo "together: Pss $sum kB"
[ "$sum" -le "$limit_kb" ]
