#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Everyday git where it is locked at the resolved places: .bare beside a pointer, a separate git directory, .git as a symlink, bare
# remotes in the project, worktrees that the host made, hooks and programs in the project; and repositories that were made inside.
. "$(dirname "$0")/support/lib.sh"
need git

# make LAYOUT: the project $scratch/LAYOUT with two commits and a bare remote in it.
make() {
	mkdir "$scratch/$1" && cd "$scratch/$1" || exit 1
	host init -q . && printf '/remote.git\n/trees\n/.bare\n/real\n/store\n' >.git/info/exclude
	echo one >file && host add . && host commit -qm one && echo two >>file && host commit -qam two
	host clone -q --bare . remote.git
	host remote add origin "$PWD/remote.git" && host fetch -q origin && host branch -q -u "origin/$(git branch --show-current)"
	case $1 in
	pointer) mv .git .bare && echo 'gitdir: ./.bare' >.git ;;
	separate) mkdir store && git init -q --separate-git-dir=store/g . ;;
	symlink) mv .git real && ln -s real .git ;;
	hooks)
		mkdir -p tools/hooks && printf '#!/bin/sh\nexit 0\n' >tools/hooks/pre-commit && chmod 755 tools/hooks/pre-commit
		cp tools/hooks/pre-commit tools/clean && printf '#!/bin/sh\ncat\n' >tools/clean
		echo '*.txt filter=clean' >.gitattributes
		host add . && host commit -qm tools && git config core.hooksPath tools/hooks && git config filter.clean.clean 'tools/clean %f'
		;;
	esac
	branch=$(git branch --show-current)
}

everyday() {
	works_sh "$1: status, add, commit, amend" 'git status --short; echo a >a.txt; git add -A; git commit -qm a; git commit -q --amend -m b'
	works_sh "$1: branch, checkout, merge" 'git checkout -q -b topic; echo t >t; git add t; git commit -qm t; git checkout -q -; git merge -q topic; git branch -q -d topic'
	works_sh "$1: stash, tag" 'echo s >>file; git stash -q; git stash pop -q; git checkout -q file; git tag v1; git tag -a -m x v2'
	works_sh "$1: push, fetch, pull" 'git push -q origin HEAD; git push -q origin v1; git fetch -q; git pull -q --rebase'
	expect_equal "$1: the remote has it" "$(git rev-parse HEAD)" "$(git -C remote.git rev-parse "$branch")"
	# A rebase that stops, and goes on in the next command.
	works_sh "$1: rebase stops" 'git checkout -q -b side HEAD~1; echo side >clash; git add clash; git commit -qm side; git checkout -q -; echo main >clash; git add clash
		git commit -qm main; git checkout -q side; ! git rebase "$1" >/dev/null 2>&1' "$branch"
	works_sh "$1: rebase goes on" 'echo both >clash; git add clash; GIT_EDITOR=true git rebase --continue >/dev/null; git checkout -q "$1"; git merge -q side; git branch -q -d side' "$branch"
	[ "$1" = hooks ] || worktrees "$1"
	works_sh "$1: gc, prune" 'git worktree prune; git gc -q; git -C remote.git gc -q'
	expect_equal "$1: clean for the host" "" "$(git status --porcelain)"
	expect "$1: sound for the host" git fsck --no-progress
	refused "$1: configuration" "could not" git config a.b c
	expect_contains "$1: berm says why" "it is locked" "$err"
	refused "$1: of the remote" "could not" git -C remote.git config a.b c
	expect_contains "$1: of the remote: berm says why" "it is locked" "$err"
	refused "$1: hooks of the remote" "Read-only" sh -c 'echo >remote.git/hooks/post-update'
}

worktrees() {
	works "$1: worktree add" git worktree add -q trees/inside -b inside
	works_sh "$1: commit in the worktree" 'cd trees/inside; echo w >w; git add w; git commit -qm w'
	works "$1: worktree remove" git worktree remove trees/inside
	git worktree add -q trees/host -b host-branch
	works_sh "$1: commit in the host's worktree" 'cd trees/host; echo w >w; git add w; git commit -qm w'
	works "$1: remove the host's worktree" git worktree remove trees/host
	expect_equal "$1: one worktree is left" 1 "$(git worktree list | wc -l)"
}

for layout in plain pointer separate symlink hooks; do
	make "$layout"
	everyday "$layout"
done
refused "hooks: the directory that core.hooksPath names" "Read-only" sh -c 'echo >tools/hooks/post-commit'
refused "hooks: a program that a filter names" "Read-only" sh -c 'echo >tools/clean'
works "hooks: other files beside it" sh -c 'echo >tools/other && rm tools/other'
# A tracked directory of hooks is in every worktree and held there: such a worktree is removed outside.
git worktree add -q trees/host
refused "hooks: remove a worktree with hooks of its own" "Read-only" git worktree remove trees/host
git worktree remove --force trees/host
BERM_OPTIONS=(--allow-write="$PWD/tools/clean")
works "hooks: lifted by an exact write entry" sh -c 'cat tools/clean >/dev/null && chmod 755 tools/clean && touch tools/clean'
BERM_OPTIONS=()

# What was made inside is the sandbox's own once it is recorded: the next command may change and delete it.
# record DIRECTORY: as the end of a run does.
record() {
	local key nanoseconds
	key=$(basename "$(grep -lx -- "$PWD" "$XDG_STATE_HOME"/berm/projects/*/path | xargs dirname)")
	nanoseconds=$(stat -c %w "$1" | sed 's/.*\.\([0-9]*\) .*/\1/; s/^0*\([0-9]\)/\1/')
	[ -d "$XDG_STATE_HOME/berm/born" ] || mkdir -m 700 "$XDG_STATE_HOME/berm/born"
	[ -s "$XDG_STATE_HOME/berm/born/$key" ] || (umask 077 && echo 'berm born 1' >"$XDG_STATE_HOME/berm/born/$key")
	echo "$(stat -c '%i %W' "$1") $nanoseconds" >>"$XDG_STATE_HOME/berm/born/$key"
}
cd "$scratch/plain" || exit 1
works_sh "init, clone, bare" 'git init -q n; git clone -q . c; git init -q --bare b; git init -q --separate-git-dir=sep s'
if [ "$(stat -c %W n/.git)" -gt 0 ]; then
	# The sweep has recorded them; without its records they are the host's.
	rm -f "$XDG_STATE_HOME"/berm/born/*
	refused "control: without a record it is locked" "busy" rm -rf n
	for made in n/.git c/.git b sep; do record "$made"; done
	works_sh "made inside: configuration, hooks, remotes" 'git -C c config a.b c; echo >c/.git/hooks/post-commit; git -C b config a.b c; git -C s config a.b c'
	works "made inside: deleted by the next command" rm -rf n c b s sep
	mkdir n && host init -q n
	refused "made by the host at the same place: locked" "busy" rm -rf n
fi

finish_work
