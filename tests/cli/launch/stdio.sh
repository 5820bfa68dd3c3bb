#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Standard input, output and errors, and other descriptors: nothing lost, nothing eaten, nothing added.
. "$(dirname "$0")/../support/lib.sh"

# Records which of 0, 1, 2 are open in the command; in a file, because there may be no output.
probe='open=; for n in 0 1 2; do [ -e /proc/$$/fd/$n ] && open=$open$n; done; echo "open: $open" >result; exit 4'

# closed DIGITS COMMAND...: with these descriptors closed.
closed() {
	local digits=$1
	shift
	(
		case $digits in *0*) exec <&- ;; esac
		case $digits in *1*) exec >&- ;; esac
		case $digits in *2*) exec 2>&- ;; esac
		exec "$@"
	)
}

for digits in '' 0 1 2 01 02 12 012; do
	rm -f result
	closed "$digits" sh -c "$probe"
	bare="$? $(cat result)"
	rm -f result
	closed "$digits" "$BERM" run -- sh -c "$probe"
	expect_equal "descriptors ${digits:-none} closed in the caller" "$bare" "$? $(cat result)"
done
expect_equal "the control: closed ones can be seen" "4 open: " "$bare"
closed 0 cat 2>"$scratch/bare" >/dev/null
closed 0 "$BERM" run -- cat 2>"$scratch/inside" >/dev/null
expect "cat complains in the same words" cmp "$scratch/bare" "$scratch/inside"
# The placeholder that berm needs is not what the command writes to.
closed 1 "$BERM" run -- sh -c 'echo lost' 2>/dev/null
expect_equal "writing to a closed output is an error" "$(closed 1 sh -c 'echo lost' 2>/dev/null; echo $?)" "$(closed 1 "$BERM" run -- sh -c 'echo lost' 2>/dev/null; echo $?)"
expect_status "a refusal with everything closed" 125 closed 012 "$BERM" run --nonsense

# stdin: bytes that the command does not read stay for the next reader.
take='read -r x; echo "took $x"'
printf 'one\ntwo\nthree\n' >lines
expect_equal "the control: a shell reads one line of a pipe" "took one two three" "$(cat lines | (sh -c "$take"; cat) | xargs)"
expect_equal "berm eats nothing of a pipe" "took one two three" "$(cat lines | ("$BERM" run -- sh -c "$take"; cat) | xargs)"
expect_equal "nor of a file" "took one two three" "$( ("$BERM" run -- sh -c "$take"; cat) <lines | xargs)"
expect_equal "nor with a command that reads nothing" "one two three" "$(cat lines | ("$BERM" run -- true; cat) | xargs)"
coproc "$BERM" run -- cat
answers=
for word in first second third; do
	echo "$word" >&"${COPROC[1]}"
	read -r -t 5 answer <&"${COPROC[0]}" || answer=nothing
	answers="$answers $answer"
done
cat_pid=$COPROC_PID
eval "exec ${COPROC[1]}>&-"
wait "$cat_pid"
expect_equal "input streams line by line" " first second third" "$answers"

# Ten megabytes of every byte, both ways.
head -c 10000000 /dev/urandom >random
wanted=$(cksum <random)
expect_equal "10 MB of output" "$wanted" "$("$BERM" run -- cat random | cksum)"
expect_equal "10 MB through" "$wanted" "$("$BERM" run -- cat <random | cksum)"
expect_equal "10 MB through two pipes" "$wanted" "$(cat random | "$BERM" -c 'cat | cat' | cat | cksum)"
"$BERM" run -- sh -c 'cat random >&2' 2>"$scratch/errors"
expect_equal "10 MB of errors" "$wanted" "$(cksum <"$scratch/errors")"

# Output and errors stay apart and in order.
same "both outputs" sh -c 'echo out; echo err >&2; echo out; exit 2'
expect_equal "in order on one descriptor" "1 2 3 4" "$("$BERM" run -- sh -c 'echo 1; echo 2 >&2; echo 3; echo 4 >&2' 2>&1 | xargs)"
echo kept >append
"$BERM" run -- echo more >>append
expect_equal "appending" "kept more" "$(xargs <append)"
expect_status "a full device: the control" 1 sh -c 'echo x >/dev/full'
expect_equal "a full device" 1 "$("$BERM" run -- sh -c 'echo x' >/dev/full 2>/dev/null; echo $?)"

# Other descriptors are closed, but for those that are named.
list='ls /proc/self/fd | xargs'
echo seven >file7
echo nine >file9
run_with_descriptors() {
	"$@" 5<file9 7<file7 9<file9 200<file9
}
expect "the control: they are inherited" test "$(run_with_descriptors sh -c 'cat <&9')" = nine
expect_output "closed inside" "0 1 2 3" run_with_descriptors "$BERM" run -- sh -c "$list"
expect_output "one passes" "0 1 2 3 7" run_with_descriptors "$BERM" run --pass-fd=7 -- sh -c "$list"
expect_output "with its content" seven run_with_descriptors "$BERM" run --pass-fd=7 -- sh -c 'cat <&7'
expect_output "several pass, in any order" "0 1 2 200 3 5 9" run_with_descriptors "$BERM" run --pass-fd=200 --pass-fd=5 --pass-fd=9 -- bash -c "$list"
expect_output "a high one" nine run_with_descriptors "$BERM" run --pass-fd=200 -- bash -c 'cat <&200'
expect_output "berm -c passes none" "0 1 2 3" run_with_descriptors "$BERM" -c "$list"

finish
