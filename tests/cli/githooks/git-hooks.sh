#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm hooks`: every client-side hook gets the same in the sandbox as without: arguments, stdin,
# GIT_* variables, directory. Runs the same steps bare and with berm and compares the hooks' notes.
# Installs for all repositories and undoes it, byte by byte.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=../support/git-hooks.sh
. "$support/git-hooks.sh"

# Steps that call every client-side hook.
story() {
	git init -q --bare remote.git && git init -q work
	# shellcheck disable=SC2086
	hooks_into work/.git/hooks $all reference-transaction post-index-change
	# shellcheck disable=SC2086
	hooks_into remote.git/hooks $served
	cd work || return
	"${prepare[@]}" || return
	mkdir -p sub
	echo one >file && git add file && git commit -qm first
	cd sub && echo two >>../file && git commit -qam "second, from below" && cd ..
	git commit -q --amend -m amended
	git checkout -q -b topic
	echo topic >topic && git add topic && git commit -qm topic
	git checkout -q main
	echo main >main && git add main && git commit -qm main
	git merge -q --no-edit --no-ff topic
	git remote add origin ../remote.git && git push -q origin main
	git checkout -q -b patched HEAD~1
	git format-patch -q -1 topic --stdout >../patch
	git am -q ../patch
	git checkout -q -b rebased main~1
	echo rebased >rebased && git add rebased && git commit -qm rebased
	git rebase -q main
	git push -q origin rebased 'main:other'
	cd ..
}

prepare=(true)
mkdir bare berm global
(cd bare && story) >"$scratch/bare.log" 2>&1
expect_equal "the control: the story" "" "$(cat "$scratch/bare.log")"
expect_equal "the control: every client-side hook has its part" "$(tr ' ' '\n' <<<"$all" | sort)" \
	"$(grep -o '^[a-z-]*' bare/work/.git/notes | sort -u)"
expect_equal "the control: all of them outside" "" "$(cat bare/work/.git/notes.inside 2>/dev/null)"

prepare=("$BERM" hooks install --repo)
(cd berm && story) >"$scratch/berm.log" 2>&1
expect_equal "with berm: the story" "git hooks run in the sandbox" "$(grep -v '^added to ' "$scratch/berm.log")"
expect_equal "with berm: the hooks were given the same" "$(cat bare/work/.git/notes)" "$(cat berm/work/.git/notes)"
expect_equal "with berm: none ran outside" "" "$(cat berm/work/.git/notes.outside 2>/dev/null)"
for name in $all reference-transaction post-index-change; do
	expect "with berm: $name ran inside" grep -qx "$name" berm/work/.git/notes.inside
done
expect_equal "with berm: the same commits" "$(git -C bare/work log --all --format='%H %s')" "$(git -C berm/work log --all --format='%H %s')"
expect_equal "with berm: the same in the remote" "$(git -C bare/remote.git for-each-ref)" "$(git -C berm/remote.git for-each-ref)"
expect_equal "the remote's own hooks are not the repository's" "post-receive post-update pre-receive update" \
	"$(sort -u berm/remote.git/notes.outside | xargs)"

prepare=("$BERM" hooks install --global)
(cd global && story) >"$scratch/global.log" 2>&1
expect_equal "--global: the hooks were given the same" "$(cat bare/work/.git/notes)" "$(cat global/work/.git/notes)"
expect_equal "--global: none ran outside" "" "$(cat global/work/.git/notes.outside 2>/dev/null)"
expect_equal "--global: the remote's were given the same" "$(cat bare/remote.git/notes)" "$(cat global/remote.git/notes)"
expect_equal "--global: and ran inside" "post-receive post-update pre-receive update" "$(sort -u global/remote.git/notes.inside | xargs)"
expect_equal "--global: not outside" "" "$(cat global/remote.git/notes.outside 2>/dev/null)"
cd global/work || exit 1
expect_status "--global: status" 0 "$BERM" hooks status
expect_contains "--global: in force" "in force    yes" "$out"
cp "$home/.gitconfig" "$scratch/gitconfig.after"
expect_output "--global: a second time changes nothing" "already in $home/.gitconfig
git hooks run in the sandbox" "$BERM" hooks install --global
expect "--global: to the byte" cmp "$home/.gitconfig" "$scratch/gitconfig.after"
expect_status "--global: uninstall" 0 "$BERM" hooks --uninstall --global
expect "--global: gives the bytes back" cmp "$home/.gitconfig" "$scratch/gitconfig.before"
expect_status "--global: status after that" 1 "$BERM" hooks status
rm "$home/.gitconfig"
expect_status "--global: without a file" 0 "$BERM" hooks install --global
expect "--global: one is made" test -s "$home/.gitconfig"
expect_status "--global: and goes again" 0 "$BERM" hooks uninstall --global
expect "--global: altogether" test ! -e "$home/.gitconfig"
cp "$scratch/gitconfig.before" "$home/.gitconfig"
expect_status "a word that is none" 125 "$BERM" hooks remove
expect_status "both at once" 125 "$BERM" hooks install --global --repo
(cd "$scratch" && expect_status "no repository" 125 "$BERM" hooks install)

finish
