#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The names of repositories and symlinks in the index are never stale. Every case starts with an index that is in use and shows that
# without berm the file is made, or read; then it checks the very next run. The home is a scratch directory.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
if ! command -v git >/dev/null; then
	echo "git is needed"
	exit 77
fi

home=$scratch/home
plans=$home/.local/state/berm/plans
unset XDG_STATE_HOME
chmod 755 "$scratch"
mkdir -p "$home/.config/berm" "$scratch/bin"
unset XDG_CONFIG_HOME
# Guard and watcher would act while the command runs; the subject is the search after it.
printf 'version: 1\nfiles: {guard: launch, deny: [link/secret.txt]}\n' >"$home/.config/berm/berm.yml"
cp "$BERM" "$scratch/bin/berm"
BERM=$scratch/bin/berm
set_home "$home"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1

is_indexed() {
	"$BERM" run -- true && "$BERM" plan --why-rebuilt | grep -q 'an index of'
}

settle() {
	sleep 0.15
	rm -f "$plans"/.walk-*
	until_true is_indexed || fail "$1: control: the index is in use" "$("$BERM" plan --why-rebuilt)"
	sleep 0.15
}

repository() {
	rm -rf "${project:?}/.git" "${project:?}"/* && git init -q . && mkdir -p .git/branches .git/info .git/objects/info && echo old >.git/branches/old
}

# swept NAME PATH PLANT: bare the plant stays; made inside it is gone after the run, and so it is if .git itself has changed.
swept() {
	local name=$1 path=$2 plant=$3 also
	repository
	sh -c "$plant"
	expect "$name: control: bare it is there" test -e "$path" -o -L "$path"
	for also in '' '; : >.git/SQUASH_MSG'; do
		repository
		settle "$name"
		expect_status "$name${also:+, with another file}: the run" 0 "$BERM" run -- sh -c "$plant$also"
		expect "$name${also:+, with another file}: gone" test ! -e "$path" -a ! -L "$path"
	done
	"$BERM" quarantine drop --all --yes >/dev/null
}

swept "a commondir" .git/commondir 'echo ../x >.git/commondir'
swept "attributes" .git/info/attributes 'echo "* filter=x" >.git/info/attributes'
swept "attributes in a new directory" .git/info/attributes 'rm -rf .git/info; mkdir .git/info; echo "* filter=x" >.git/info/attributes'
swept "a branch of the oldest form" .git/branches/new 'echo /nowhere >.git/branches/new'
swept "one that was changed" .git/branches/old 'echo /nowhere >.git/branches/old'
swept "remotes" .git/remotes/new 'mkdir .git/remotes; echo "URL: /nowhere" >.git/remotes/new'
swept "a link in the git directory" .git/COMMIT_EDITMSG 'ln -s ../../out .git/COMMIT_EDITMSG'
swept "a link deeper in it" .git/logs/refs/heads/main 'mkdir -p .git/logs/refs/heads; ln -s /nowhere .git/logs/refs/heads/main'
swept "a link in a directory that is not searched" .git/logs/refs/heads/node_modules/x \
	'mkdir -p .git/logs/refs/heads/node_modules; ln -s /nowhere .git/logs/refs/heads/node_modules/x'
swept "objects/info as a link" .git/objects/info 'rm -r .git/objects/info; ln -s /tmp .git/objects/info'
swept "a link in objects/info" .git/objects/info/commit-graph 'ln -s /nowhere .git/objects/info/commit-graph'

# harmless NAME FILE PATTERN PLANT: bare the file has the line; made inside it has none.
harmless() {
	local name=$1 file=$2 pattern=$3 plant=$4
	repository
	sh -c "$plant"
	expect "$name: control: bare it is there" grep -q "$pattern" "$file"
	repository
	settle "$name"
	expect_status "$name: the run" 0 "$BERM" run -- sh -c "$plant"
	expect_status "$name: it is a comment" 1 grep -q "$pattern" "$file"
	"$BERM" quarantine drop --all --yes >/dev/null
}

harmless "a worktree's configuration" .git/config.worktree '^[^#]*pager' 'printf "[core]\n\tpager = evil\n" >.git/config.worktree'
harmless "steps of a rebase" .git/rebase-merge/git-rebase-todo '^exec' 'mkdir .git/rebase-merge; echo "exec evil" >.git/rebase-merge/git-rebase-todo'

# A configuration that is changed in place: the same size, inode and mtime, within the same second.
repository
mkdir h1 h2
git config core.hooksPath h1
settle "hooksPath"
expect_status "hooksPath: control: h1 is read-only" 2 "$BERM" run -- sh -c ': >h1/x'
expect_status "hooksPath: control: h2 is writable" 0 "$BERM" run -- sh -c ': >h2/y && rm h2/y'
cp -p .git/config "$scratch/config"
sed 's/h1/h2/' "$scratch/config" >"$scratch/changed"
cat "$scratch/changed" >.git/config
touch -r "$scratch/config" .git/config
expect_equal "hooksPath: control: the size is the same" "$(stat -c %s "$scratch/config")" "$(stat -c %s .git/config)"
expect_status "hooksPath: the very next run knows it" 2 "$BERM" run -- sh -c ': >h2/x'
expect_status "hooksPath: and the old one is free" 0 "$BERM" run -- sh -c ': >h1/x'

# The target of a symlink is hidden under its name; so is the next target after a change.
repository
mkdir -p far/a far/b
echo one >far/a/secret.txt
echo two >far/b/secret.txt
ln -s far/a link
settle "a link"
expect_status "a link: control: bare" 0 cat far/b/secret.txt
expect_status "a link: its target is hidden" 1 "$BERM" run -- cat far/a/secret.txt
expect_status "a link: control: nothing else" 0 "$BERM" run -- cat far/b/secret.txt
ln -sfn far/b link
expect_status "a link that leads elsewhere: its target is hidden" 1 "$BERM" run -- cat far/b/secret.txt
expect_status "a link that leads elsewhere: not the old one" 0 "$BERM" run -- cat far/a/secret.txt
settle "a directory on the way"
mv far near && mkdir far && mv near/a far/b && mv near/b far/a
expect_status "directories that were exchanged: hidden" 1 "$BERM" run -- cat far/b/secret.txt
expect_status "directories that were exchanged: not the other" 0 "$BERM" run -- cat far/a/secret.txt
settle "a link on the way"
mkdir away && mv far away/ && ln -s away/far far
expect_status "a link on the way: hidden" 1 "$BERM" run -- cat away/far/b/secret.txt
rm link && mkdir link && echo three >link/secret.txt
expect_status "a directory in place of the link: hidden" 1 "$BERM" run -- cat link/secret.txt
finish
