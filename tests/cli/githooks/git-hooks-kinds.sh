#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm hooks`: a hook's status counts, it can write the index and the work tree, and it cannot read
# ~/.ssh. Nothing widens its sandbox, and a failure of berm fails the hook. Repositories with their
# own core.hooksPath, worktrees, hooks in the home.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=../support/git-hooks.sh
. "$support/git-hooks.sh"

# fresh NAME: creates a repository and enters it. hook NAME: writes a hook from stdin.
fresh() {
	git init -q "$project/$1" && cd "$project/$1" || exit 1
	cp .git/config "$scratch/config.before"
	"$BERM" hooks install >/dev/null 2>"$scratch/err" || fail "install in $1" "$(cat "$scratch/err")"
}
hook() {
	mkdir -p "${hooks:-.git/hooks}"
	cat >"${hooks:-.git/hooks}/$1"
	chmod +x "${hooks:-.git/hooks}/$1"
}
commit() {
	run git commit -q --allow-empty -m "$@"
}

# Status, secrets, the index and the work tree.
fresh powers
hook pre-commit <<<$'#!/bin/sh\ncat ~/.ssh/id_rsa'
commit secret
expect_equal "a hook that reads ~/.ssh fails" 1 "$status"
expect_equal "with nothing of it" "" "$out"
expect_contains "as if it were not there" "No such file" "$err"
expect_status "and there is no commit" 1 git rev-parse -q --verify HEAD
run git -c core.hooksPath=.git/hooks commit -q --allow-empty -m control
expect_equal "the control: without berm it reads it" "0 the key" "$status $out$err"
hook pre-commit <<<$'#!/bin/sh\nexit 42'
expect_status "a status: the commit is not made" 1 git commit -q --allow-empty -m x
hook pre-commit <<<$'echo no first line; exit 7'
expect_status "a hook without an interpreter" 1 git commit -q --allow-empty -m x
expect_contains "is run by sh" "no first line" "$out$err"
hook pre-commit <<<$'#!/bin/sh\nkill -9 $$'
expect_status "a hook that is killed" 1 git commit -q --allow-empty -m x
rm .git/hooks/pre-commit
printf '#!/bin/sh\nexit 1\n' >.git/hooks/pre-commit
commit "not executable"
expect_equal "a hook that is not executable is passed over" 0 "$status"
expect_contains "with git's hint" "not set as executable" "$err"
hook pre-commit <<<$'#!/bin/sh\ngit ls-files -z "*.txt" | xargs -0 sed -i "s/ *$//" && git add -u && echo made >made && git add made && date >untracked'
hook commit-msg <<<$'#!/bin/sh\nprintf "\\nReviewed-by: hook\\n" >>"$1"'
echo 'text   ' >text.txt && git add text.txt
commit "a formatter"
expect_equal "the formatter's commit" 0 "$status"
expect_equal "what was committed is formatted" "text" "$(git show HEAD:text.txt | cat -A | tr -d '$')"
expect_equal "files that the hook added are in it" "made" "$(git show HEAD:made)"
expect_equal "the message has what the hook wrote" "Reviewed-by: hook" "$(git log -1 --format=%B | tail -n 2 | head -n 1)"
expect "the work tree has what it wrote" test -s untracked
rm -f .git/hooks/*
hook pre-commit <<<$'#!/bin/sh\necho evil >.git/hooks/post-commit; git config core.pager evil; echo x >"$HOME/.bashrc"; exit 0'
commit "planting"
expect_equal "a hook plants no hook, no configuration, nothing in the home" "0 no no" \
	"$status $(test -e .git/hooks/post-commit && echo yes || echo no) $(test -e "$home/.bashrc" && echo yes || echo no)"
expect_equal "no configuration" "" "$(git config core.pager)"
hook pre-push <<<$'#!/bin/sh\nread line && echo "refused: $line" >&2; exit 1'
git init -q --bare ../powers.git
expect_status "a push that is refused" 1 git push -q ../powers.git HEAD:main
expect_contains "stdin was there" "refused: HEAD" "$err"
expect_equal "nothing was pushed" "" "$(git -C ../powers.git for-each-ref)"
expect_status "--no-verify" 0 git push -q --no-verify ../powers.git HEAD:main

# The environment of one git command cannot widen the sandbox.
hook pre-commit <<<$'#!/bin/sh\ncat ~/private/diary'
mkdir -p "$home/private" "$scratch/moved/berm" && echo "the diary" >"$home/private/diary"
printf 'version: 1\nfiles: {read: [~/private]}\n' >"$scratch/moved/berm/berm.yml"
expect_equal "the control: berm run takes such a policy" "the diary" \
	"$(XDG_CONFIG_HOME=$scratch/moved XDG_STATE_HOME=$scratch/other "$BERM" run -- cat "$home/private/diary")"
XDG_CONFIG_HOME=$scratch/moved run git commit -q --allow-empty -m x
expect_equal "a hook does not" "1 " "$status $out"
expect_contains "and says why" XDG_CONFIG_HOME "$err"
BERM=1 BERM_SUMMARY=x run env BERM=1 git commit -q --allow-empty -m x
expect_equal "BERM=1 means nothing" "1 " "$status $out"

# Fail closed: a failure of berm fails the hook.
hook pre-commit <<<$'#!/bin/sh\nexit 0'
commit "the control: it passes"
expect_equal "the control: it passes" 0 "$status"
mkdir -p "$home/.config/berm" && echo 'nonsense: 1' >"$home/.config/berm/berm.yml"
commit x
expect_equal "a policy that is none" 1 "$status"
expect_contains "is told" "nonsense" "$err"
rm "$home/.config/berm/berm.yml"
sed -i 's#/berm#/berm-that-is-gone#' "$home/.local/share/berm/git-hooks/pre-commit"
commit x
expect_equal "a berm that is gone" 1 "$status"
expect_contains "is told" "was not run" "$err"
expect_status "and seen by status" 1 "$BERM" hooks status
"$BERM" hooks install >/dev/null
commit "repaired"
expect_equal "and repaired by install" 0 "$status"
expect_status "uninstall" 0 "$BERM" hooks uninstall
expect "uninstall: the bytes that were there" cmp .git/config "$scratch/config.before"

# core.hooksPath of others: in the repository (husky and similar), before and after; in the user's
# configuration.
fresh husky
mkdir -p .husky/_
cat >.husky/_/start <<'END'
#!/usr/bin/env sh
name=$(basename "$0")
file=$(dirname "$(dirname "$0")")/$name
[ -f "$file" ] || exit 0
[ "${HUSKY-}" != 0 ] || exit 0
export PATH="node_modules/.bin:$PATH"
sh -e "$file" "$@" || { code=$?; echo "husky - $name script failed (code $code)"; exit $code; }
END
for name in pre-commit commit-msg; do
	printf '#!/usr/bin/env sh\n. "$(dirname "$0")/start"\n' >.husky/_/$name
	chmod +x .husky/_/$name
done
mkdir -p node_modules/.bin
cat >node_modules/.bin/lint-staged <<'END'
#!/bin/sh -e
# A hook can fix staged files; unstaged changes are left alone.
git diff --name-only -z --cached --diff-filter=ACMR -- '*.txt' >.git/staged
git diff --binary >.git/unstaged
[ ! -s .git/unstaged ] || git checkout -q -- .
xargs -0r sed -i 's/bad/good/' <.git/staged
xargs -0r git add -- <.git/staged
[ ! -s .git/unstaged ] || git apply --whitespace=nowarn .git/unstaged
rm .git/staged .git/unstaged
END
chmod +x node_modules/.bin/lint-staged
echo 'test -e /run/berm/summary && lint-staged' >.husky/pre-commit
echo 'grep -q "^[a-z]*: " "$1"' >.husky/commit-msg
expect_status "what husky does after berm" 0 git config core.hooksPath .husky/_
expect_status "husky: berm stays in force" 0 "$BERM" hooks status
expect_contains "husky: and knows the hooks" "pre-commit, commit-msg in .husky/_" "$out"
echo bad >a.txt && echo other >b.md && git add a.txt b.md && echo more >>b.md
commit "area: staged"
expect_equal "husky, lint-staged: commit" "0 " "$status $err"
expect_equal "husky, lint-staged: put right" good "$(git show HEAD:a.txt)"
expect_equal "husky, lint-staged: what was not staged is still there" "other more / other" "$(xargs <b.md) / $(git show HEAD:b.md)"
commit "no area"
expect_equal "husky: the message is refused" 1 "$status"
expect_contains "husky: in its words" "commit-msg script failed" "$out$err"
HUSKY=0 commit "no area"
expect_equal "husky: HUSKY=0" 0 "$status"
cp .git/config "$scratch/config.husky"
expect_status "husky: uninstall" 0 "$BERM" hooks uninstall
expect_equal "husky: leaves its own" .husky/_ "$(git config core.hooksPath)"
expect_status "husky: install after it" 0 "$BERM" hooks install
expect "husky: is the same" cmp .git/config "$scratch/config.husky"
expect_status "husky: --global alone is not in force" 1 env GIT_CONFIG_GLOBAL="$scratch/global.config" bash -c \
	"'$BERM' hooks uninstall >/dev/null; '$BERM' hooks install --global"
expect_contains "husky: which is said" "berm hooks install --repo" "$err"

# pre-commit and similar: a script with its own interpreter that calls git often.
fresh pre-commit
hook pre-commit <<'END'
#!/usr/bin/env bash
here=$(cd "$(dirname "$0")" && pwd)
exec python3 - "$here" "$@" <<'PYTHON'
import subprocess, sys, os
top = subprocess.check_output(["git", "rev-parse", "--show-toplevel"], text=True).strip()
os.chdir(top)
staged = subprocess.check_output(["git", "diff", "--staged", "--name-only", "--no-ext-diff", "-z"]).decode().split("\0")[:-1]
tree = subprocess.check_output(["git", "write-tree"], text=True).strip()
changed = subprocess.call(["git", "diff-index", "--quiet", "--ignore-submodules", tree])
os.makedirs(os.path.expanduser("~/.cache/pre-commit"), exist_ok=True)
open(os.path.expanduser("~/.cache/pre-commit/db"), "w").close()
bad = [name for name in staged if b"TODO" in open(name, "rb").read()]
print("files with TODO:", bad)
sys.exit(1 if bad else 0)
PYTHON
END
echo TODO >file && git add file
commit x
expect_equal "pre-commit: refuses" 1 "$status"
expect_contains "pre-commit: in words" "files with TODO: ['file']" "$out$err"
echo finished >file && git add file
SKIP=x commit x
expect_equal "pre-commit: passes" 0 "$status"
expect "pre-commit: its cache is in the private home" test ! -e "$home/.cache/pre-commit"

# pre-commit itself: installed first, or after berm as the guide describes.
if command -v pre-commit >/dev/null; then
	fresh pre-commit-itself
	"$BERM" hooks uninstall >/dev/null
	cat >.pre-commit-config.yaml <<-'END'
	repos:
	- repo: local
	  hooks:
	  - {id: inside, name: inside, entry: sh -c 'test -e /run/berm/summary && ! cat ~/.ssh/id_rsa 2>/dev/null', language: system, always_run: true, pass_filenames: false}
	  - {id: syntax, name: syntax, entry: sh -n, language: system, files: '\.sh$'}
	END
	expect_status "pre-commit itself: install" 0 pre-commit install
	echo 'echo fine' >a.sh && git add -A
	commit "outside"
	expect_equal "pre-commit itself: the control: outside the first check fails" 1 "$status"
	"$BERM" hooks install >/dev/null
	commit "inside"
	expect_equal "pre-commit itself: inside" 0 "$status$([ "$status" = 0 ] || echo ": $out $err")"
	echo 'if' >a.sh && git add a.sh
	commit "a mistake"
	expect_equal "pre-commit itself: a check that fails" 1 "$status"
	expect_contains "pre-commit itself: in its words" "hook id: syntax" "$out$err"
	rm .git/hooks/pre-commit
	expect_status "pre-commit itself: after berm it refuses to install" 1 pre-commit install
	expect_status "pre-commit itself: but so" 0 env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0= pre-commit install
	commit "a mistake, again"
	expect_contains "pre-commit itself: and it is run" "hook id: syntax" "$out$err"
	# Its directory of the real home, read-only.
	expect "pre-commit itself: the control: it has one" test -d "$home/.cache/pre-commit"
	printf 'version: 1\nfiles: {read: [~/.cache/pre-commit]}\n' >"$home/.config/berm/berm.yml"
	echo 'echo fine again' >a.sh && git add a.sh
	commit "with its directory"
	expect_equal "pre-commit itself: with its directory read-only" 0 "$status$([ "$status" = 0 ] || echo ": $out $err")"
	rm "$home/.config/berm/berm.yml"
fi

# Hooks for all repositories in the user's home, which is invisible in the sandbox.
fresh everywhere
hooks=$home/hooks hook pre-commit <<<$'#!/bin/sh\necho from the home; test -e /run/berm/summary'
"$BERM" hooks uninstall >/dev/null
printf '[core]\n\thooksPath = ~/hooks\n' >>"$home/.gitconfig"
cp "$home/.gitconfig" "$scratch/gitconfig.hooks"
expect_status "the user's hooks: install" 0 "$BERM" hooks install --global
commit x
expect_equal "the user's hooks: not visible, so not run, so refused" 1 "$status"
expect_contains "the user's hooks: with the way out" "files: {read: [$home/hooks]}" "$err"
printf 'version: 1\nfiles: {read: [~/hooks]}\n' >"$home/.config/berm/berm.yml"
commit x
expect_equal "the user's hooks: granted, run inside" "0 from the home" "$status $out$err"
rm "$home/.config/berm/berm.yml"
expect_status "the user's hooks: uninstall" 0 "$BERM" hooks uninstall --global
expect "the user's hooks: to the byte" cmp "$home/.gitconfig" "$scratch/gitconfig.hooks"
cp "$scratch/gitconfig.before" "$home/.gitconfig"

# Worktrees share the hooks and the installation; submodules have their own.
fresh main
hooks_into .git/hooks pre-commit post-checkout
commit first
git worktree add -q ../linked -b linked
cd ../linked || exit 1
expect_status "a worktree: status" 0 "$BERM" hooks status
echo x >x && git add x
commit "in the worktree"
expect_equal "a worktree: commit" 0 "$status"
expect_equal "a worktree: every hook ran inside" "" "$(cat ../main/.git/notes.outside 2>/dev/null)"
expect_contains "a worktree: its own index" "pre-commit in linked index=index" "$(tail -n 1 ../main/.git/notes)"
expect_status "a worktree: uninstall" 0 "$BERM" hooks uninstall
expect "a worktree: of the repository" cmp ../main/.git/config "$scratch/config.before"

# A git in the sandbox runs the repository's hooks in the same sandbox.
fresh inside
hooks_into .git/hooks pre-commit
expect_status "a commit inside" 0 "$BERM" run -- git commit -q --allow-empty -m inside
expect_equal "the hook ran, once" "pre-commit" "$(cat .git/notes.inside)"
expect_status "hooks cannot be installed from inside" 125 "$BERM" run --allow-read="$(dirname "$BERM")" -- "$BERM" hooks install

# A repository that cannot be a project: the hook is refused with a message.
git init -q "$home" && cd "$home" || exit 1
"$BERM" hooks install >/dev/null
commit "no hook, no sandbox"
expect_equal "the home as a repository, without hooks" 0 "$status"
hooks_into .git/hooks pre-commit
commit x
expect_equal "with one" 1 "$status"
expect_contains "in words" "it is your home" "$err"

# Concurrent changes: git's own lock.
cd "$project/inside" || exit 1
touch .git/config.lock
expect_status "while git changes it" 125 "$BERM" hooks uninstall
expect_contains "in words" "config.lock" "$err"
rm .git/config.lock
expect_status "afterwards" 0 "$BERM" hooks uninstall

finish
