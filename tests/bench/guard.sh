#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The cost of the guard: bulk and everyday creations, bare, with `files.guard: repair` and with the guard, taking turns.
#
#   tests/bench/guard.sh [ROUNDS [WORKLOAD...]]
#
# BERM is the program, BERM_BENCH_DIR the directory for the projects (default /var/tmp): its file system is the one that is
# measured. Prints a row for each workload: the median and the least of the bare times, and the ratios of both to them.
set -euo pipefail

rounds=${1:-5}
shift || true
berm=${BERM:?the program}
place=$(mktemp -d "${BERM_BENCH_DIR:-/var/tmp}/berm-guard.XXXXXX")
trap 'rm -rf "$place"' EXIT
unset GIT_DIR
# Another XDG_STATE_HOME would leave plans and the index of the project uncached.
unset XDG_STATE_HOME
export HOME=$place/home LC_ALL=C
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@example.org GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@example.org
mkdir -p "$HOME" "$place/small" "$place/large"
printf 'version: 1\nfiles: {guard: repair}\n' >"$place/repair.yml"
printf 'version: 1\nfiles: {guard: strict}\n' >"$place/strict.yml"

# run MODE COMMAND...
run() {
	local mode=$1
	shift
	case $mode in
	bare) "$@" ;;
	*) "$berm" run --policy="$place/$mode.yml" --env=GIT_AUTHOR_NAME=n --env=GIT_AUTHOR_EMAIL=n@example.org \
		--env=GIT_COMMITTER_NAME=n --env=GIT_COMMITTER_EMAIL=n@example.org -- "$@" ;;
	esac
}

# measure NAME PREPARE COMMAND...: PREPARE is a shell command that is not measured.
measure() {
	local name=$1 prepare=$2 mode round start end
	shift 2
	[ ${#only[@]} -eq 0 ] || [[ " ${only[*]} " == *" ${name%% *} "* ]] || return 0
	: >"$place/times"
	for round in $(seq 0 "$rounds"); do
		for mode in bare repair strict; do
			bash -c "$prepare" >/dev/null 2>&1 || true
			sync -f . || true
			start=$EPOCHREALTIME
			run "$mode" "$@" >"$place/out" 2>&1 || {
				echo "tests/bench/guard.sh: $name, $mode: $(head -n 3 "$place/out")" >&2
				return 0
			}
			end=$EPOCHREALTIME
			# The first round warms up.
			[ "$round" -eq 0 ] || printf '%s %s\n' "$mode" "$((${end/./} - ${start/./}))" >>"$place/times"
		done
	done
	python3 - "$name" "$place/times" <<-'END'
	import sys, statistics
	times = {}
	for line in open(sys.argv[2]):
	    mode, value = line.split()
	    times.setdefault(mode, []).append(int(value) / 1000)
	def both(mode):
	    m, l = statistics.median(times[mode]), min(times[mode])
	    return m, l
	bm, bl = both("bare")
	row = [sys.argv[1], "%.0f (%.0f) ms" % (bm, bl)]
	for mode in ("repair", "strict"):
	    m, l = both(mode)
	    row.append("%.2f (%.2f)" % (m / bm, l / bl))
	rm, rl = both("repair")
	m, l = both("strict")
	row.append("%.2f (%.2f)" % (m / rm, l / rl))
	row.append(str(len(times["bare"])))
	print("| " + " | ".join(row) + " |", flush=True)
	END
}

only=("$@")
# 20,000 files in 400 directories, and the same in a repository and in an archive.
cd "$place/large"
mkdir "$place/tree"
(cd "$place/tree" && seq -f d%.0f 400 | xargs mkdir && awk 'BEGIN { for (i = 0; i < 20000; i++) { f = "d" i % 400 + 1 "/f" i; print i > f; close(f) } }')
tar -C "$place/tree" -cf tree.tar .
cp -r "$place/tree" tree
git init -q repository
cp -r "$place/tree/." repository/
(cd repository && git add -A && git commit -qm files)
cd "$place/small"
mkdir c
for i in $(seq 40); do
	printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint f%d(int x) { char b[64]; snprintf(b, 64, "%%d", x); return atoi(b) + %d; }\n' "$i" "$i" >"c/f$i.c"
done
{
	printf 'OBJECTS = '
	for i in $(seq 40); do printf 'f%d.o ' "$i"; done
	# shellcheck disable=SC2016 # for make
	printf '\nall: $(OBJECTS)\n.PHONY: all\n'
} >c/Makefile
mkdir -p npm/packages npm/modules
for i in $(seq 10); do
	mkdir -p "npm/packages/p$i/package"
	printf '{"name": "p%d", "version": "1.0.0"}' "$i" >"npm/packages/p$i/package/package.json"
	for k in $(seq 50); do echo "module.exports = $k" >"npm/packages/p$i/package/f$k.js"; done
	tar -C "npm/packages/p$i" -czf "npm/packages/p$i.tgz" package
done
{
	printf '{"name": "bench", "version": "1.0.0", "dependencies": {'
	for i in $(seq 10); do
		[ "$i" -eq 1 ] || printf ', '
		printf '"p%d": "file:../packages/p%d.tgz"' "$i" "$i"
	done
	printf '}}\n'
} >npm/modules/package.json

printf '| workload | bare, median (least) | repair | guard | guard to repair | samples |\n|---|---|---|---|---|---|\n'
directories='mkdir -p into && cd into && seq -f d%.0f 400 | xargs mkdir -p'
measure "launch of true" true /bin/true
measure "build of 40 C files" true /usr/bin/make -C c -s -B -j2 all
if command -v npm >/dev/null; then
	measure "npm-install of 10 packages" 'rm -rf npm/modules/node_modules npm/modules/package-lock.json' \
		/bin/sh -c 'cd npm/modules && npm install --offline --no-audit --no-fund --silent'
fi
measure "venv of python3" 'rm -rf venv' /usr/bin/python3 -m venv venv
# shellcheck disable=SC2016 # for the inner shell
measure "commits, ten" 'rm -rf few && git init -q few' \
	/bin/sh -c 'cd few && for i in 1 2 3 4 5 6 7 8 9 10; do echo $i >f$i && git add . && git commit -qm $i; done'
cd "$place/large"
measure "grep of 20,000 files" true /bin/sh -c 'grep -r nothing tree || true'
measure "clone of 20,000 files" 'rm -rf clone' /usr/bin/git clone -q repository clone
measure "checkout into existing directories" "rm -rf repository/d*/* && cd repository && seq -f d%.0f 400 | xargs mkdir -p" \
	/usr/bin/git -C repository checkout -q .
measure "checkout-empty into an empty work tree" "rm -rf repository/d*" /usr/bin/git -C repository checkout -q .
measure "tar of 20,000 files into existing directories" "rm -rf into; $directories" /bin/tar -C into -xf tree.tar
measure "tar-new of 20,000 files into a new directory" 'rm -rf into && mkdir into' /bin/tar -C into -xf tree.tar
measure "cp of 20,000 files into existing directories" "rm -rf into; $directories" /bin/cp -r tree/. into
measure "cp-new of 20,000 files into a new directory" 'rm -rf into' /bin/cp -r tree into
