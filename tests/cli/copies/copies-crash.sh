#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# kill -9 at each system call of an apply and of an undo that changes something. Afterwards `apply` completes it, or `undo` takes it back:
# the project is then exactly as after or as before. On one file system, and on two.
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/copy.sh"
if ! command -v strace >/dev/null; then
	echo "skipped: needs strace"
	exit 77
fi
# A sample by default; all points with BERM_LONG=1.
step=13
[ -z "${CI:-}" ] || step=5
[ -z "${BERM_LONG:-}" ] || step=1

# strace counts the calls of each name separately.
calls="renameat2 renameat fsync mkdirat unlinkat linkat chmod fchmod fchmodat mknodat removexattr fremovexattr"

# prepare: a project and a copy with each kind of change.
prepare() {
	find "$project" -mindepth 1 -delete
	chmod -R u+rwx "$state/undo" "$state/copies" 2>/dev/null
	rm -rf "$state/undo" "$state/copies/default"
	mkdir -p "$project"/{d/e,old/deep,todir}
	(
		cd "$project" || exit
		for i in 1 2 3; do echo "$i" >"m$i"; done
		echo 1 >d/e/f
		echo 1 >old/deep/f
		echo 1 >todir/f
		echo 1 >tofile
		echo 1 >mode
		echo 1 >gone
	)
	sleep 0.02
	in_copy default bash -c 'for i in 1 2 3; do echo "new $i" >"m$i"; done; echo 2 >d/e/f; echo 2 >d/added; rm -r old; rm -r todir; echo 2 >todir
		rm tofile; mkdir tofile; echo 2 >tofile/f; chmod 600 mode; rm gone; mkdir -p new/deep; echo 2 >new/deep/f; rm -r d/e; mkdir d/e; echo 3 >d/e/g'
}

# killed CALL POINT COMMAND...: runs it, killed at that call. Fails if it ended before.
killed() {
	local call=$1 point=$2
	shift 2
	(
		strace -qq -o /dev/null -e trace="$call" -e inject="$call:signal=KILL:when=$point" "$@" >/dev/null 2>&1
		[ $? -eq 137 ]
	) 2>/dev/null
}

is_tree() { cmp -s "$1" <(tree_of "$project"); }

# recover NAME: after a kill both ways lead out.
recover() {
	local name=$1 way=$2
	if [ "$way" = apply ]; then
		run "$BERM" apply
		if is_tree "$scratch/after"; then pass; else fail "$name: apply completes" "$out $err $(diff "$scratch/after" <(tree_of "$project"))"; fi
		run "$BERM" undo
		if is_tree "$scratch/before"; then pass; else fail "$name: and undo takes it back" "$out $err $(diff "$scratch/before" <(tree_of "$project"))"; fi
	else
		run "$BERM" undo
		if is_tree "$scratch/before"; then pass; else fail "$name: undo takes it back" "$out $err $(diff "$scratch/before" <(tree_of "$project"))"; fi
		run "$BERM" apply
		if is_tree "$scratch/after"; then pass; else fail "$name: and apply does it again" "$out $err $(diff "$scratch/after" <(tree_of "$project"))"; fi
	fi
	expect_equal "$name: nothing of berm is left in the project" "" "$(find "$project" -name '.berm*')"
}

attack() {
	local name=$1 call point way=apply points=0 first=1
	prepare
	tree_of "$project" >"$scratch/before"
	"$BERM" apply >/dev/null
	tree_of "$project" >"$scratch/after"
	expect "$name: control: the trees differ" test "$(is_tree "$scratch/before"; echo $?)" = 1
	expect_status "$name: control: undo" 0 "$BERM" undo
	expect "$name: control: as before" is_tree "$scratch/before"
	for call in $calls; do
		for ((point = first; ; point += step)); do
			prepare
			killed "$call" "$point" "$BERM" apply || break
			recover "$name: apply, $call $point" "$way"
			if [ "$way" = apply ]; then way=undo; else way=apply; fi
			points=$((points + 1))
		done
		for ((point = first; ; point += step)); do
			prepare
			"$BERM" apply >/dev/null
			killed "$call" "$point" "$BERM" undo || break
			points=$((points + 1))
			run "$BERM" undo
			if is_tree "$scratch/before"; then pass; else fail "$name: undo, $call $point: a second one completes it" "$out $err $(diff "$scratch/before" <(tree_of "$project"))"; fi
			run "$BERM" apply
			if is_tree "$scratch/after"; then pass; else fail "$name: undo, $call $point: and apply does it again" "$out $err $(diff "$scratch/after" <(tree_of "$project"))"; fi
		done
		first=$((first % step + 1))
	done
	echo "$name: killed at $points points"
	expect "$name: there were several points" test "$points" -ge 8
}

attack "one file system"

# An interrupted apply blocks the apply of another copy, with the way out.
prepare
killed renameat2 6 "$BERM" apply
in_copy second sh -c 'echo 9 >d/nine'
expect_status "another copy waits" 125 "$BERM" apply second
expect_contains "for the interrupted one" "was interrupted" "$err"
expect_status "and the copy itself is not discarded: it may have the only version of a file" 125 "$BERM" discard --yes default
expect_contains "with the way out" "berm undo" "$err"
touch -d '40 days ago' "$state/copies/default"
run "$BERM" state prune --older=30 --yes
expect "nor pruned" test -e "$state/copies/default/upper"
expect_status "undo" 0 "$BERM" undo
expect "as before" is_tree "$scratch/before"
expect_status "then the other one" 0 "$BERM" apply second

# The same with the project on another file system: a tmpfs in a mount namespace of the test's own.
if [ -z "${BERM_CRASH_INNER:-}" ] && [ "$bad" -eq 0 ]; then
	chmod -R u+rwx "$state" 2>/dev/null
	rm -rf "$state/undo" "$state/copies"
	export -f prepare killed is_tree recover attack in_copy copy_begin tree_of expect expect_equal expect_status expect_contains run pass fail
	export project state scratch calls step patience
	unshare --user --map-root-user --mount bash -c '
		mount -t tmpfs -o mode=755 tmpfs "$project" && cd "$project" && mkdir -p "$state/copies" && chmod 700 "$state/copies" || exit 77
		good=0 bad=0
		probe=$(in_copy default true 2>&1) || { echo "no overlay on a tmpfs: $probe"; exit 77; }
		attack "two file systems"
		echo "two file systems: $good held, $bad did not"
		[ "$bad" -eq 0 ] && [ "$good" -gt 10 ]'
	inner=$?
	if [ "$inner" != 77 ]; then
		expect_equal "with the project on another file system" 0 "$inner"
	fi
fi
finish
