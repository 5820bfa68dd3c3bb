#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A directory with a hidden file moves after it was found and before it is hidden. The launch is done again, and the command does not
# notice. Where something moves every time, the run is refused and nothing has run.
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hold.sh"

secret=moving-secret-$$

# put_back: one hidden file, in the directory d.
put_back() {
	rm -rf d e
	mkdir d
	echo "$secret" >d/.env
}

# inits: how many processes have made a sandbox so far.
inits() {
	grep -s 'unshare(' "$scratch/trace" | cut -d' ' -f1 | sort -u | wc -l
}

has_inits() {
	[ "$(inits)" -ge "$1" ] || is_over
}

# slow SECONDS COMMAND...: as hold, but each init is let go on after that time.
slow() {
	local seconds=$1
	shift
	rm -f "$scratch/trace"
	strace -DD -qq -f -o "$scratch/trace" -e trace=unshare -e "inject=unshare:delay_enter=${seconds}000000:when=1" "$@" >"$scratch/out" 2>&1 &
	launcher=$!
	until_true has_inits 1
}

put_back
expect_output "control: the file can be read outside" "$secret" cat d/.env
expect_status "control: it is hidden" 1 "$BERM" run -- cat d/.env

# The launcher has found the file when it waits for init. A machine that is too slow for the first delay gets a longer one.
for delay in 1 2 4 8 16; do
	put_back
	slow "$delay" "$BERM" run -- sh -c 'cat d/.env e/.env; echo ran'
	settle
	mv d e
	reap
	status=$?
	if [ "$status" != 0 ] || [ "$(inits)" -ge 2 ]; then
		break
	fi
done
expect "a file moved before it was hidden: tried again" test "$(inits)" -ge 2
expect_equal "the command has run" "0 ran" "$status $(grep -x ran "$scratch/out")"
expect_equal "once" 1 "$(grep -cx ran "$scratch/out")"
expect_equal "the file is hidden where it is now" "" "$(grep "$secret" "$scratch/out")"
expect_equal "the launcher says nothing" "" "$(grep '^berm:' "$scratch/out")"

# Every time anew: it is given up.
for delay in 1 2 4 8 16; do
	put_back
	slow "$delay" "$BERM" run -- sh -c 'cat d/.env e/.env; echo ran'
	count=1
	while ! is_over; do
		settle
		if [ -d d ]; then mv d e; else mv e d; fi
		count=$((count + 1))
		until_true has_inits "$count"
	done
	reap
	status=$?
	if [ "$status" != 0 ]; then
		break
	fi
done
expect_equal "a file that moves every time: refused" 125 "$status"
expect "after more than one attempt" test "$(inits)" -ge 2
expect_equal "nothing has run" "" "$(grep -x ran "$scratch/out")"
expect_equal "nothing was read" "" "$(grep "$secret" "$scratch/out")"

finish
