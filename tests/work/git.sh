#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# git's everyday commands inside, under the default policy, in real repositories. What each leaves is looked at with the host's git.
. "$(dirname "$0")/support/lib.sh"
need git

# A remote inside the project, one outside, and a repository that knows both: remotes are added by the user, on the host.
host init -q --bare "$project/remote.git"
host init -q --bare "$scratch/outside.git"
host init -q "$project"
echo /remote.git/ >.gitignore
printf 'one\ntwo\nthree\n' >text
host add . && host commit -qm first
host remote add origin "$project/remote.git"
host remote add outside "$scratch/outside.git"
branch=$(git branch --show-current)
locked_content .git >"$scratch/locked.before"

# The identity.
for key in name email; do
	expected=$(git config --global "user.$key")
	if [ -n "$expected" ]; then
		works "the user's $key" git config "user.$key"
		expect_equal "user.$key of ~/.gitconfig is used inside" "$expected" "$out"
	else
		# A machine without one: git asks for it inside as outside. The rest of this test needs one.
		works "an identity of the private home" git config --global "user.$key" ada@example.org
	fi
done
refused "no other setting of ~/.gitconfig arrives" "" git config core.pager

works "status" git status --short --branch
expect_equal "a clean tree" "## $branch" "$out"
works_sh "add, commit" 'echo four >>text; mkdir -p deep/er; echo new >deep/er/file; git add -A; git commit -qm second'
expect_equal "the host sees the commit" second "$(git log -1 --format=%s)"
expect_equal "with the user's address" "$(git config --global user.email || echo ada@example.org)" "$(git log -1 --format=%ae)"
works "commit --amend" git commit -q --amend -m 'second, amended'
expect_equal "amended" 'second, amended' "$(git log -1 --format=%s)"
works_sh "a message from an editor" 'echo five >>text; GIT_EDITOR="sh -c '\''echo edited >\$1'\'' editor" git commit -qa'
expect_equal "the editor's message" edited "$(git log -1 --format=%s)"
works_sh "diff, log, show, blame, grep" 'echo six >>text; git diff --stat; git log --oneline -p; git show HEAD; git blame text; git grep -n four; git checkout -q -- text'
works_sh "add -p" 'printf "zero\n" | cat - text >t && mv t text; echo y | git add -p; git commit -qm patch'
expect_equal "the hunk" patch "$(git log -1 --format=%s)"
works_sh "rm, mv, reset, restore, revert" 'git mv deep/er/file deep/moved; git commit -qm moved; git rm -q deep/moved; git reset -q --hard
	echo x >>text; git restore text; git revert --no-edit HEAD; test -e deep/er/file'

works_sh "branch, checkout, switch" 'git branch topic; git checkout -q topic; git switch -q -c other; git switch -q topic; git branch -D other'
expect_equal "the host is on the branch too" topic "$(git branch --show-current)"
works_sh "merge without conflict" 'echo topic >topic-file; git add .; git commit -qm topic; git checkout -q "$1"; git merge -q --no-ff --no-edit topic; test -e topic-file' "$branch"
works_sh "merge with a conflict, solved" 'git checkout -q -b left; echo left >text; git commit -qam left
	git checkout -q -b right HEAD~1; echo right >text; git commit -qam right
	if git merge left; then exit 1; fi
	git status --short | grep "^UU text"; grep -q "<<<<<<<" text
	echo solved >text; git add text; git commit -q --no-edit'
expect_equal "a merge commit" 2 "$(git log -1 --format=%P | wc -w)"
works_sh "merge --abort" 'git checkout -q -b left2 HEAD; echo a >text; git commit -qam a; git checkout -q -b right2 HEAD~1; echo b >text; git commit -qam b
	git merge left2 && exit 1; git merge --abort; test "$(cat text)" = b'
works_sh "cherry-pick" 'git checkout -q right2; git reset -q --hard HEAD~1; git cherry-pick left2'
works_sh "rebase" 'git checkout -q -b base "$1"; echo base >base; git add base; git commit -qm base
	git checkout -q -b work "$1"; for i in 1 2 3; do echo $i >work$i; git add work$i; git commit -qm work$i; done
	git rebase -q base; test -e base' "$branch"
works_sh "rebase with a conflict" 'git checkout -q -b c1 "$1"; echo c1 >clash; git add clash; git commit -qm c1
	git checkout -q -b c2 "$1"; echo c2 >clash; git add clash; git commit -qm c2
	git rebase c1 && exit 1; echo both >clash; git add clash; GIT_EDITOR=true git rebase --continue; test "$(git log -1 --format=%s)" = c2' "$branch"
works_sh "rebase -i" 'git checkout -q work; GIT_SEQUENCE_EDITOR="sed -i -e 2s/pick/fixup/ -e 3s/pick/reword/" GIT_EDITOR="sed -i 1s/.*/reworded/" git rebase -i base'
expect_equal "rebase -i: squashed and reworded" "reworded work1 base" "$(git log -3 --format=%s work | tr '\n' ' ' | sed 's/ $//')"
works_sh "rebase --exec" 'git rebase -q --exec "test -e base" base'
works_sh "stash" 'echo stashed >>text; echo untracked >untracked; git stash -q -u; git diff --quiet; test ! -e untracked; git stash list | grep stash@
	git stash pop -q; test -e untracked; grep -q stashed text; git stash -q; git stash drop -q; rm -f untracked'
works_sh "tag" 'git tag light; git tag -a -m message annotated; git tag -l | grep annotated; git describe | grep annotated'
works_sh "notes, bisect, archive, bundle" 'git notes add -m note; git bisect start HEAD HEAD~2; git bisect run true; git bisect reset
	git archive HEAD | tar t >/dev/null; git bundle create -q ../project/all.bundle --all; git clone -q all.bundle /tmp/from-bundle; rm -rf all.bundle /tmp/from-bundle'
works_sh "clean" 'touch litter; git clean -qf; test ! -e litter'
works_sh "gc, fsck, repack, pack-refs" 'git gc -q; git fsck --no-progress; git repack -adq; git pack-refs --all; git prune'
works_sh "reflog, sparse state" 'git reflog | grep rebase >/dev/null; git rev-parse HEAD; git cat-file -p HEAD >/dev/null; git ls-files -s >/dev/null'
expect "the host's fsck" git fsck --no-progress

# Remotes.
works_sh "push to a remote in the project" 'git checkout -q "$1"; git push -q origin HEAD; git push -q origin --tags; git push -q origin work' "$branch"
expect_equal "it arrived" "$(git rev-parse HEAD)" "$(git -C remote.git rev-parse "$branch")"
host clone -q "$project/remote.git" "$scratch/elsewhere" -b "$branch"
(cd "$scratch/elsewhere" && echo elsewhere >elsewhere && host add . && host commit -qm elsewhere && host push -q origin HEAD)
works_sh "fetch" 'git fetch -q; test "$(git log -1 --format=%s "origin/$1")" = elsewhere' "$branch"
works "pull" git pull -q origin "$branch"
expect_equal "pulled" elsewhere "$(git log -1 --format=%s)"
works "pull --rebase" git pull -q --rebase origin "$branch"
works "push --force-with-lease" git push -q --force-with-lease origin work
works "push --delete" git push -q --delete origin work
refused "a remote that no rule grants is not there" "does not appear to be a git repository" git push -q outside HEAD
expect_equal "nothing arrived there" "" "$(git -C "$scratch/outside.git" for-each-ref)"
BERM_OPTIONS=(--allow-write="$scratch/outside.git")
works "a remote outside, granted" git push -q outside HEAD
expect_equal "it arrived outside" "$(git rev-parse HEAD)" "$(git -C "$scratch/outside.git" rev-parse "$branch")"
works "fetch from it" git fetch -q outside
BERM_OPTIONS=()

# Other repositories in the project.
works_sh "init in a subdirectory" 'git init -q sub-init; cd sub-init; echo x >x; git add x; git commit -qm sub; git config core.abbrev 12; git remote add o /nowhere; git checkout -q -b b'
expect_equal "its commit" sub "$(git -C sub-init log -1 --format=%s)"
works_sh "clone in a subdirectory" 'git clone -q remote.git sub-clone -b "$1"; cd sub-clone; git checkout -q -t origin/topic 2>/dev/null || git checkout -q -b topic; echo y >y; git add y; git commit -qm cloned; git push -q origin HEAD:cloned' "$branch"
expect "its push" git -C remote.git rev-parse --verify cloned
works_sh "worktree add" 'git worktree add -q trees/tree -b in-tree; cd trees/tree; echo t >t; git add t; git commit -qm "in the worktree"; git status --short; cd ../..; git worktree list | grep in-tree'
expect_equal "the worktree's commit" "in the worktree" "$(git log -1 --format=%s in-tree)"
works "in the worktree, in a second run" git -C trees/tree commit -q --amend -m 'in the worktree, amended'
expect_equal "amended there" "in the worktree, amended" "$(git -C trees/tree log -1 --format=%s)"
works "worktree remove" git worktree remove --force trees/tree
rm -rf sub-init sub-clone trees

# Nothing of all this changed what the host would run.
expect_equal "configuration, hooks and info are as they were" "$(cat "$scratch/locked.before")" "$(locked_content .git)"
expect_equal "the host's status is clean" "" "$(git status --porcelain)"

finish_work
