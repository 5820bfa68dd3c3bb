#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Copies: what a command changed in one is shown, applied, taken back and discarded; nothing else of the project changes.
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/copy.sh"

lines() { wc -l <"$scratch/out" | tr -d ' '; }

expect_contains "there are no copies" "no copies" "$("$BERM" copies)"
expect_status "an absent copy" 125 "$BERM" diff
expect_contains "names berm copies" "berm copies" "$err"
for name in .x -- a/b "$(printf 'a\nb')" "$(printf '%065d' 1)"; do
	expect_status "no name of a copy: $name" 125 "$BERM" discard --yes -- "$name"
done

echo "version: 1" >berm.yml
mkdir -p src/sub old/deep keep
echo one >a
seq 100 >src/n
echo x >old/f
echo y >old/deep/g
echo z >src/sub/z
echo same >same
ln -s a link
echo wasfile >tofile
mkdir todir
echo inside >todir/i
printf 'no end' >noend
head -c 9000 /dev/zero >zeros
tree_of "$project" >"$scratch/before"

# The work of a command; also run on a plain copy of the project, which the result has to equal.
work() {
	echo two >>a
	sed -i 's/^50$/fifty/' src/n
	rm -r old
	mkdir -p new/deep
	echo hi >new/f
	echo deep >new/deep/d
	chmod 600 src/sub/z
	rm link && mkdir link && echo w >link/w
	rm -r todir && echo file >todir
	rm tofile && mkdir tofile && echo t >tofile/t
	printf 'no end either' >noend
	head -c 9001 /dev/zero >zeros
	touch same
	echo same >same
	rm -r keep && mkdir keep && echo k >keep/k
	mkfifo pipe
	: >"$(printf 'new\nline')"
	: >"$(printf 'esc\033[31m')"
	: >"$(printf 'bad\377utf')"
}
export -f work
cp -a "$project" "$scratch/plain"
(cd "$scratch/plain" && work)
tree_of "$scratch/plain" >"$scratch/after"
expect "control: the work changes the tree" test "$(cmp -s "$scratch/before" "$scratch/after"; echo $?)" = 1
in_copy default bash -c work
expect "the project did not change" cmp "$scratch/before" <(tree_of "$project")

run "$BERM" diff --stat
expect_equal "diff works" 0 "$status"
expect_contains "a changed file" "src/n" "$out"
expect_equal "a file with the same bytes is not shown" 0 "$(grep -c same "$scratch/out")"
expect_equal "no name is obeyed by a terminal" 0 "$(grep -c "$(printf '\033')" "$scratch/out")"
expect_contains "an escape in a name is shown" 'esc\x1b[31m' "$out"
expect_contains "a line end in a name is shown" 'new\x0aline' "$out"
expect_contains "a byte that is no character" 'bad\xff' "$out"
expect_status "diff --exit-code" 1 "$BERM" diff --exit-code --name-only
expect_equal "one path for each change" "$("$BERM" diff --json | grep -c '"path"')" "$(lines)"
expect_status "diff of a path" 0 "$BERM" diff --name-only src/n
expect_output "only that" src/n "$BERM" diff --name-only src/n
expect_output "of a copy by name" src/n "$BERM" diff --name-only default -- src/n
expect_output "from a directory below" src/n sh -c 'cd src && "$1" diff --name-only n' sh "$BERM"
expect_status "a path outside" 125 "$BERM" diff ../x
"$BERM" diff --json >"$scratch/json"
if command -v python3 >/dev/null; then
	expect "the JSON is JSON" python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); assert d["copy"] == "default" and len(d["changes"]) > 15' "$scratch/json"
fi

# The output is a patch. What it cannot express (empty directories, FIFOs, modes) is left out of the comparison.
if command -v git >/dev/null; then
	cp -a "$project" "$scratch/patched"
	"$BERM" diff >"$scratch/patch"
	expect "git applies the diff" sh -c 'cd "$1" && git init -q . && git apply --exclude=zeros "$2" && rm -rf .git' sh "$scratch/patched" "$scratch/patch"
	expect_equal "and gets the same files" "$(grep -a ' f ' "$scratch/after" | grep -av zeros | sed 's/ f [0-7]* / /')" \
		"$(tree_of "$scratch/patched" | grep -a ' f ' | grep -av zeros | sed 's/ f [0-7]* / /')"
fi
expect_contains "binary files are named with their sizes" "Binary or large files" "$(tr -d '\0' <"$scratch/patch")"

run script -qec "'$BERM' diff a" /dev/null
expect_contains "colours on a terminal" "$(printf '\033[32m+two')" "$out"
run env NO_COLOR=1 script -qec "'$BERM' diff a" /dev/null
expect_equal "NO_COLOR" 0 "$(grep -c "$(printf '\033')" "$scratch/out")"

run "$BERM" apply --dry-run
expect_equal "apply --dry-run" 0 "$status"
expect "changes nothing" cmp "$scratch/before" <(tree_of "$project")
expect_status "apply of one file" 0 "$BERM" apply a
expect_equal "it is applied" 2 "$(wc -l <a | tr -d ' ')"
expect_equal "the others are not" 0 "$(grep -c fifty src/n)"
expect_output "and not shown any more" "" "$BERM" diff --name-only a
in_copy default sh -c 'echo three >>a'
expect_output "a further change of an applied file is no conflict" a "$BERM" diff --name-only a
expect_status "it is applied" 0 "$BERM" apply a
expect_equal "both lines are there" 3 "$(wc -l <a | tr -d ' ')"
expect_status "undo" 0 "$BERM" undo
expect_equal "takes the last back" 2 "$(wc -l <a | tr -d ' ')"
expect_status "undo" 0 "$BERM" undo
expect "and then the one before" cmp "$scratch/before" <(tree_of "$project")
expect_status "nothing more to undo" 125 "$BERM" undo
expect_output "the copy has the change again" a "$BERM" diff --name-only a

in_copy default sh -c 'sed -i 3d a'
expect_status "apply of everything" 0 "$BERM" apply
expect "the project is as if the command had run in it" cmp "$scratch/after" <(tree_of "$project")
expect_equal "no attribute of the overlay is left" "" "$(getfattr -R -h -d -m 'user.overlay' . 2>/dev/null)"
expect_equal "no file of berm is left" "" "$(find . -name '.berm*')"
expect_output "nothing is left in the copy" "" "$BERM" diff
expect_contains "undo --list" "applied" "$("$BERM" undo --list)"
expect_status "undo of everything" 0 "$BERM" undo
expect "the project is as before" cmp "$scratch/before" <(tree_of "$project")
expect_equal "the copy has all its changes again" "$(grep -c '"path"' "$scratch/json")" "$("$BERM" diff --json | grep -c '"path"')"
expect_status "they can be applied again" 0 "$BERM" apply
expect "with the same result" cmp "$scratch/after" <(tree_of "$project")

in_copy two sh -c 'echo 2 >a'
in_copy three sh -c 'echo 3 >src/n'
expect_contains "copies" "two" "$("$BERM" copies)"
expect_equal "as JSON" 3 "$("$BERM" copies --json | grep -c '"name"')"
exec 9<"$state/copies/two"
flock -x 9
expect_status "a copy in use is not discarded" 1 "$BERM" discard --yes two
expect_contains "and it is said" "in use" "$err"
expect_status "nor applied" 125 "$BERM" apply two
expect_contains "copies says it, too" "in use" "$("$BERM" copies)"
exec 9<&-
expect_status "discard asks" 125 "$BERM" discard two
expect_status "discard" 0 "$BERM" discard --yes two
expect "it is gone" test ! -e "$state/copies/two"
expect_status "discard --all" 0 "$BERM" discard --all --yes
expect_equal "none is left" "[]" "$("$BERM" copies --json | tr -d ' \n')"
expect_equal "the project keeps what was applied" fifty "$(grep fifty src/n)"
expect_status "undo without the copy" 0 "$BERM" undo
expect "the project is as before" cmp "$scratch/before" <(tree_of "$project")
expect_status "inside nothing is applied" 125 "$BERM" run --allow-read="${BERM%/*}" -- "$BERM" apply

# `berm state` lists copies and the undo store, and skips those in use.
in_copy one sh -c 'echo 1 >one'
in_copy two sh -c 'echo 2 >two'
expect_status "apply one" 0 "$BERM" apply one
run "$BERM" state list
expect_contains "state list: a copy" "copy two" "$out"
expect_contains "state list: undo" "undo" "$out"
exec 9<"$state/copies/two"
flock -x 9
expect_status "state reset with a copy in use" 1 "$BERM" state reset --yes
expect "that copy stays" test -e "$state/copies/two/upper/two"
expect "the other one is gone" test ! -e "$state/copies/one" -a ! -e "$state/undo"
exec 9<&-
expect_status "state reset" 0 "$BERM" state reset --yes
expect "nothing is left" test ! -e "$state"
(umask 077 && mkdir -p "$state/copies")
rm one

# A process id comes again, and what an earlier run with --undo could not apply is still there: it stays there.
if unshare -Urmpf --mount-proc true 2>/dev/null; then
	echo one >a
	in_copy undo-1-1 sh -c 'echo stale >a'
	run unshare -Urmpf --mount-proc sh -c 'exec "$1" run --undo -- sh -c "cat a; echo fresh >fresh"' sh "$BERM"
	expect_equal "a run with --undo begins with the project" one "$out"
	expect_equal "and applies its own changes" fresh "$(cat fresh)"
	expect_equal "only these" one "$(cat a)"
	expect_equal "what was left is still there" stale "$(cat "$state/copies/undo-1-1/upper/a")"
	rm fresh
	"$BERM" discard --yes undo-1-1 >/dev/null
fi

# A restart before the files of a run were on the disk.
in_copy default sh -c 'echo doubt >a'
(umask 077 && printf '00000000-0000-0000-0000-000000000000' >"$state/copies/default/boot")
expect_status "a copy of another boot is not applied" 125 "$BERM" apply
expect_contains "and the way is named" "--force" "$err"
expect_equal "nothing changed" one "$(cat a)"
expect_status "--force applies it" 0 "$BERM" apply --force
expect_equal "changed" doubt "$(cat a)"
finish
