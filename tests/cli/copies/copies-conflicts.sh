#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Conflicts of each kind stop an apply as a whole until they are resolved; protected and denied names are never applied; nothing goes
# through a symlink.
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/copy.sh"
if ! command -v python3 >/dev/null; then
	echo "skipped: needs python3"
	exit 77
fi

# fresh: a project with one copy, which changes each thing in it.
fresh() {
	"$BERM" discard --all --yes >/dev/null 2>&1
	find . -mindepth 1 -delete
	rm -rf "$state/undo"
	mkdir -p d/sub gone outside
	echo "version: 1" >berm.yml
	echo 1 >file
	echo 1 >d/inner
	echo 1 >d/sub/deep
	echo 1 >other
	echo 1 >removed
	sleep 0.03
	in_copy default sh -c 'echo 2 >file; echo 2 >d/inner; echo 2 >d/sub/deep; echo 2 >other; rm removed; echo 2 >added; rm -r gone; mkdir nd; echo 2 >nd/x'
}

# conflict NAME PATH COMMAND: the host does something; then nothing is applied, the path is named, and the rest can be applied.
conflict() {
	local name=$1 path=$2
	fresh
	tree_of "$project" >"$scratch/untouched"
	bash -c "$3"
	tree_of "$project" >"$scratch/before"
	expect_status "$name: refused" 1 "$BERM" apply
	expect_contains "$name: the path is named" "! $path: conflict" "$err"
	expect_contains "$name: with the way out" "--ours" "$err"
	expect "$name: nothing was applied" cmp "$scratch/before" <(tree_of "$project")
	expect_contains "$name: diff marks it" "! $path: conflict" "$("$BERM" diff --stat)"
	expect_status "$name: --ours" 0 "$BERM" apply --ours="$path"
	expect_equal "$name: the rest is applied" 2 "$(cat added)"
}

fresh
expect_status "control: without a change of the host" 0 "$BERM" apply
expect_equal "control: all is applied" "2 2 2" "$(cat file d/inner added | tr '\n' ' ' | sed 's/ $//')"

conflict "an edited file" file 'echo host >file'
expect_equal "--ours keeps it" host "$(cat file)"
expect_status "--theirs takes the copy's" 0 "$BERM" apply --theirs=file
expect_equal "it is the copy's" 2 "$(cat file)"
expect_status "and undo" 0 "$BERM" undo
expect_equal "brings the host's back" host "$(cat file)"
conflict "an edit with the old time" file 'touch -r file stamp; echo host >file; touch -r stamp file; rm stamp'
conflict "a replaced file" file 'echo host >x; mv x file'
conflict "a new mode" file 'chmod 600 file'
conflict "a file became a directory" file 'rm file; mkdir file; echo h >file/h'
conflict "a file became a symlink" file 'rm file; ln -s other file'
conflict "a name appeared" nd/x 'mkdir nd; echo host >nd/x' 2>/dev/null
conflict "a file that the copy deleted was edited" removed 'echo host >removed'
conflict "a directory that the copy deleted has a new file" gone 'echo host >gone/new'
conflict "a directory became a symlink" d 'mv d elsewhere; ln -s outside d'
expect_equal "nothing went through the symlink" "" "$(ls outside)"
expect_status "that cannot be overridden" 1 "$BERM" apply --theirs=d
expect_equal "nothing went through it then either" "" "$(ls outside)"
conflict "a directory is gone" d 'rm -r d'

# Removed by both, and made alike by both: no conflict.
fresh
rm removed
echo 2 >added
expect_status "the same on both sides is no conflict" 0 "$BERM" apply

# A file that the host removed while the copy changed it.
fresh
rm file
expect_status "the host removed what the copy changed" 1 "$BERM" apply
expect_contains "it is named" "! file: conflict: removed" "$err"

# Only some paths, and a conflict elsewhere.
fresh
echo host >file
expect_status "a path without a conflict" 0 "$BERM" apply d
expect_equal "is applied" 2 "$(cat d/inner)"
expect_equal "alone" 1 "$(cat other)"
expect_status "a path that is not changed" 125 "$BERM" apply nothing

# undo refuses files that changed since.
fresh
"$BERM" apply >/dev/null
tree_of "$project" >"$scratch/applied"
for change in 'echo host >file' 'rm added' 'echo host >removed' 'echo host >nd/x' 'echo host >nd/more' 'rm d/inner' 'touch file'; do
	cp -a "$project" "$scratch/aside"
	bash -c "$change"
	tree_of "$project" >"$scratch/before"
	expect_status "undo after: $change" 1 "$BERM" undo
	expect_contains "undo after: $change: says why" "since" "$err$(grep -o 'exists again' <<<"$err since")"
	expect "undo after: $change: changes nothing" cmp "$scratch/before" <(tree_of "$project")
	rm -rf "$scratch/aside"
	fresh
	"$BERM" apply >/dev/null
done
expect_status "control: without a change" 0 "$BERM" undo

# Protected and denied names: in the sandbox they cannot be written, so that the overlay here plays a command that could.
fresh
"$BERM" discard --yes >/dev/null
printf 'SECRET=1\n' >.env
mkdir sub .vscode
echo '{}' >.vscode/settings.json
git init -q repository 2>/dev/null || mkdir -p repository/.git/hooks
sleep 0.03
in_copy default sh -c 'echo SECRET=2 >.env; echo x >.envrc; mkdir -p new/.vscode new/ok; echo evil >new/.vscode/tasks.json; echo fine >new/ok/f
	echo evil >repository/.git/hooks/pre-commit; chmod +x repository/.git/hooks/pre-commit; rm -r .vscode; echo fine >sub/f; mv sub/f sub/.mcp.json; echo fine >sub/g; rm berm.yml; echo "network: all" >berm.yml'
expect_equal "control: the names are in the copy" evil "$(cat "$state/copies/default/upper/new/.vscode/tasks.json")"
run "$BERM" apply
expect_equal "what is protected is left" 1 "$status"
for name in .env .envrc new/.vscode repository/.git sub/.mcp.json berm.yml; do
	expect_contains "$name is named with its rule" "! $name: not applied: " "$err"
done
expect_contains "the deletion of a protected directory" "! .vscode: not applied" "$err"
expect_equal "the secret stays" SECRET=1 "$(cat .env)"
expect "no .envrc" test ! -e .envrc
expect "no task in a new directory" test ! -e new/.vscode/tasks.json
expect "no hook" test ! -e repository/.git/hooks/pre-commit
expect "no .mcp.json by rename" test ! -e sub/.mcp.json
expect_equal "the protected directory stays" '{}' "$(cat .vscode/settings.json)"
expect_equal "the policy stays" "version: 1" "$(cat berm.yml)"
expect_equal "the rest of the new directory is applied" fine "$(cat new/ok/f)"
expect_equal "and the rest of the others" fine "$(cat sub/g)"
expect_status "undo of that" 0 "$BERM" undo
expect "what was split is gone" test ! -e new

# Attributes of an overlay in the project itself, setuid, hard links, whiteouts with one inode.
fresh
"$BERM" discard --yes >/dev/null
# An earlier command may have left marks of an overlay on files of the project. In an overlay they are seen by the kernel: the control
# is a file without them.
echo 1 >planted
echo 1 >plain
mkdir opaque redirected
echo 1 >opaque/f
echo 1 >redirected/f
mark() { python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.overlay." + sys.argv[2], sys.argv[3].encode())' "$@"; }
expect "a mark is set" mark planted metacopy y
expect "a mark is set" mark redirected redirect /outside
expect "a mark is set" mark opaque opaque y
echo 1 >hard1
ln hard1 hard2
for i in 1 2 3 4 5; do echo "$i" >"w$i"; done
sleep 0.03
expect_output "control: all are read on the host" "1 1 1 1 " sh -c 'cat plain planted redirected/f opaque/f | tr "\n" " "'
run in_copy default sh -c 'cat plain redirected/f opaque/f; ls outside'
expect_equal "a planted redirect leads nowhere" "1
1
1" "$out"
run in_copy default cat planted
expect_equal "a file with planted metadata is an error, not another file's content" "1 " "$status $out"
expect_output "marks in the project are no changes" "" "$BERM" diff --name-only
in_copy default sh -c 'echo 2 >plain; echo 2 >redirected/f; echo 2 >opaque/f'
expect_status "files beside marks are applied" 0 "$BERM" apply
expect_equal "in the project, and nowhere else" "2 2 2" "$(cat plain redirected/f opaque/f | tr '\n' ' ' | sed 's/ $//')"
expect_equal "the planted file stays" 1 "$(cat planted)"
expect_equal "nothing was written outside" "" "$(ls outside)"
expect_status "undo" 0 "$BERM" undo
expect_equal "all as before" "1 1 1 1" "$(cat plain planted redirected/f opaque/f | tr '\n' ' ' | sed 's/ $//')"
"$BERM" discard --yes >/dev/null
sleep 0.03
in_copy default sh -c 'echo 2 >hard1; rm w1 w2 w3 w4 w5; cp /bin/true suid; chmod 4755 suid; mkdir x; cp /bin/true x/suid; chmod 6755 x/suid; echo 3 >w3; mkdir w4'
expect "control: the file is setuid in the copy" test -u "$state/copies/default/upper/suid"
run "$BERM" diff --stat
expect_contains "diff says that setuid is not applied" "! suid: its setuid" "$out"
expect_status "apply" 0 "$BERM" apply
expect "no setuid" test ! -u suid
expect "nor in a new directory" test ! -u x/suid -a ! -g x/suid
expect_equal "a hard link is broken as inside" "2 1" "$(cat hard1 hard2 | tr '\n' ' ' | sed 's/ $//')"
expect_equal "whiteouts: w3 and w4 are new" "w3 w4" "$(echo w?)"
expect "w4 is a directory" test -d w4
expect_equal "no device is left" "" "$(find . ! -type f ! -type d ! -type l)"
expect_status "undo" 0 "$BERM" undo
expect_equal "undo brings them back" "1 2 3 4 5" "$(cat w1 w2 w3 w4 w5 | tr '\n' ' ' | sed 's/ $//')"
expect_equal "and the link" "$(stat -c %i hard2)" "$(stat -c %i hard1)"

# A directory that the command removed and made again, partly applied: the copy shows the same as before.
fresh
"$BERM" discard --yes >/dev/null
in_copy default sh -c 'rm -r d; mkdir -p d/sub; echo 2 >d/inner; echo 2 >d/new; echo 2 >other'
expect_status "part of an opaque directory" 0 "$BERM" apply d/new
expect_equal "the rest is still there" 1 "$(cat d/sub/deep)"
expect_equal "the copy shows it as before" "d d/inner d/new d/sub" "$(in_copy default find d | sort | tr '\n' ' ' | sed 's/ $//')"
expect_status "and then all" 0 "$BERM" apply
expect "it is deleted" test ! -e d/sub/deep
expect_equal "and changed" 2 "$(cat d/inner)"
finish
