# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Shared by the tests of git hooks, after home.sh and lib.sh: a home with a key and an identity, and a hook that records its input.
if ! command -v git >/dev/null; then
	echo "git is needed"
	exit 77
fi
move_home
mkdir -p "$home/.ssh"
echo "the key" >"$home/.ssh/id_rsa"
printf '[user]\n\tname = Ada Example\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n' >"$home/.gitconfig"
unset GIT_DIR GIT_INDEX_FILE GIT_CONFIG_GLOBAL GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
export GIT_AUTHOR_DATE="2026-01-02T03:04:05Z" GIT_COMMITTER_DATE="2026-01-02T03:04:05Z" GIT_CONFIG_NOSYSTEM=1
cp "$home/.gitconfig" "$scratch/gitconfig.before"

all="applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase post-checkout \
post-merge pre-push post-rewrite"
served="pre-receive update post-receive post-update"

# A hook that notes what it was given. Called often and at git's leisure: these note only that they ran.
cat >"$scratch/noting" <<'END'
#!/bin/sh
name=${0##*/}
directory=$(git rev-parse --git-common-dir)
[ -e /run/berm/summary ] && echo "$name" >>"$directory/notes.inside" || echo "$name" >>"$directory/notes.outside"
case $name in
reference-transaction | post-index-change) exit 0 ;;
esac
{
	printf '%s' "$name"
	for argument; do printf ' <%s>' "$argument"; done
	printf ' in %s index=%s prefix=%s action=%s author=%s date=%s editor=%s\n' "${PWD##*/}" "${GIT_INDEX_FILE##*/}" "${GIT_PREFIX-unset}" \
		"${GIT_REFLOG_ACTION-unset}" "${GIT_AUTHOR_NAME-unset}" "${GIT_AUTHOR_DATE-unset}" "${GIT_EDITOR-unset}"
	sed 's/^/  stdin: /'
} >>"$directory/notes"
END
chmod +x "$scratch/noting"

# hooks_into DIRECTORY NAME...
hooks_into() {
	local directory=$1
	shift
	mkdir -p "$directory"
	for name; do
		cp "$scratch/noting" "$directory/$name"
	done
}
