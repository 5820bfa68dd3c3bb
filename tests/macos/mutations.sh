#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The model detects mistakes of a generator: each mistake in a correct profile makes the comparison fail.
. "$(dirname "$0")/model/lib.sh"

# A mistake shows only where a random policy has what it concerns, so each gets several seeds.
seeds="3 4 5 6"
for seed in $seeds; do
	cases random "$seed" 2000 >"$scratch/right-$seed"
	model compare <"$scratch/right-$seed"
done

# noticed MISTAKE: by a verdict, not only by lint. Broken quoting cannot be parsed at all.
noticed() {
	for seed in $seeds; do
		cases random "$seed" 2000 "$1" >"$scratch/wrong"
		if ! cmp -s "$scratch/right-$seed" "$scratch/wrong" && ! model compare <"$scratch/wrong" >"$scratch/log" 2>&1 &&
			{ [ "$1" = broken-quoting ] || grep -q 'but check says\|documented' "$scratch/log"; }; then
			return 0
		fi
	done
	return 1
}

for mistake in drop-deny drop-protect drop-inner drop-ancestors drop-below drop-order drop-exceptions drop-software swap-order \
	wrong-level wrong-level-deny no-folding broken-quoting; do
	if ! noticed "$mistake"; then
		echo "$mistake is not noticed"
		exit 1
	fi
done
echo "every mistake is noticed"

if cases hostile broken-quoting | model compare >/dev/null 2>&1; then
	echo "unquoted hostile names are not noticed"
	exit 1
fi
