#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# git beside denied files, tracked and untracked: status, add -A, commit -a, stash and diff go on, and nothing is written into the
# user's repository for it. Control: the same commands find these files on the host.
. "$(dirname "$0")/support/lib.sh"
need git

host init -q .
echo text >text
echo 'tracked=secret' >.env
mkdir -p config
echo 'key' >config/server.key
# Written some time ago, as in life: git compares contents while the index is as young as the file.
touch -d '1 hour ago' text .env config/server.key
host add -A && host commit -qm first
echo 'untracked=secret' >.env.local
echo 'pem' >'odd name [1]#!.pem'
mkdir -p sub && echo 'sub=secret' >sub/.env
mkdir -p dir.key && echo x >dir.key/inner
expect_equal "control: the host sees the untracked ones" 4 "$(git status --porcelain | wc -l)"
locked_content .git >"$scratch/locked.before"
tree=$(git rev-parse 'HEAD^{tree}')

works_sh "control: the contents cannot be read" 'never cat .env; never cat .env.local; never cat config/server.key; never cat sub/.env; never ls dir.key'
works "status" git status --porcelain
expect_equal "status is clean" "" "$out"
works "diff" git diff
expect_equal "diff is empty" "" "$out"
works "diff against the commit" git diff HEAD --stat
expect_equal "and against the commit" "" "$out"
works "add -A" git add -A
expect_equal "add -A: silent" "" "$err"
works "add ." git add .
works_sh "commit -a" 'echo more >>text; git commit -qam "changed inside"; git status --porcelain'
expect_equal "clean after commit -a" "" "$out"
expect_equal "only the text changed" text "$(git diff --name-only HEAD~1)"
expect_equal "the tracked secret is committed unchanged" "$(git rev-parse HEAD~1:.env)" "$(git rev-parse HEAD:.env)"
works_sh "add -A of a new file, commit" 'echo new >new; git add -A; git commit -qm "new inside"; git show --stat --format= HEAD'
expect_equal "only the new file" "new" "$(git diff --name-only HEAD~1)"
works_sh "stash -u and pop" 'echo more >>text; echo u >untracked; git stash -q -u; git status --porcelain; test ! -e untracked; git stash pop -q; test -e untracked; git checkout -q text; rm untracked'
expect_equal "clean in between" "" "$out"
works_sh "branch, merge, rebase, cherry-pick" 'git checkout -q -b topic HEAD~1; echo topic >topic; git add -A; git commit -qm topic; git rebase -q "$1"
	git checkout -q "$1"; git merge -q --no-ff --no-edit topic; git revert --no-edit -m 1 HEAD >/dev/null; git reset -q --hard HEAD~1; git status --porcelain' main
expect_equal "clean after all that" "" "$out"
works_sh "from a subdirectory" 'cd sub; git status --porcelain; git add -A .; git stash list'
works_sh "a worktree has the committed ones" 'git worktree add -q wt; test -e wt/.env; git -C wt status --porcelain; git worktree remove --force wt'

# The host afterwards.
git update-index -q --refresh
expect_equal "the tracked files are unchanged for the host" "" "$(git diff --name-only)"
expect_equal "nothing is staged" "" "$(git diff --cached --name-only)"
expect_equal "the untracked ones are untracked as before" '?? "odd name [1]#!.pem"
?? .env.local
?? dir.key/
?? sub/' "$(git status --porcelain | LC_ALL=C sort)"
expect_equal "the contents are there" "tracked=secret untracked=secret sub=secret" "$(cat .env .env.local sub/.env | tr '\n' ' ' | sed 's/ $//')"
expect_equal "configuration, hooks, info are as they were" "$(cat "$scratch/locked.before")" "$(locked_content .git)"
expect "no flag in the index" test -z "$(git ls-files -v | grep -v '^H ')"
expect "the host's fsck" git fsck --no-progress
expect_equal "the first commit is as it was" "$tree" "$(git rev-parse "$(git rev-list --max-parents=0 HEAD)^{tree}")"

# What cannot work says so and harms nothing: another branch has another version of the hidden file. git changes the branch, names the
# file it could not replace, and shows it as modified.
host checkout -q -b other && echo 'another=version' >.env && host commit -qam 'another .env' && host checkout -q main
touch -d '1 hour ago' .env && git update-index -q --refresh
run "$BERM" run -- git checkout -q other
expect_contains "a branch with another version of a hidden file" "unable to unlink old '.env'" "$err"
expect_equal "the hidden file stays" "tracked=secret" "$(cat .env)"
expect_equal "the host sees what is missing" " M .env" "$(git status --porcelain .env)"
expect "and gets it" git checkout -q .env
expect_equal "the other version" "another=version" "$(cat .env)"

finish_work
