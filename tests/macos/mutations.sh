#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The model notices what a wrong generator would do: each mistake, made on a profile that is right, makes the comparison fail.
. "$(dirname "$0")/model/lib.sh"

cases random 1 2000 >"$scratch/right"
model compare <"$scratch/right"

for mistake in drop-deny drop-protect drop-inner drop-ancestors drop-below drop-order drop-exceptions drop-software swap-order \
	wrong-level wrong-level-deny no-folding broken-quoting; do
	cases random 1 2000 "$mistake" >"$scratch/wrong"
	if cmp -s "$scratch/right" "$scratch/wrong"; then
		echo "$mistake changes nothing"
		exit 1
	fi
	if model compare <"$scratch/wrong" >"$scratch/log" 2>&1; then
		echo "$mistake is not noticed"
		exit 1
	fi
	# By its verdicts, not only by how it reads; what cannot be read at all is noticed too.
	case $mistake in
	broken-quoting) ;;
	*) grep -q 'but check says\|documented' "$scratch/log" ;;
	esac
done
echo "every mistake is noticed"

if cases hostile broken-quoting | model compare >/dev/null 2>&1; then
	echo "unquoted hostile names are not noticed"
	exit 1
fi
