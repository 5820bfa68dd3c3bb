#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The bars of a launch that many names make slower: 200 symlinked directories and 50 repositories at most 5 ms more than plain
# directories, 5,000 hidden names at most 150 ms; with an earlier program a launch at most 1.05 times as long as its.
#
#   tests/bench/many.sh [RUNS]
#
# BERM is the program, BENCH_LAUNCH is bench_launch, BERM_BEFORE an earlier program (optional), BERM_BENCH_DIR the directory for
# the projects (default /var/tmp). Prints CPU time, which other programs disturb little, and time by the clock, both as median
# (least) in milliseconds, with the load. Only the clock decides about a bar of milliseconds, and only on an idle machine.
set -euo pipefail

runs=${1:-30}
: "${BERM:?the program}" "${BENCH_LAUNCH:?the path of bench_launch}"
command -v git >/dev/null || { echo "git is missing"; exit 77; }
here=$(dirname "$0")
# shellcheck source=tests/bench/projects.sh
. "$here/projects.sh"
# shellcheck source=tests/cli/support/home.sh
. "$here/../cli/support/home.sh"
scratch=$(mktemp -d "${BERM_BENCH_DIR:-/var/tmp}/berm-many.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/home" "$scratch/small" "$scratch/plain" "$scratch/linked" "$scratch/secrets"
# A cached plan needs a home in the password database.
set_home "$scratch/home"
export HOME=$scratch/home
unset XDG_STATE_HOME XDG_CONFIG_HOME
tree "$scratch/small" 60 500
linked "$scratch/plain"
linked "$scratch/linked" with-repositories
secrets "$scratch/secrets" 5000

# sample PROJECT RUNS OPTION... -- PROGRAM...: lines of bench_launch, one per program.
sample() {
	local project=$1 count=$2 words=() options=()
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	for program; do
		words+=("@$program" "$program" run -- /bin/true)
	done
	(cd "$scratch/$project" && "$BENCH_LAUNCH" "--runs=$count" --warm-up=3 "${options[@]}" "${words[@]}")
}

# field LINES PROGRAM COLUMN: 4 is the least, 5 the median, in milliseconds.
field() {
	awk -F'\t' -v program="$2" -v column="$3" '$2 == program { printf "%.2f", $column / 1000 }' <<<"$1"
}

# show NAME CPU-LINES CLOCK-LINES PROGRAM
show() {
	printf '%-40s CPU %8s (%s)  clock %8s (%s)\n' "$1" "$(field "$2" "$4" 5)" "$(field "$2" "$4" 4)" "$(field "$3" "$4" 5)" \
		"$(field "$3" "$4" 4)"
}

# bar NAME VALUE LIMIT
bar() {
	awk -v name="$1" -v value="$2" -v limit="$3" 'BEGIN {
		printf "%-40s %.2f, at most %s: %s\n", name, value, limit, value <= limit + 0 ? "reached" : "not reached"
	}'
}

echo "load $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) CPUs, $(id -un), milliseconds: median (least)"
programs=("$BERM" ${BERM_BEFORE:+"$BERM_BEFORE"})
cpu=$(sample small "$runs" --cpu -- "${programs[@]}")
clock=$(sample small "$runs" -- "${programs[@]}")
show "500 files" "$cpu" "$clock" "$BERM"
if [ -n "${BERM_BEFORE:-}" ]; then
	show "the same, the earlier program" "$cpu" "$clock" "$BERM_BEFORE"
	bar "ratio, CPU time" "$(awk "BEGIN { print $(field "$cpu" "$BERM" 5) / $(field "$cpu" "$BERM_BEFORE" 5) }")" 1.05
	bar "ratio, clock" "$(awk "BEGIN { print $(field "$clock" "$BERM" 5) / $(field "$clock" "$BERM_BEFORE" 5) }")" 1.05
fi
plain_cpu=$(sample plain "$runs" --cpu -- "$BERM")
plain=$(sample plain "$runs" -- "$BERM")
show "250 more directories" "$plain_cpu" "$plain" "$BERM"
cpu=$(sample linked "$runs" --cpu -- "$BERM")
clock=$(sample linked "$runs" -- "$BERM")
show "200 behind links, 50 repositories" "$cpu" "$clock" "$BERM"
bar "more, CPU time" "$(awk "BEGIN { print $(field "$cpu" "$BERM" 5) - $(field "$plain_cpu" "$BERM" 5) }")" 5
bar "more, clock" "$(awk "BEGIN { print $(field "$clock" "$BERM" 5) - $(field "$plain" "$BERM" 5) }")" 5
cpu=$(sample secrets $((runs / 5 + 2)) --cpu -- "$BERM")
clock=$(sample secrets $((runs / 5 + 2)) -- "$BERM")
show "5,000 hidden names" "$cpu" "$clock" "$BERM"
bar "5,000 hidden names, clock" "$(field "$clock" "$BERM" 5)" 150
echo "load $(cut -d' ' -f1-3 /proc/loadavg) at the end"
