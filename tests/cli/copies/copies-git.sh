#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# git in a copy: commit, rebase, gc, worktree; applied, the repository is as if git had run in it directly. A git directory is one unit.
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/copy.sh"
if ! command -v git >/dev/null; then
	echo "skipped: needs git"
	exit 77
fi
scratch_home
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.org
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' GIT_CONFIG_NOSYSTEM=1

make_repository() {
	find . -mindepth 1 -delete
	chmod -R u+rwx "$state/undo" "$state/copies" 2>/dev/null
	rm -rf "$state/undo" "$state/copies/default"
	git init -q -b main .
	git config gc.auto 0
	for i in 1 2 3 4 5; do
		seq "$i" 40 >"f$i"
		git add "f$i"
		git commit -q -m "commit $i"
	done
	git checkout -q -b topic HEAD~2
	echo topic >t
	git add t
	git commit -q -m topic
	git checkout -q main
	sleep 0.03
}

# The state of a repository, independent of packs and times. `git status` refreshes the index, which would be a conflict.
state_of() {
	(export GIT_OPTIONAL_LOCKS=0; cd "$1" && git rev-parse HEAD main topic 'HEAD^{tree}' && git status --porcelain && git log --all --format='%H %T %s' && git stash list &&
		git for-each-ref && git symbolic-ref HEAD && git worktree list | sed "s#^$1##" && cat .git/packed-refs 2>/dev/null | grep -v '^#')
}

# same_as_direct NAME COMMAND: in a copy and applied, and directly.
same_as_direct() {
	local name=$1
	make_repository
	state_of "$project" >"$scratch/before"
	rm -rf "$scratch/direct"
	cp -a "$project" "$scratch/direct"
	(cd "$scratch/direct" && bash -c "$2") >/dev/null 2>&1
	in_copy default bash -c "$2" >"$scratch/git.log" 2>&1
	expect "$name: the project did not change" cmp "$scratch/before" <(state_of "$project")
	run "$BERM" apply
	expect_equal "$name: apply $err" 0 "$status"
	expect_equal "$name: the same as directly" "$(state_of "$scratch/direct")" "$(state_of "$project")"
	expect "$name: fsck" git fsck --full --strict
	expect_equal "$name: nothing of the overlay" "" "$(getfattr -R -h -d -m 'user.overlay' . 2>/dev/null)"
	expect_status "$name: undo" 0 "$BERM" undo
	expect "$name: as before" cmp "$scratch/before" <(state_of "$project")
	expect "$name: fsck after undo" git fsck --full --strict
	"$BERM" apply >/dev/null 2>&1
	expect_equal "$name: applied again" "$(state_of "$scratch/direct")" "$(state_of "$project")"
}

same_as_direct "commit" 'echo more >>f1; echo new >g; git add -A; git commit -q -m more; git tag v1'
same_as_direct "rebase" 'git checkout -q topic; git rebase -q main'
same_as_direct "gc" 'git reflog expire --expire=now --all; git gc -q --prune=now; git pack-refs --all'
same_as_direct "branches, stash, merge" 'git merge -q --no-edit topic; git branch -d topic 2>/dev/null; git branch topic HEAD; echo s >>f2; git stash -q; git branch dir/deep; git branch -D dir/deep; git branch dir'
same_as_direct "filter of many" 'for i in $(seq 30); do echo $i >f1; git commit -q -a -m "n $i"; done; git gc -q'

# A worktree has absolute paths of the project, which are the same in the copy.
make_repository
in_copy default bash -c 'git worktree add -q inner topic; echo w >inner/w; cd inner; git add w; git commit -q -m w' >/dev/null 2>&1
expect_status "worktree: apply" 0 "$BERM" apply
expect "worktree: fsck" git fsck --full --strict
expect_equal "worktree: it works" w "$(git -C inner log -1 --format=%s)"
expect_equal "worktree: it is clean" "" "$(git -C inner status --porcelain)"

# One unit: if the host committed meanwhile, nothing of the git directory is applied, and nothing else either.
make_repository
in_copy default bash -c 'echo mine >>f1; git commit -q -a -m copy; echo loose >loose'
echo host >>f2
git commit -q -a -m host
state_of "$project" >"$scratch/before"
expect_status "host and copy commit" 1 "$BERM" apply
expect_contains "the ref is a conflict" "! .git/refs/heads/main: conflict" "$err"
expect "nothing was applied" cmp "$scratch/before" <(state_of "$project")
expect_status "a part of it alone" 125 "$BERM" apply .git/refs/heads/main
expect_contains "is refused" "as a whole" "$err"
expect_status "the rest alone" 0 "$BERM" apply loose
expect_status "--ours for the git directory" 0 "$BERM" apply --ours=.git
expect_contains "keeps the host's commit" host "$(git log -1 --format=%s)"
expect "control: the repository is whole" git fsck --full --strict

# A protected name in the git directory keeps all of it back.
make_repository
in_copy default bash -c 'echo mine >>f1; git commit -q -a -m copy; git config core.pager evil; echo evil >.git/hooks/pre-commit'
run "$BERM" apply
expect_equal "a hook in the copy" 1 "$status"
expect_contains "keeps the whole directory back, in one line" "! .git: not applied: .git is applied as a whole" "$err"
expect_equal "and only one" 1 "$(grep -c '^  ! ' <<<"$err")"
run "$BERM" diff -- .git
expect_contains "each file is named on request" "! .git/hooks/pre-commit: not applied" "$out"
expect_contains "the index, too" "! .git/index: not applied: .git is applied as a whole" "$out"
expect_equal "no commit" "commit 5" "$(git log -1 --format=%s)"
expect "no hook" test ! -e .git/hooks/pre-commit
expect_equal "no setting" "" "$(git config core.pager)"
finish
