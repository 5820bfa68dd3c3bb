#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A command that cannot change a hidden, protected or read-only file tries to take its name away instead: symlinks, directories above,
# pointers of git. Every attack has its control without berm.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../support/lib.sh"

# attack NAME SETUP COMMAND CHECK: in a fresh directory, first bare, where CHECK must fail afterwards, then inside, where it must hold.
attack() {
	local name=$1 setup=$2 command=$3 check=$4
	rm -rf "$project"
	mkdir "$project"
	cd "$project" || exit 1
	sh -ec "$setup" >/dev/null 2>&1 || fail "$name: set-up"
	expect "$name: holds before" sh -c "$check"
	sh -c "$command" >/dev/null 2>&1
	if sh -c "$check" >/dev/null 2>&1; then
		fail "$name: the control does nothing"
		return
	fi
	cd / && rm -rf "$project"
	mkdir "$project"
	cd "$project" || exit 1
	sh -ec "$setup" >/dev/null 2>&1
	run "$BERM" run ${policy:+"--policy=$policy"} -- sh -c "$command; exit 7"
	expect_equal "$name: it ran" 7 "$status"
	expect "$name: holds after" sh -c "$check"
}

policy=
git_quiet='git -c user.name=a -c user.email=a@example.org -c protocol.file.allow=always -c init.defaultBranch=main'

hooks='git init -q . && rm -rf .git/hooks && mkdir tools && echo true >tools/pre-commit && ln -s ../tools .git/hooks'
attack 'hooks behind a link: removed' "$hooks" \
	'rm .git/hooks; mkdir .git/hooks; echo evil >.git/hooks/pre-commit' \
	'[ "$(cat .git/hooks/pre-commit)" = true ]'
attack 'hooks behind a link: renamed over' "$hooks" \
	'mkdir e; echo evil >e/pre-commit; ln -s ../e .git/l; mv -T .git/l .git/hooks' \
	'[ "$(cat .git/hooks/pre-commit)" = true ]'
attack 'hooks behind a link that leads nowhere' 'git init -q . && rm -rf .git/hooks && ln -s /nonexistent/hooks .git/hooks' \
	'rm .git/hooks; mkdir .git/hooks' '[ -L .git/hooks ]'
attack 'a link on the way to what is protected' 'mkdir real && echo 1 >real/x && ln -s real way && ln -s way/x .envrc' \
	'rm way; mkdir way; echo evil >way/x' '[ "$(cat .envrc)" = 1 ]'
attack 'the directory above a link' 'mkdir -p a/b real && echo 1 >real/x && ln -s ../../real/x a/b/.envrc' \
	'mv a old; mkdir -p a/b; echo evil >a/b/.envrc' '[ "$(cat a/b/.envrc)" = 1 ]'

# The link is what tells the next run that the file is a secret.
rm -rf "$project" && mkdir "$project" && cd "$project" || exit 1
mkdir conf
echo hush >conf/settings
ln -s conf/settings .env
expect_status 'a secret behind a link' 1 "$BERM" run -- cat conf/settings
run "$BERM" run -- sh -c 'rm .env; mv .env elsewhere; mv -T conf/settings .env'
run "$BERM" run -- cat conf/settings elsewhere .env
expect_equal 'a secret whose link was removed in an earlier run' '' "$out"

policy=$scratch/nested.yml
printf 'version: 1\nfiles: {write: [.], read: [a/b/vendor]}\n' >"$policy"
attack 'what is readable only, by way of the directory above' 'mkdir -p a/b/vendor && echo 1 >a/b/vendor/f' \
	'mv a old; mkdir -p a/b/vendor; echo evil >a/b/vendor/f' '[ "$(cat a/b/vendor/f)" = 1 ]'
policy=

submodule="$git_quiet init -q one && $git_quiet -C one commit -q --allow-empty -m 1 && $git_quiet init -q two &&
	$git_quiet -C two submodule --quiet add \"\$PWD/one\" sub"
attack 'the pointer of a submodule' "$submodule" 'rm two/sub/.git; echo gitdir: ../../evil >two/sub/.git' \
	'grep -q modules/sub two/sub/.git'
attack 'the directory of a submodule' "$submodule" 'mv two/sub two/old; mkdir two/sub; echo gitdir: ../../evil >two/sub/.git' \
	'grep -q modules/sub two/sub/.git'
worktree="git init -q . && $git_quiet commit -q --allow-empty -m 1 && rm -rf '$scratch/side' && git worktree add -q '$scratch/side'"
attack 'a worktree elsewhere: its common directory' "$worktree" 'echo /evil >.git/worktrees/side/commondir' \
	'grep -qx ../.. .git/worktrees/side/commondir'
attack 'a worktree elsewhere: its place' "$worktree" 'echo "$PWD/x/.git" >.git/worktrees/side/gitdir' \
	"grep -qxF '$scratch/side/.git' .git/worktrees/side/gitdir"

# One in the project is the command's to remove.
rm -rf "$project" && mkdir "$project" && cd "$project" || exit 1
sh -ec "git init -q . && $git_quiet commit -q --allow-empty -m 1 && git worktree add -q trees/one" >/dev/null 2>&1
expect_status 'a worktree in the project is removed inside' 0 "$BERM" run -- git worktree remove trees/one

# A denied grant does not become part of the writable tree around it, which is not searched there.
rm -rf "$project" && mkdir "$project" && cd "$project" || exit 1
mkdir -p node_modules/foo "$XDG_CONFIG_HOME/berm"
echo 1 >node_modules/foo/f
printf 'version: 1\nfiles: {write: [.], read: [node_modules/foo]}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
expect_output 'a nested grant is readable' 1 "$BERM" run -- cat node_modules/foo/f
printf 'version: 1\nfiles: {deny: [foo]}\n' >berm.yml
run "$BERM" run -- sh -c 'echo 2 >node_modules/foo/f; cat node_modules/foo/f'
expect_equal 'denied by the project: not readable' '' "$out"
expect_equal 'denied by the project: not writable' 1 "$(cat node_modules/foo/f)"
expect_status 'and check says so' 1 "$BERM" check write node_modules/foo/f
rm "$XDG_CONFIG_HOME/berm/berm.yml"

# An expensive project: many hidden names in deep directories. 1 GB is a third of the memory that this once took.
rm -rf "$project" && mkdir "$project" && cd "$project" || exit 1
python3 - <<'END'
import os
for _ in range(400):
    os.mkdir("deep")
    os.chdir("deep")
for number in range(1500):
    open(".env.%d" % number, "w").close()
END
expect_status 'deep names do not fill the memory' 0 sh -c 'ulimit -v 1000000; exec "$0" run -- true' "$BERM"

finish
