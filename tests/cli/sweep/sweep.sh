#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# After a run: what the host would obey is gone, the line names it, and a rebase goes on. What git executes is shown with the host's own
# git: each plant runs there without the sweep.
. "$(dirname "$0")/../support/lib.sh"
# The guard would refuse the names; the subject is what happens without it.
mkdir -p "$XDG_CONFIG_HOME/berm"
printf 'version: 1\nfiles: {guard: repair}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
if ! command -v git >/dev/null; then
	echo "git is needed"
	exit 77
fi
export GIT_CONFIG_GLOBAL=$scratch/gitconfig GIT_CONFIG_NOSYSTEM=1
printf '[user]\n\tname = Ada Example\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n' >"$GIT_CONFIG_GLOBAL"
export GIT_EDITOR=true

# repository: a new project with three commits.
repository() {
	cd "$scratch" && rm -rf "$project" && mkdir "$project" && cd "$project" || exit 1
	rm -f "$scratch/ran"
	git init -q .
	for i in 1 2 3; do
		echo "$i" >"file$i"
		git add "file$i"
		git commit -qm "commit $i"
	done
	printf '#!/bin/sh\necho ran >>%s/ran\nexit 1\n' "$scratch" >"$scratch/evil"
	chmod +x "$scratch/evil"
}

inside() {
	run "$BERM" run -- sh -c "$1"
}

# nothing_ran NAME
nothing_ran() {
	expect "$1" test ! -e "$scratch/ran"
}

# entries: the quarantine, by path.
entries() {
	"$BERM" quarantine list | awk '{ print $NF }' | sort
}

empty_quarantine() {
	"$BERM" quarantine drop --all --yes >/dev/null
}

# Names where the host looks are moved; elsewhere they stay and are named in one line.
repository
inside 'mkdir .vscode && echo "{}" >.vscode/tasks.json; echo "{}" >.mcp.json; mkdir -p lib/.husky; echo x >lib/.envrc; exit 7'
expect_equal "the status is the command's" 7 "$status"
expect "a directory was moved" test ! -e .vscode
expect "a file was moved" test ! -e .mcp.json
expect "elsewhere it stays" test -e lib/.husky
expect_contains "the line names it" "moved to quarantine: .mcp.json" "$err"
expect_contains "and the way back" "berm quarantine restore" "$err"
expect_equal "one line for what stays" 1 "$(grep -c 'lib/.husky, lib/.envrc\|lib/.envrc, lib/.husky' "$scratch/err")"
expect_equal "both are in quarantine" "$project/.mcp.json $project/.vscode" "$(entries | tr '\n' ' ' | sed 's/ $//')"
expect_equal "no ghost file" "?? lib/" "$(git status --porcelain)"
expect_status "a second run says nothing" 0 "$BERM" run -- true
expect_equal "a second run is silent" "" "$err"

# files.guard: launch leaves names alone, and git directories are swept nevertheless.
mkdir -p "$XDG_CONFIG_HOME/berm"
printf 'version: 1\nfiles: {guard: launch}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
inside 'echo "{}" >.mcp.json; echo ../elsewhere >.git/commondir'
expect "guard launch: the name stays" test -e .mcp.json
expect_contains "guard launch: it is named" ".mcp.json" "$err"
expect "guard launch: a plant in .git does not stay" test ! -e .git/commondir
rm .mcp.json

# A user's own entry holds wherever it matches.
printf 'version: 1\nfiles: {guard: repair, protect: ["deploy.key"]}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
inside 'mkdir -p far/away && echo x >far/away/deploy.key'
expect "the user's own name is moved anywhere" test ! -e far/away/deploy.key
printf 'version: 1\nfiles: {guard: repair}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
empty_quarantine

# Files that existed at launch are never taken, however they are granted.
repository
printf 'version: 1\nfiles: {protect: [held, lib/tree], write: [held]}\n' >berm.yml
echo mine >held && mkdir -p lib/tree && echo mine >lib/tree/file
"$BERM" trust --yes >/dev/null
inside 'echo more >>held; true'
expect "a granted file stays" test -e held
expect "a protected tree stays" test -e lib/tree/file
expect_equal "and nothing is in quarantine" "" "$(entries)"

# commondir: control, then swept.
repository
plant='mkdir -p .c/objects .c/refs; printf "[core]\n\tfsmonitor = '"$scratch"'/evil\n" >.c/config; echo ../.c >.git/commondir'
sh -c "$plant"
git status >/dev/null 2>&1
expect "control: commondir gives git status to the command" test -e "$scratch/ran"
repository
inside "$plant"
git status >/dev/null 2>&1
nothing_ran "commondir was swept"
expect_equal "git works" "$(git rev-list --count HEAD)" 3

# A repository that is born inside: its settings and hooks that execute are taken, the rest stays.
plant='git init -q n; cd n; git config core.fsmonitor '"$scratch"'/evil; git config remote.origin.url /nowhere; cp '"$scratch"'/evil .git/hooks/pre-commit 2>/dev/null || printf "#!/bin/sh\necho ran >>'"$scratch"'/ran\n" >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit'
repository
sh -c "$plant"
git -C n status >/dev/null 2>&1
expect "control: a setting of a nested repository runs" test -e "$scratch/ran"
rm -f "$scratch/ran"
git -C n -c core.fsmonitor=false commit -q --allow-empty -m x >/dev/null 2>&1
expect "control: its hook runs" test -e "$scratch/ran"
repository
inside "$plant"
git -C n status >/dev/null 2>&1
git -C n -c core.fsmonitor=false commit -q --allow-empty -m x >/dev/null 2>&1
nothing_ran "born: nothing runs on the host"
expect_equal "born: the remote stays" /nowhere "$(git -C n config remote.origin.url)"
expect_contains "born: the setting is named" core.fsmonitor "$err"
id=$("$BERM" quarantine list | awk '/edited/ { print $1 }' | head -1)
expect_status "born: restored" 0 "$BERM" quarantine restore "$id"
expect_equal "born: as it was" "$scratch/evil" "$(git -C n config core.fsmonitor)"
inside 'true'
expect_equal "born: what the user restored stays" "$scratch/evil" "$(git -C n config core.fsmonitor)"
inside 'git -C n config alias.st "!evil"'
expect_equal "born: a later setting is taken, the user's stays" "$scratch/evil" "$(git -C n config core.fsmonitor)"
expect_status "born: the alias is a comment" 1 git -C n config alias.st
inside 'rm -rf n'
expect_status "born: the next command can remove it" 1 test -e n
empty_quarantine

# A setting that shares its line with a header, a continued one, an include, a link.
repository
inside 'git init -q m; printf "[core] pager = evil\n[diff \"x\"]\n\ttextconv = a\\\\\nb\n[include]\n\tpath = ../../evil.conf\n" >>m/.git/config
git init -q k; rm k/.git/config; ln -s ../../evil.conf k/.git/config; rm -rf k/.git/hooks; ln -s ../../h k/.git/hooks; printf "[core]\n\tpager = evil\n" >evil.conf'
expect_equal "no setting of it holds" "" "$(git config -f m/.git/config --includes --get-regexp 'pager|textconv|include' 2>/dev/null)"
expect "a link in place of the configuration" test ! -L k/.git/config
expect "a link in place of the hooks" test ! -L k/.git/hooks
empty_quarantine

# A pointer that leads out of the project, and one that is changed.
repository
git worktree add -q wt -b side 2>/dev/null
inside 'mkdir s; echo "gitdir: /tmp/elsewhere" >s/.git; echo "gitdir: /tmp/elsewhere" >wt/.git; echo /tmp/elsewhere >.git/worktrees/wt/commondir'
expect "a pointer out of the project is moved" test ! -e s/.git
expect_equal "a pointer of the user's is as it was" "gitdir: $project/.git/worktrees/wt" "$(cat wt/.git)"
expect_equal "so is the way back" "../.." "$(cat .git/worktrees/wt/commondir)"
expect_status "the worktree works" 0 git -C wt status
empty_quarantine

# A worktree with a protected name cannot be removed as a whole: the line names what completes it.
repository
mkdir .vscode && echo '{}' >.vscode/settings.json && git add .vscode && git commit -qm v
git worktree add -q 'w t' -b other 2>/dev/null
line=$("$BERM" run -- git worktree remove 'w t' 2>&1 | grep '^berm: w t: ')
expect_contains "the removed worktree is named, with a command" "rm -r -- " "$line"
eval "${line##*outside berm: }"
expect_status "the command completes it" 1 test -e 'w t'
expect_equal "and git knows it no more" 1 "$(git worktree list | wc -l)"
expect_equal "nothing is said about it later" "" "$("$BERM" run -- true 2>&1)"
empty_quarantine

# A directory that is made a repository around files of the user's.
repository
mkdir tool && mkdir tool/hooks && echo data >tool/config && echo script >tool/hooks/run
inside 'cd tool && mkdir objects refs && echo "ref: refs/heads/main" >HEAD && printf "[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = evil\n" >>config'
expect "only HEAD is moved" test ! -e tool/HEAD
expect "the user's files stay" test -e tool/hooks/run
empty_quarantine

# A rebase over two commands: an exec line that was not there at launch is a comment.
plant='printf "exec '"$scratch"'/evil\npick %s\n" "$(git rev-parse HEAD)" >todo; GIT_SEQUENCE_EDITOR="sed -i -e s/^pick/edit/" git rebase -q -i HEAD~1 >/dev/null 2>&1; printf "exec '"$scratch"'/evil\nx '"$scratch"'/evil\n" >>.git/rebase-merge/git-rebase-todo; rm todo'
repository
sh -c "$plant"
git rebase --continue >/dev/null 2>&1
expect "control: rebase --continue runs it" test -e "$scratch/ran"
repository
inside "$plant"
expect_contains "the rebase is under way" "rebase in progress" "$(git status)"
expect_contains "the todo file is named" git-rebase-todo "$err"
expect_status "rebase --continue goes on" 0 git rebase --continue
nothing_ran "no exec line ran"
expect_equal "the rebase is done" 0 "$(git status | grep -c 'rebase in progress')"
# The user's own exec line stays.
repository
GIT_SEQUENCE_EDITOR="sed -i -e s/^pick/edit/" git rebase -q -i HEAD~1 >/dev/null 2>&1
echo "exec touch $scratch/mine" >>.git/rebase-merge/git-rebase-todo
inside 'echo "exec touch '"$scratch"'/theirs" >>.git/rebase-merge/git-rebase-todo'
expect_status "the user's rebase goes on" 0 git rebase --continue
expect "the user's exec line ran" test -e "$scratch/mine"
expect "the command's did not" test ! -e "$scratch/theirs"
empty_quarantine

# Everyday work: nothing is taken.
repository
git clone -q --bare . "$scratch/remote.git"
git init -q "$scratch/sub" && git -C "$scratch/sub" commit -q --allow-empty -m sub
cp -r "$scratch/sub" local-sub
inside 'set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
git clone -q . clone
git init -q fresh
git -C fresh commit -q --allow-empty -m one
git init -q --bare bare.git
git push -q ./bare.git HEAD:main
git worktree add -q tree -b tree
git -C tree commit -q --allow-empty -m tree
git stash list
echo change >file1; git stash -q; git stash pop -q
git commit -qam change
git rebase -q HEAD~1
git gc -q
git tag t
git -c protocol.file.allow=always submodule --quiet add ./local-sub s 2>/dev/null || true
mkdir -p template/.vscode template/.husky node_modules/x/.idea'
expect_equal "everyday git: status" 0 "$status"
expect_equal "everyday git: nothing in quarantine" "" "$(entries)"
expect_status "everyday git: fsck" 0 git fsck
expect_status "everyday git: the clone is whole" 0 git -C clone fsck
expect_status "everyday git: the worktree works" 0 git -C tree status
inside 'rm -rf clone fresh bare.git && git worktree remove --force tree && git worktree list'
expect_equal "what was born can be removed" 0 "$status"
expect_equal "again nothing in quarantine" "" "$(entries)"

# Hostile permissions and names.
repository
inside 'mkdir .idea && chmod 0 .idea; echo x >.envrc; chmod 0 .envrc; mkdir "$(printf "a\nb")"; ln -s /etc/passwd .mcp.json; mkfifo .roomodes; echo y >.git/commondir; chmod 555 .git .'
chmod 755 . .git
expect_equal "all were moved" "" "$(ls -d .idea .envrc .mcp.json .roomodes .git/commondir 2>/dev/null)"
expect_equal "five entries" 5 "$("$BERM" quarantine list | wc -l)"
empty_quarantine
finish
