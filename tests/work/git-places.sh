#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Projects whose git directory is not simply .git: a linked worktree, a submodule, a repository with a separate git directory, a
# subdirectory of a repository; and submodules inside the project.
. "$(dirname "$0")/support/lib.sh"
need git

# A source for submodules and a repository that has one, outside the project.
make_repository() {
	host init -q "$1"
	(cd "$1" && echo "$2" >file && host add . && host commit -qm "$2")
}
make_repository "$scratch/library" library
make_repository "$scratch/main" main

# everyday NAME: in the current directory, which is the project.
everyday() {
	works_sh "$1: status, add, commit" 'git status --short; echo more >>file; git add -A; git commit -qm "inside"; git log --oneline | wc -l'
	expect_equal "$1: the host sees the commit" inside "$(git log -1 --format=%s)"
	works_sh "$1: amend, branch, stash, tag, merge, rebase" 'git commit -q --amend -m amended; git checkout -q -b "topic-$1"; echo x >x; git add x; git commit -qm x
		echo y >>x; git stash -q; git stash pop -q; git checkout -q x; git tag "tag-$1"; git checkout -q -; git merge -q "topic-$1"; git rebase -q HEAD~1; git gc -q' "${1// /-}"
	expect_equal "$1: clean for the host" "" "$(git status --porcelain)"
	expect "$1: sound for the host" git fsck --no-progress
}

# A linked worktree: the common git directory lies outside the project.
(cd "$scratch/main" && git worktree add -q "$scratch/linked" -b linked)
locked_content "$scratch/main/.git" >"$scratch/locked.before"
cd "$scratch/linked" || exit 1
everyday "a linked worktree"
refused "a linked worktree: configuration" "could not" git config a.b c
refused "a linked worktree: hooks" "Read-only" sh -c 'echo true >"$(git rev-parse --git-common-dir)/hooks/pre-commit"'
refused "a linked worktree: the pointer" "" sh -c 'echo "gitdir: /tmp" >.git'
refused "a linked worktree: the files of the main one are not there" "" cat "$scratch/main/file"
expect_equal "a linked worktree: all as it was" "$(cat "$scratch/locked.before")" "$(locked_content "$scratch/main/.git")"

# A submodule as the project.
cd "$scratch/main" || exit 1
host submodule --quiet add "$scratch/library" sub && host commit -qm 'a submodule'
cd sub || exit 1
git checkout -q -b work
everyday "a submodule as the project"
refused "a submodule: configuration" "could not" git config a.b c
refused "a submodule: the outer repository is not there" "" ls "$scratch/main/.git/HEAD"

# A repository whose .git is a file because its git directory was put elsewhere.
host init -q --separate-git-dir "$scratch/separate.git" "$scratch/separate"
cd "$scratch/separate" || exit 1
echo file >file && host add . && host commit -qm first
run "$BERM" plan
expect_contains "a separate git directory: the plan says what becomes of it" "$scratch/separate/.git" "$out"
# It does not name this checkout, so it is not granted by itself; a rule can.
BERM_OPTIONS=(--allow-write="$scratch/separate.git")
works_sh "a separate git directory, granted: commit" 'echo more >>file; git add -A; git commit -qm inside'
expect_equal "a separate git directory: the host sees the commit" inside "$(git log -1 --format=%s)"
BERM_OPTIONS=()

# A subdirectory of a repository as the project: the repository is not visible, and berm says so.
mkdir "$scratch/main/part"
cd "$scratch/main/part" || exit 1
echo part >part
BERM_OPTIONS=(--project=.)
refused "a subdirectory as the project: git" "not a git repository" git status
run "$BERM" plan --project=.
expect_contains "a subdirectory: the plan names the repository around" "$scratch/main around the project is not visible" "$(tr -s ' \n' '  ' <<<"$out")"
BERM_OPTIONS=()
works_sh "a subdirectory as the current directory of the whole project" 'git status --short; git add part; git commit -qm part'
expect_equal "a subdirectory: committed" part "$(git log -1 --format=%s)"

# Submodules inside the project, from a remote inside the project. Registering one is a line in .git/config, which is locked: add says so
# and does the rest; for update the user has run `git submodule init`.
cd "$project" || exit 1
host init -q . && echo file >file && host add . && host commit -qm first
host clone -q --bare "$scratch/library" library.git
echo /library.git >>.git/info/exclude
locked_content .git >"$scratch/locked.before"
update="git -c protocol.file.allow=always submodule --quiet update"
works_sh "submodule add" 'git -c protocol.file.allow=always submodule --quiet add ./library.git sub; git commit -qm "a submodule"; cat sub/file'
expect_equal "submodule add: the files" library "$out"
expect_contains "submodule add: what could not be written" "could not write config file .git/config" "$err"
expect_equal "submodule add: all as it was" "$(cat "$scratch/locked.before")" "$(locked_content .git)"
host submodule --quiet deinit --force sub
rm -rf .git/modules/sub
refused "submodule update --init: the URL cannot be noted" "could not write config file .git/config" sh -c "$update --init"
expect_contains "submodule update --init: berm says why" "berm: git could not change .git/config: it is locked" "$err"
expect_equal "submodule update --init: nothing is half done" "" "$(ls -A sub; ls -A .git/modules)"
host submodule --quiet init 2>/dev/null
works_sh "submodule update after init on the host" "$update; cat sub/file"
expect_equal "submodule update: the files" library "$out"
works_sh "in the submodule: commit, push, and note it outside" 'cd sub; git checkout -q -b work; echo more >>file; git commit -qam "in the submodule"; git push -q origin HEAD
	cd ..; git add sub; git commit -qm "newer submodule"; git submodule status; git submodule foreach -q "git log -1 --format=%s"'
expect_equal "noted" "newer submodule" "$(git log -1 --format=%s)"
# git writes core.worktree of a submodule anew at each update; inside it is not set, so nothing is written.
locked_content .git >"$scratch/locked.before"
locked_content .git/modules/sub >>"$scratch/locked.before"
expect "control: it is set on the host" git -C sub config core.worktree
works_sh "submodule update back and forth" "git checkout -q HEAD~1; $update; git -C sub log -1 --format=%s; git checkout -q -; $update; git submodule foreach -q 'git log -1 --format=%s'"
expect_equal "the older and the newer one" "library
in the submodule" "$out"
works_sh "submodule update --init --recursive where nothing is new" "$update --init --recursive; cd sub; git rev-parse --show-toplevel; git status --short"
expect_equal "the submodule's own worktree" "$project/sub" "$out"
# The submodule was cloned inside: its configuration is the sandbox's own, and judged at the end of each run.
works "the submodule's configuration" git -C sub config core.fsmonitor ./x
expect_equal "what it would execute is a comment" "" "$(git -C sub config core.fsmonitor)"
expect_contains "and the original is in quarantine" ".git/modules/sub/config" "$("$BERM" quarantine list)"
works_sh "clone with submodules" 'git -c protocol.file.allow=always clone -q --recurse-submodules . clone; cat clone/sub/file; rm -rf clone'
expect_equal "clean for the host" "" "$(git status --porcelain)"

finish_work
