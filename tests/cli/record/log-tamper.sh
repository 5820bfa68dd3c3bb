#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm log verify` finds each change of a record, and each removal; what it cannot find, it states.
. "$(dirname "$0")/../support/lib.sh"
log=$XDG_STATE_HOME/berm/log
for i in 1 2 3 4; do
	run "$BERM" run -- sh -c "mkdir .vscode; exit $i"
done
cp -a "$log" "$scratch/whole"
files=("$log"/*/*.ndjson)
victim=${files[1]}
restore() { rm -rf "$log" && cp -a "$scratch/whole" "$log"; }

expect_status "control: whole" 0 "$BERM" log verify
expect_equal "control: three lines each" 3 "$(wc -l <"$victim")"

# tampered NAME COMMAND...: after the command the chain is broken; `verify RUN` and the other implementation agree.
tampered() {
	local name=$1
	shift
	"$@"
	expect_status "$name" 1 "$BERM" log verify
	expect_contains "$name: in words" broken "$out"
	restore
	expect_status "$name: restored" 0 "$BERM" log verify
}
one_byte() { python3 - "$victim" "$1" <<'END'
import sys
with open(sys.argv[1], "r+b") as file:
    lines = file.read().split(b"\n")
    at = sum(len(l) + 1 for l in lines[:int(sys.argv[2])]) + lines[int(sys.argv[2])].index(b'"mono":') + 9
    file.seek(at)
    old = file.read(1)
    file.seek(at)
    file.write(b"1" if old != b"1" else b"2")
END
}
for line in 0 1 2; do
	tampered "one byte of line $line" one_byte "$line"
done
tampered "the first line removed" sed -i 1d "$victim"
tampered "a line removed" sed -i 2d "$victim"
tampered "the last line removed" sed -i '$d' "$victim"
tampered "two lines swapped" sed -i '2{h;d};3{G}' "$victim"
tampered "the tail cut" truncate -s -5 "$victim"
tampered "a line added" sed -i '$p' "$victim"
tampered "emptied" truncate -s 0 "$victim"
tampered "a run removed" rm "$victim"
tampered "the last run removed" rm "${files[-1]}"
tampered "a run renamed" mv "$victim" "${victim%????????.ndjson}00000000.ndjson"
tampered "a line of the ledger removed" sed -i 2d "$log/HEAD"
tampered "a line of the ledger changed" sed -i '2s/"seq":2/"seq":1/' "$log/HEAD"
tampered "a run and its line of the ledger removed" sh -c 'rm "$1"; sed -i 2d "$2"' sh "$victim" "$log/HEAD"
tampered "the ledger removed" rm "$log/HEAD"
one_byte 1
expect_status "one run is verified alone" 1 "$BERM" log verify "$(basename "$victim" .ndjson)"
expect_status "another one is valid" 0 "$BERM" log verify "$(basename "${files[2]}" .ndjson)"
restore

# Stated, and so: the newest run with its line of the ledger leaves no trace.
rm "${files[-1]}" && sed -i '$d' "$log/HEAD"
expect_status "the newest run and its line: not found" 0 "$BERM" log verify
restore

# A directory that was replaced is refused, not followed; the run goes on and reports it.
mv "$log" "$scratch/elsewhere" && ln -s "$scratch/elsewhere" "$log"
before=$(find "$scratch/elsewhere" -type f | wc -l)
expect_status "a symlink in place of the log: the run goes on" 0 "$BERM" run -- true
expect_contains "and berm says so" "symbolic link" "$err"
expect_equal "nothing was written there" "$before" "$(find "$scratch/elsewhere" -type f | wc -l)"
expect_status "verify refuses" 125 "$BERM" log verify
mkdir -p "$XDG_CONFIG_HOME/berm"
printf 'version: 1\nrequire: {audit: enforced}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
expect_status "required: nothing runs" 125 "$BERM" run -- touch ran
expect "it did not" test ! -e ran
expect_contains "with the reason" "audit: enforced" "$err"
rm "$log" && mv "$scratch/elsewhere" "$log"
expect_status "control: required and possible" 0 "$BERM" run -- touch ran
expect_contains "plan: the level" "enforced" "$("$BERM" plan | grep '^  audit')"
chmod 777 "$log"
expect_status "a log that others can write is refused" 125 "$BERM" run -- true
chmod 700 "$log"
rm "$XDG_CONFIG_HOME/berm/berm.yml"

# A file in place of the month's directory.
mv "$log" "$scratch/whole-again" && mkdir -m 700 "$log" && ln -s /etc "$log/$(date -u +%Y-%m)"
expect_status "a symlink in place of the month: the run goes on" 0 "$BERM" run -- true
expect_contains "with a line" "symbolic link" "$err"

# Keys of the policy.
printf 'version: 1\naudit: {keep: 1d}\n' >berm.yml
expect_status "a project cannot shorten audit.keep" 125 "$BERM" run -- true
printf 'version: 1\naudit: {exec: true}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
rm berm.yml
expect_status "audit.exec is not yet supported" 125 "$BERM" run -- true
finish
