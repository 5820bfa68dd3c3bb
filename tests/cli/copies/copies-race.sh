#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A second process swaps a directory of the project for a symlink that leads out, again and again, while copies are applied: nothing
# outside changes. Then a full disk: an apply is complete or has no effect.
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/copy.sh"
if ! command -v python3 >/dev/null; then
	echo "skipped: needs python3"
	exit 77
fi
rounds=25
least=100
[ -z "${CI:-}" ] || rounds=60
[ -z "${BERM_LONG:-}" ] || { rounds=400; least=10000; }

echo "version: 1" >berm.yml
mkdir "$scratch/outside"
echo secret >"$scratch/outside/f"
echo secret >"$scratch/outside/g"

# Swaps `d` and a symlink, by an atomic exchange, until it is killed; counts the swaps. There are at least 10,000 with BERM_LONG=1.
swap() {
	exec python3 - "$project" "$scratch/outside" "$scratch/swaps" <<'PYTHON'
import ctypes, os, sys
project, outside, counter = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
os.chdir(project)
if not os.path.lexists("swap"):
    os.symlink(outside, "swap")
swaps = 0
print("ready", flush=True)
while True:
    for _ in range(20):
        libc.renameat2(-100, b"d", -100, b"swap", 2)
        swaps += 1
    with open(counter + ".new", "w") as out:
        out.write(str(swaps))
    os.rename(counter + ".new", counter)
PYTHON
}

# An apply that was not taken back keeps its copy: both go.
forget() {
	chmod -R u+rwx "$state/undo" "$state/copies" 2>/dev/null
	rm -rf "$state/undo" "$state"/copies/*
}

# Control: a program that follows names is led out.
mkdir d
swap >"$scratch/ready" 2>&1 &
swapper=$!
until_true grep -q ready "$scratch/ready"
led_out() {
	for _ in $(seq 200); do
		echo x 2>/dev/null >d/control
		[ ! -e "$scratch/outside/control" ] || return 0
	done
	return 1
}
expect "control: writing by name is led out" until_true led_out
kill "$swapper"
wait "$swapper" 2>/dev/null
rm -f "$scratch/outside/control"
find . -mindepth 1 ! -name berm.yml -delete
tree_of "$scratch/outside" >"$scratch/outside.before"

outcomes=
swaps=0
rm -f "$scratch/swaps"
for ((round = 0; round < rounds; round++)); do
	forget
	find . -mindepth 1 ! -name berm.yml -delete
	mkdir d
	for i in 1 2 3 4 5 6 7 8; do echo "$i" >"d/f$i"; done
	echo 1 >d/f
	echo 1 >d/g
	sleep 0.01
	in_copy default sh -c 'for i in 1 2 3 4 5 6 7 8; do echo new >d/f$i; done; echo new >d/f; rm d/g; echo new >d/h; mkdir d/n; echo new >d/n/x'
	swap >"$scratch/ready" 2>&1 &
	swapper=$!
	until_true grep -q ready "$scratch/ready"
	for _ in 1 2 3 4; do
		"$BERM" apply >/dev/null 2>&1
		outcomes="$outcomes $?"
		"$BERM" undo >/dev/null 2>&1
	done
	kill "$swapper"
	wait "$swapper" 2>/dev/null
	swaps=$((swaps + $(cat "$scratch/swaps" 2>/dev/null || echo 0)))
	rm -f "$scratch/swaps"
done
expect "nothing outside changed in $rounds rounds" cmp "$scratch/outside.before" <(tree_of "$scratch/outside")
expect "there were swaps: $swaps" test "$swaps" -ge "$least"
echo "$swaps swaps"
echo "outcomes of apply:$(tr ' ' '\n' <<<"$outcomes" | grep . | sort | uniq -c | tr '\n' ';')"
find . -mindepth 1 ! -name berm.yml -delete
forget

# A full disk: the project is on a small tmpfs, so that an apply has to copy.
export -f in_copy copy_begin tree_of
export project state scratch
mkdir -p "$state/copies"
# And the state is on one, so that the copy itself is full: the command sees it, the project does not, and what was written is there.
XDG_STATE_HOME=$scratch/small unshare --user --map-root-user --mount bash -c '
	mkdir -m 700 "$XDG_STATE_HOME" && mount -t tmpfs -o mode=700,size=3m tmpfs "$XDG_STATE_HOME" && cd "$project" || exit 77
	echo "version: 1" >berm.yml
	head -c 65536 /dev/zero >"$XDG_STATE_HOME/ballast"
	echo old >f
	head -c 900k /dev/urandom >big
	tree_of . >"$scratch/before"
	"$BERM" run --copy -- true >"$scratch/out" 2>&1 || { cat "$scratch/out"; exit 77; }
	"$BERM" run --copy -- sh -c "echo new >f; head -c 8000000 /dev/zero >filler" >"$scratch/out" 2>&1 && { echo "it fit"; exit 1; }
	grep -q "No space left" "$scratch/out" || { cat "$scratch/out"; exit 1; }
	cmp "$scratch/before" <(tree_of .) || exit 1
	"$BERM" diff --name-only >"$scratch/out" 2>&1 || { cat "$scratch/out"; exit 1; }
	grep -qx f "$scratch/out" && grep -qx filler "$scratch/out" || { cat "$scratch/out"; exit 1; }
	# There is no room for the journal: nothing is applied, and the copy keeps its changes.
	if "$BERM" apply f >"$scratch/out" 2>&1; then
		[ "$(cat f)" = new ] || exit 1
		"$BERM" undo >/dev/null 2>&1
	else
		grep -q "No space left" "$scratch/out" || { cat "$scratch/out"; exit 1; }
	fi
	cmp "$scratch/before" <(tree_of .) || exit 1
	# The first write to a file of the project copies it: in a full copy that fails, and the file is whole.
	"$BERM" run --copy -- sh -c "echo more >>big" >"$scratch/out" 2>&1 && { echo "big fit"; exit 1; }
	cmp "$scratch/before" <(tree_of .) || exit 1
	rm "$XDG_STATE_HOME/ballast" # the next run needs some room itself
	"$BERM" run --copy -- sh -c "rm filler; cat f; wc -c <big" >"$scratch/out" 2>&1 || { cat "$scratch/out"; exit 1; }
	grep -qx new "$scratch/out" && grep -qx 921600 "$scratch/out" || { cat "$scratch/out"; exit 1; }
	"$BERM" apply >"$scratch/out" 2>&1 || { cat "$scratch/out"; exit 1; }
	[ "$(cat f)" = new ] && [ "$(stat -c %s big)" = 921600 ]' >"$scratch/space" 2>&1
space=$?
if [ "$space" = 77 ]; then
	echo "no copy on a small tmpfs: a full copy was not tried: $(cat "$scratch/space")"
else
	expect_equal "a full copy loses nothing: $(cat "$scratch/space")" 0 "$space"
fi
find . -mindepth 1 -delete
echo "version: 1" >berm.yml
unshare --user --map-root-user --mount bash -c '
	mount -t tmpfs -o mode=755,size=2m tmpfs "$project" && cd "$project" || exit 77
	for i in 1 2 3 4; do echo old >f$i; done
	sleep 0.02
	in_copy default sh -c "for i in 1 2 3 4; do head -c 400k /dev/urandom >f\$i; done; mkdir n; head -c 400k /dev/zero >n/x" 2>/dev/null || exit 77
	tree_of . >"$scratch/before"
	head -c 1200k /dev/zero >filler
	"$BERM" apply >"$scratch/out" 2>&1 && { echo "it fit: $(cat "$scratch/out")"; exit 1; }
	grep -q "No space left" "$scratch/out" || { cat "$scratch/out"; exit 1; }
	rm filler
	cmp "$scratch/before" <(tree_of .) || exit 1
	[ -z "$(find . -name ".berm*")" ] || exit 1
	"$BERM" apply >"$scratch/out" 2>&1 || { cat "$scratch/out"; exit 1; }
	[ "$(stat -c %s f1)" = 409600 ]' >"$scratch/space" 2>&1
space=$?
if [ "$space" = 77 ]; then
	echo "no overlay over a tmpfs: the full disk was not tried"
else
	expect_equal "a full disk has no effect; with room it is applied: $(cat "$scratch/space")" 0 "$space"
fi
finish
