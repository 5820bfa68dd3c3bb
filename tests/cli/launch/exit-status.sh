#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Exit statuses: the command's own, signals, what could not be executed, and what berm refused.
. "$(dirname "$0")/../support/lib.sh"

wrong=
for ((code = 0; code < 256; code++)); do
	got=0
	"$BERM" run -- sh -c "exit $code" || got=$?
	[ "$got" = "$code" ] || wrong="$wrong $code:$got"
done
expect_equal "exit codes 0 to 255" "" "$wrong"

# Every signal whose default ends a process, core dumps included.
for name in HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT XCPU XFSZ VTALRM PROF IO PWR SYS RTMIN RTMAX; do
	number=$(kill -l "$name")
	run sh -c "sh -c 'kill -$number \$\$'; exit \$?"
	expect_equal "SIG$name: the control" $((128 + number)) "$status"
	expect_status "SIG$name ends the command" $((128 + number)) "$BERM" run -- sh -c "kill -$number \$\$"
	expect_equal "SIG$name: nothing is said" "" "$err"
done
for name in CHLD CONT URG WINCH; do
	expect_output "SIG$name does not" alive "$BERM" run -- bash -c "kill -$name \$\$; echo alive"
done

# 127: there is no such thing.
expect_status "missing command" 127 "$BERM" run -- no-such-command-anywhere
expect_contains "missing command in words" "no-such-command-anywhere: command not found" "$err"
expect_status "missing path" 127 "$BERM" run -- ./no/such/path
expect_status "empty name" 127 "$BERM" run -- ''
expect_status "missing in a shell line" 127 "$BERM" -c no-such-command-anywhere
printf '#!/no/such/interpreter\n' >broken
chmod +x broken
expect_status "missing interpreter: the control" 127 bash -c ./broken
expect_status "missing interpreter" 127 "$BERM" run -- ./broken
expect_contains "missing interpreter in words" interpreter "$err"
mkdir "$scratch/elsewhere"
printf '#!/bin/sh\necho outside\n' >"$scratch/elsewhere/tool"
chmod +x "$scratch/elsewhere/tool"
expect_output "a program outside the view: the control" outside "$scratch/elsewhere/tool"
expect_status "a program outside the view" 127 "$BERM" run -- "$scratch/elsewhere/tool"
expect_contains "a program outside the view: what to do" --allow-read= "$err"
expect_output "a program that is let in" outside "$BERM" run --allow-read="$scratch/elsewhere" -- "$scratch/elsewhere/tool"

# 126: it is there and cannot be executed.
echo 'echo plain' >plain
expect_status "not executable: the control" 126 bash -c ./plain
expect_status "not executable" 126 "$BERM" run -- ./plain
expect_contains "not executable in words" "cannot execute ./plain" "$err"
expect_status "a directory" 126 "$BERM" run -- /usr
expect_status "a directory in the project" 126 "$BERM" run -- .
chmod +x plain
echo 'echo "$0 $1"; exit 3' >nolang
chmod +x nolang
expect_status "a script without a first line: the control" 3 bash -c './nolang x'
expect_status "a script without a first line" 3 "$BERM" run -- ./nolang 'a b'
expect_equal "its arguments" "./nolang a b" "$out"
expect_status "found by PATH it is still a script" 3 "$BERM" run --env="PATH=$PATH:$project" -- nolang x
PATH=$PATH:$project expect_status "in a directory that the command can write: the control" 3 nolang x
PATH=$PATH:$project expect_status "the caller's PATH leads into the project as without berm" 3 "$BERM" run -- nolang x
PATH=$PATH:. expect_status "but not by a relative name" 127 "$BERM" run -- nolang x

# 125: nothing ran.
refused() {
	local name=$1 part=$2
	shift 2
	expect_status "$name" 125 "$@"
	expect_contains "$name in words" "$part" "$err"
	expect_equal "$name: nothing on stdout" "" "$out"
}
refused "bad option" '`--allow-read`' "$BERM" run --alow-read=x -- touch ran
refused "option without its value" --project=DIR "$BERM" run --project
refused "no command" "no command" "$BERM" run
refused "no command after --" "no command" "$BERM" run --
refused "-c without a line" "-c needs" "$BERM" -c
refused "unknown subcommand" '`berm run`' "$BERM" rnu
refused "a command without run" "berm run -- ls" "$BERM" ls
refused "nothing at all" "berm run" "$BERM"
refused "missing policy" no.yml "$BERM" run --policy=no.yml -- touch ran
echo 'version: 2' >bad.yml
refused "bad policy" bad.yml:1:10 "$BERM" run --policy=bad.yml -- touch ran
refused "bad destination in an option" "command line" "$BERM" run --allow-net=http://x -- touch ran
refused "descriptor that is not open" "not open" "$BERM" run --pass-fd=77 -- touch ran
refused "project that is none" --project "$BERM" run --project=/no/such -- touch ran
refused "the home as a project" "your home" "$BERM" run --project="$(getent passwd "$(id -u)" | cut -d: -f6)" -- touch ran
refused "the root as a project" "/ cannot be" "$BERM" run --project=/ -- touch ran
expect "and nothing ran" test ! -e ran

finish
