#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The model gives the verdicts that were recorded on a Mac. Control: a wrong verdict is noticed.
. "$(dirname "$0")/model/lib.sh"

model recorded <"$here/model/recorded.txt"
sed '0,/^QUERY allow/s//QUERY deny/' "$here/model/recorded.txt" >"$scratch/wrong"
if model recorded <"$scratch/wrong" >/dev/null; then
	echo "a wrong verdict is not noticed"
	exit 1
fi
