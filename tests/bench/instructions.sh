#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# instructions.sh [--update]: instructions that the launcher executes in main() with the stored plan in use, counted by
# callgrind, against tests/bench/instructions.txt; more than 5 % above is a failure. Valgrind knows no clone3, so that what is
# counted ends where the namespaces would be made; the search for the reason of that failure is not counted. The figure holds
# for one compiler, libc and valgrind: with others it is printed and not judged. The home is a scratch directory.
set -euo pipefail

if ! command -v valgrind >/dev/null; then
	echo "valgrind is missing"
	exit 77
fi
# shellcheck source=tests/cli/support/home.sh
. "$(dirname "$0")/../cli/support/home.sh"

: "${BERM:?the path of the program}" "${BERM_SOURCE_DIR:?}"
stored=$BERM_SOURCE_DIR/tests/bench/instructions.txt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/home" "$scratch/project"
set_home "$scratch/home"
cp "$BERM_SOURCE_DIR/tests/bench/instructions.yml" "$scratch/policy.yml"
cd "$scratch/project"
for i in $(seq 60); do
	mkdir "d$i"
	: >"d$i/file"
done
sleep 0.1

# The first of the files that callgrind writes ends where the failure is explained.
count() {
	rm -f "$scratch"/callgrind*
	env -i PATH=/usr/bin:/bin valgrind --tool=callgrind --toggle-collect=main --dump-before=cause_explain \
		--callgrind-out-file="$scratch/callgrind" "$BERM" run --policy="$scratch/policy.yml" -- /bin/true >/dev/null 2>&1 || true
	sed -n 's/^totals: //p' "$scratch/callgrind.1"
}

# The first run makes the state directory, which the plan of the second one has seen.
first=$(count)
count >/dev/null
new=$(count)
again=$(count)
if [ "$new" -ge "$first" ]; then
	echo "the stored plan was not used: $first, then $new instructions"
	exit 1
fi
compiler=$(strings -a "$BERM" | grep -m1 '^GCC: \|clang version' || true)
libc=$(getconf GNU_LIBC_VERSION 2>/dev/null || echo libc)
where="$(uname -m), $(valgrind --version), $libc, $compiler, uid $([ "$(id -u)" -eq 0 ] && echo 0 || echo other)"
echo "$new instructions with the stored plan ($again again), $first without ($where)"
if [ "${1:-}" = --update ]; then
	printf '%s\n%s\n' "$new" "$where" >"$stored"
	exit
fi
if [ ! -e "$stored" ] || [ "$(sed -n 2p "$stored")" != "$where" ]; then
	echo "no figure is stored for these tools"
	exit 77
fi
limit=$(($(sed -n 1p "$stored") * 105 / 100))
if [ "$new" -gt "$limit" ]; then
	echo "more than 5 % above the stored $(sed -n 1p "$stored")"
	exit 1
fi
