#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The hardening of the program: position independent, no executable stack, relocated data read-only. The last is checked in a running
# launcher, because a static program has to do it itself.
. "$(dirname "$0")/../support/lib.sh"

command -v readelf >/dev/null || { echo "readelf is needed"; exit 77; }
expect_contains "it can lie anywhere" "DYN" "$(readelf -hW "$BERM" | grep Type:)"
expect_contains "no stack that runs" " RW " "$(readelf -lW "$BERM" | grep GNU_STACK)"
expect_equal "no part is both written and run" "" "$(readelf -lW "$BERM" | grep 'LOAD.* RWE ')"

"$BERM" run -- sh -c 'echo >here; sleep 30' &
launcher=$!
expect "it runs" until_true test -e here
cp "/proc/$launcher/maps" "$scratch/maps"
kill "$launcher"
wait "$launcher" 2>/dev/null
writable=$(/usr/bin/python3 - "$scratch/maps" "$BERM" <(readelf -lW "$BERM") <<-'END'
	import os, re, sys
	maps, program, segments = sys.argv[1:]
	program = os.path.realpath(program)
	base = None
	found = "no mapping"
	relro = next(line.split() for line in open(segments) if "GNU_RELRO" in line)
	begin, end = int(relro[2], 16), int(relro[2], 16) + int(relro[5], 16)
	for line in open(maps):
	    part = line.split()
	    if len(part) < 6 or os.path.realpath(part[5]) != program:
	        continue
	    low, high = (int(n, 16) for n in part[0].split("-"))
	    base = low if base is None else base
	    if low - base < end // 4096 * 4096 and high - base > begin // 4096 * 4096:
	        found = part[1]
	        if "w" in found:
	            break
	print(found)
END
)
expect_equal "what was relocated is read-only" "r--p" "$writable"
finish
