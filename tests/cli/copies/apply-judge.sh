#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm apply` leaves everything in the copy that a program of the host would obey. Each plant is first made bare, where it
# lands in the project (the control), and then in a copy, from which it must not reach the project while a harmless file beside it does.
. "$(dirname "$0")/../support/lib.sh"

if ! command -v git >/dev/null; then
	echo "git is needed"
	exit 77
fi
if ! unshare -Urm true 2>/dev/null; then
	echo "user namespaces are needed"
	exit 77
fi

renew() {
	chmod -R u+rwX "$project" "$XDG_STATE_HOME" 2>/dev/null
	cd "$scratch" && rm -rf "$project" "$XDG_STATE_HOME" && mkdir -p "$project" && cd "$project" || exit 1
	git init -q . && git config user.name Ada && git config user.email ada@example.org
	mkdir src && echo x >src/file && git add . && git commit -qm first
	echo y >src/file && git commit -qam second
}

# plant PATH SCRIPT: the script makes PATH, or changes it.
plant() {
	local path=$1 script=$2 before after
	renew
	before=$(stat -c '%F %s %Y' "$path" 2>/dev/null; cat "$path" 2>/dev/null)
	sh -c "$script" >/dev/null 2>&1
	after=$(stat -c '%F %s %Y' "$path" 2>/dev/null; cat "$path" 2>/dev/null)
	if [ "$before" = "$after" ]; then
		fail "control: $path is made bare" "$script"
		return
	fi
	renew
	before=$(stat -c '%F %s' "$path" 2>/dev/null; cat "$path" 2>/dev/null)
	run "$BERM" run --copy -- sh -c "$script; echo fine >src/beside"
	run "$BERM" apply
	expect_equal "$path is not applied" "$before" "$(stat -c '%F %s' "$path" 2>/dev/null; cat "$path" 2>/dev/null)"
	expect_equal "$path: what is fine is applied" fine "$(cat src/beside 2>/dev/null)"
}

plant .env 'echo S=1 >.env'
plant deep/er/.env 'mkdir -p deep/er && echo S=1 >deep/er/.env'
plant berm.yml 'printf "version: 1\n" >berm.yml'
plant .vscode/tasks.json 'mkdir .vscode && echo {} >.vscode/tasks.json'
plant .claude/settings.json 'mkdir .claude && echo {} >.claude/settings.json'
plant .codex/config.toml 'mkdir .codex && echo x >.codex/config.toml'
plant opencode.json 'echo {} >opencode.json'
plant .mcp.json 'echo {} >.mcp.json'
plant .envrc 'echo x >.envrc'
plant .husky/pre-commit 'mkdir .husky && echo x >.husky/pre-commit'
plant .git/commondir 'echo ../elsewhere >.git/commondir'
plant .git/config.worktree 'printf "[core]\n\tfsmonitor = touch /tmp/x\n" >.git/config.worktree'
plant .git/info/attributes 'mkdir -p .git/info && echo "* filter=x" >.git/info/attributes'
plant sub/.git 'mkdir sub && echo "gitdir: /nowhere/.git" >sub/.git'
plant sub/.git/config 'git init -q sub && git -C sub config core.fsmonitor "touch /tmp/x"'
plant sub/.git/hooks/post-checkout 'git init -q sub && mkdir -p sub/.git/hooks && echo x >sub/.git/hooks/post-checkout && chmod +x sub/.git/hooks/post-checkout'
plant .git/rebase-merge/git-rebase-todo 'GIT_SEQUENCE_EDITOR="sed -i 1s/pick/edit/" git rebase -q -i HEAD~1; echo "exec touch /tmp/x" >>.git/rebase-merge/git-rebase-todo'
# Root lists every directory, and sees that no host looks there.
if [ "$(id -u)" != 0 ]; then
	plant closed 'mkdir -p closed/.vscode && chmod 000 closed'
fi

# A repository without anything that executes is applied, and git agrees with it.
renew
expect_status "a repository is made in the copy" 0 "$BERM" run --copy -- sh -c 'git init -q sub && cd sub && git config user.name A && git config user.email a@example.org && echo z >f && git add f && git commit -qm sub'
expect_status "it is applied" 0 "$BERM" apply
expect_status "and sound" 0 git -C sub fsck --strict
chmod -R u+rwX "$project"
finish
