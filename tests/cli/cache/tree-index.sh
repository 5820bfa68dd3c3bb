#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The index of hidden files is never stale. Every case starts with an index that is in use, changes something that the host
# might change, shows that the file can be read without berm, and checks the very next run. The home is a scratch directory,
# so that the user's own cached plans are left alone.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"

home=$scratch/home
plans=$home/.local/state/berm/plans
unset XDG_STATE_HOME XDG_CONFIG_HOME
chmod 755 "$scratch"
mkdir -p "$home" "$scratch/bin" "$scratch/outside/deep"
cp "$BERM" "$scratch/bin/berm" # one that no build replaces meanwhile
BERM=$scratch/bin/berm
set_home "$home"

# Directories of the project that a launch opens to list them, in its first thread.
listed() {
	strace -qq -e trace=openat2 -o "$scratch/trace" "$BERM" run -- true
	grep -c 'openat2([0-9]*, "\(a\|d\|g\|many\|exchange\)["/].*RESOLVE_BENEATH' "$scratch/trace"
}

is_indexed() {
	"$BERM" run -- true && "$BERM" plan --why-rebuilt | grep -q 'an index of'
}

# No directory is listed: all are old enough to be believed when the index is made. (One that exists would stay as it is: a single
# change is not worth a new one.)
is_quiet() {
	is_indexed && [ "$(listed)" -eq 0 ]
}

settle() {
	sleep 0.15
	rm -f "$plans"/.walk-*
	until_true is_quiet || fail "$1: control: the index is in use" "$("$BERM" plan --why-rebuilt; cat "$scratch/trace")"
}

# hidden NAME FILE [OPTION...]: bare it is read; inside not, at once and again.
hidden() {
	local name=$1 file=$2
	shift 2
	expect_status "$name: control: bare" 0 cat "$file"
	expect_status "$name" 1 "$BERM" run "$@" -- cat "$file"
	expect_contains "$name: the reason" "denied" "$err"
	expect_status "$name, later" 1 "$BERM" run "$@" -- cat "$file"
	expect "$name: nothing else" "$BERM" run "$@" -- cat a/b/c/notes
}

mkdir -p a/b/c d/e/f g/.git
for i in 1 2 3 4 5 6; do
	mkdir -p "many/$i/x/y"
	echo text >"many/$i/x/y/file"
done
echo text >a/b/c/notes
echo secret >d/e/f/.env
expect "control: no index at first" test ! -e "$plans"
settle "at first"
hidden "what was there" d/e/f/.env

# The same tree without an index lists its directories.
expect_equal "control: an index spares listings" 0 "$(listed)"
rm "$plans"/.walk-*
expect "control: without it they are listed" test "$(listed)" -gt 5
settle "again"

echo new >a/b/c/.env
hidden "created" a/b/c/.env
echo renamed >many/1/x/y/plain
settle "renamed"
mv many/1/x/y/plain many/1/x/y/.env
hidden "renamed" many/1/x/y/.env
settle "moved"
echo moved >"$scratch/outside/deep/.env"
mkdir "$scratch/outside/deep/deeper"
echo moved >"$scratch/outside/deep/deeper/id_rsa"
echo moved >"$scratch/outside/deep/deeper/.env"
mv "$scratch/outside" many/2/x/moved
hidden "a directory that was moved in" many/2/x/moved/deep/.env
hidden "a directory in it" many/2/x/moved/deep/deeper/.env
settle "moved within"
mv many/2/x/moved/deep many/3/within
hidden "a directory that was moved within" many/3/within/.env
settle "anew"
rm -r many/4
mkdir -p many/4/x/y
echo anew >many/4/x/y/.env
hidden "a directory of the same name" many/4/x/y/.env
settle "exchanged"
mkdir exchange
echo exchanged >exchange/.env
mv many/5/x many/5/old
mv exchange many/5/x
hidden "a directory in the place of another" many/5/x/.env
settle "linked"
ln -s ../../a/b/c/target many/6/.env
echo linked >a/b/c/target
hidden "what a new link leads to" a/b/c/target
# Its target changes without any directory that holds the link.
settle "linked elsewhere"
echo linked >g/other
expect "control: another target can be read" "$BERM" run -- cat g/other
ln -sfn ../../g/other many/6/.env
hidden "what a link leads to now" g/other
# A file with a verdict by content changes in place: no directory tells of it.
printf -- '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n' >d/e/f/some.key
settle "judged by content"
expect "control: a public key is readable" "$BERM" run -- cat d/e/f/some.key
printf -- '-----BEGIN SECRET KEY-----\nMIIB\n-----END SECRET KEY-----\n' >d/e/f/some.key
expect_equal "control: no directory is listed" 0 "$(listed)"
hidden "a file that is not public any more" d/e/f/some.key
settle "hard link"
echo twin >d/twin
ln d/twin d/e/.env
hidden "another name of a file" d/twin
rm d/twin d/e/.env # as long as there is one, every launch looks at every file

# A pointer of git is read every time: its directory does not change with it.
printf 'gitdir: ../.git/worktrees/x\n' >many/6/x/.git
settle "pointer"
expect "control: a pointer to a worktree can be written" "$BERM" run -- sh -c 'echo "gitdir: ../.git/worktrees/x" >many/6/x/.git'
settle "pointer"
printf 'gitdir: /elsewhere/.git\n' >many/6/x/.git
expect_status "a pointer that leads elsewhere now" 1 "$BERM" run -- sh -c 'echo >many/6/x/.git || exit 1'

# The subject of the rules changes: another plan, another index.
settle "options"
expect "control: the notes can be read" "$BERM" run -- cat a/b/c/notes
expect_status "an option more" 1 "$BERM" run --deny=notes -- cat a/b/c/notes
expect "and without it" "$BERM" run -- cat a/b/c/notes
mkdir -p "$home/.config/berm"
printf 'version: 1\nfiles: {deny: [notes]}\n' >"$home/.config/berm/berm.yml"
expect_status "another policy" 1 "$BERM" run -- cat a/b/c/notes
rm "$home/.config/berm/berm.yml"
settle "after that"

# A file that berm did not write, or not for this plan. The tree holds a secret that it would not tell of.
slot=$(echo "$plans"/.walk-*)
expect "control: there is an index" test -s "$slot"
cp -p "$slot" "$scratch/good"
judge_file() {
	expect_status "$1: hidden" 1 "$BERM" run -- cat a/b/c/.env
	expect "$1: runs" "$BERM" run -- cat a/b/c/notes
	rm -rf "$slot"
	cp -p "$scratch/good" "$slot"
}
: >"$slot"
judge_file "empty"
head -c 100 "$scratch/good" >"$slot"
judge_file "cut off"
cat "$scratch/good" "$scratch/good" >"$slot"
judge_file "twice"
tr 'a-f' 'b-g' <"$scratch/good" >"$slot"
judge_file "other names"
head -c 9000000 /dev/zero >"$slot"
judge_file "too long"
chmod 644 "$slot"
judge_file "open to others"
rm "$slot" && ln -s "$scratch/good" "$slot"
judge_file "a link"
rm "$slot" && mkfifo "$slot"
judge_file "a pipe"
rm "$slot" && mkdir "$slot"
judge_file "a directory"
rm "$slot"
until_true sh -c '"$1" run --deny=notes -- true && [ -e "$2"/.walk-* ]' sh "$BERM" "$plans"
mv "$plans"/.walk-* "$slot"
judge_file "of another plan"

rm "$slot"
settle "written again"
expect_equal "nothing is left over" "" "$(find "$plans" -name '.new*')"
# Several at once, from nothing and with changes.
for round in 1 2; do
	rm -f "$plans"/.walk-*
	echo "$round" >"many/1/.env"
	pids=()
	for i in 1 2 3 4 5 6; do
		"$BERM" run -- cat many/1/.env >"$scratch/out.$i" 2>/dev/null &
		pids+=($!)
	done
	for i in 1 2 3 4 5 6; do
		wait "${pids[i - 1]}"
		expect_equal "six at once, round $round" "1 " "$? $(cat "$scratch/out.$i")"
	done
	expect_equal "six at once, round $round: nothing is left over" "" "$(find "$plans" -name '.new*')"
	settle "six at once"
	rm many/1/.env
done

# From inside it is not there.
expect_status "the index cannot be read from inside" 1 "$BERM" run -- cat "$slot"

finish
