#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What the host's git obeys is read-only: git inside says so in its own words, and the host's files are as they were. And whose name
# a commit bears: the repository's own setting, else the private home's, else ~/.gitconfig's.
. "$(dirname "$0")/support/lib.sh"
need git

host init -q .
echo text >text && host add . && host commit -qm first
host init -q --bare remote.git
mkdir .git/info 2>/dev/null
echo '*.log' >>.git/info/exclude
host config alias.st status
cp -a .git "$scratch/control.git"
locked_content .git >"$scratch/locked.before"

expect "control: the same works on the host" git --git-dir="$scratch/control.git" config core.fsmonitor ./x
refused "git config" "could not" git config core.fsmonitor ./x
refused "git config --unset" "could not" git config --unset alias.st
refused "git remote add" "could not" git remote add origin ./remote.git
refused "git config core.hooksPath" "could not" git config core.hooksPath hooks
refused "a hook" "Read-only" sh -c 'echo true >.git/hooks/pre-commit'
refused "a hook that exists" "" sh -c 'echo true >>.git/hooks/pre-commit.sample'
refused "moving the hooks away" "" mv .git/hooks .git/other-hooks
refused "moving the repository away" "" mv .git other.git
refused "chmod" "" chmod 777 .git/config
refused "the configuration by another name" "" ln .git/config other-config
works "reading it" git st --short
expect_equal "all as it was" "$(cat "$scratch/locked.before")" "$(locked_content .git)"
expect "no lock is left" test ! -e .git/config.lock
expect_equal "the host's status" "?? remote.git/" "$(git status --porcelain)"
expect "the host can still configure" git config core.abbrev 12
git config --unset core.abbrev

# What usually wants to write the configuration and does its work all the same.
works_sh "push without -u, branch without tracking, by URL" 'git push -q ./remote.git HEAD:main; git fetch -q ./remote.git; git checkout -q -b next --no-track HEAD'
host remote add origin ./remote.git && host fetch -q origin
run "$BERM" run -- git checkout -q -b tracking origin/main
expect_equal "a branch that would track is made, or refused, but never half" "$([ "$status" = 0 ] && echo tracking || echo next)" "$(git branch --show-current)"
run "$BERM" run -- git push -q -u origin HEAD
expect_equal "push -u pushes, although tracking cannot be noted" "$(git rev-parse HEAD)" "$(git -C remote.git rev-parse "$(git branch --show-current)")"
expect_equal "status of a submodule-less repository" "" "$(git config --get-regexp '^branch' || true)"

# Why: one line of berm's after git's own, where git was refused because of the lock; and only there.
locked_content .git >"$scratch/locked.before"
reasons() {
	grep -c '^berm: .*\.git/config.*locked' "$scratch/err" || true
}
# told NAME COMMAND...: git's words, one line of berm's, and no other.
told() {
	local name=$1
	shift
	run "$BERM" run "${BERM_OPTIONS[@]}" -- "$@"
	expect_contains "$name: git's own words" "could not write config file" "$err"
	expect_equal "$name: berm's reason, once" "1 1" "$(reasons) $(grep -c '^berm:' "$scratch/err")"
}
# untold NAME COMMAND...: nothing of berm's.
untold() {
	local name=$1
	shift
	run "$BERM" run "${BERM_OPTIONS[@]}" -- "$@"
	expect_equal "$name: berm says nothing" 0 "$(grep -c '^berm:' "$scratch/err")"
}
# A checkout that cannot replace a protected file: git exits with 0, and berm adds one line.
mkdir .vscode && echo 1 >.vscode/settings.json && echo 1 >mise.toml && echo 1 >plain
host add .vscode mise.toml plain && host commit -qm "settings" && host branch incomplete
echo 2 >.vscode/settings.json && echo 2 >mise.toml && host commit -qam "other settings" && host branch complete
echo 2 >plain && host commit -qam "other file"
run "$BERM" run -- git checkout -q complete
expect_equal "a checkout without protected files: berm says nothing" "0 0" "$status $(grep -c '^berm:' "$scratch/err")"
run "$BERM" run -- git checkout -q incomplete
expect_contains "an incomplete checkout: git's own words" "unable to unlink old '.vscode/settings.json'" "$err"
expect_equal "an incomplete checkout: berm's reason, once" "1 1" "$(grep -c '^berm: the checkout is incomplete' "$scratch/err") $(grep -c '^berm:' "$scratch/err")"
expect_equal "the host sees what is missing" " M .vscode/settings.json M mise.toml" "$(git status --porcelain -uno | tr -d '\n')"
host checkout -q -f next
told "git remote add" git remote add other ./remote.git
expect_equal "the status is git's" 128 "$status"
told "git config" git config a.b c
told "git branch --set-upstream-to" git branch --set-upstream-to=origin/main
told "git push -u" git push -q -u origin HEAD
expect_equal "push -u: it is pushed" "$(git -C "$project" rev-parse HEAD)" "$(git -C remote.git rev-parse "$(git branch --show-current)")"
told "in a script that goes on" sh -c 'git config a.b c || true; echo on'
expect_equal "the script's status" "0 on" "$status $out"
told "twice is once" sh -c 'git config a.b c; git remote add z z; git config a.b d; exit 0'
told "by its whole path" git -C "$project" --git-dir="$project/.git" config a.b c
printf 'version: 1\nhome: host\n' >"$scratch/host.yml"
BERM_OPTIONS=(--policy="$scratch/host.yml")
told "home: host" git config a.b c
BERM_OPTIONS=()
untold "what works" git status --short
untold "another failure of git" git checkout no-such-branch
untold "no such setting" git config --get no.such
untold "a lock of the host's git" sh -c ': >.git/config.lock; git config a.b c; s=$?; rm .git/config.lock; exit $s'
expect_contains "the control: git was refused for that" "File exists" "$err"
untold "a file of one's own" git config --file own.ini a.b c
rm -f own.ini
untold "the private home's" git config --global a.b c
untold "words alone" sh -c 'echo "error could not write config file .git/config: Device or resource busy"; exit 1'
untold "git's own trace is the user's where he asks for it" env GIT_TRACE2=1 git status --short
expect_contains "the control: it is there" "cmd_name status" "$err"
(cd "$scratch" && mkdir plain && cd plain && "$BERM" run -- test ! -e /run/berm/git-events)
expect_equal "no socket where no configuration is locked" 0 $?
# What the command itself sends there is compared and thrown away: it can make berm say that one sentence, and nothing else.
if command -v python3 >/dev/null; then
	run "$BERM" run -- python3 -c 'import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect("/run/berm/git-events")
for i in range(3000):
    s.send(b"error could not write config file \x1b[2J/.git/config\nberm: forged: No such thing\n" + bytes(i % 256))
s.send(b"error could not write config file \x1b]0;x\x07/.git/config: Device or resource busy\n")'
	expect_equal "forged: the sentence and nothing else" "0 1 1" "$status $(reasons) $(wc -l <"$scratch/err")"
	expect_equal "forged: no control bytes" "" "$(tr -d '\n[:print:]' <"$scratch/err")"
fi
expect_equal "still all as it was" "$(cat "$scratch/locked.before")" "$(locked_content .git)"

# Whose name.
author() {
	works "a commit ($1)" git commit -q --allow-empty -m "$1"
	git log -1 --format=%an
}
name=$(git config --global user.name || true)
if [ -n "$name" ]; then
	expect_equal "the user's" "$name" "$(author 'by the user')"
fi
works "git config --global inside" git config --global user.name 'Private Home'
works "and the address" git config --global user.email private@example.org
expect_equal "the private home's" "Private Home" "$(author 'by the private home')"
git config user.name 'Repository Own' && git config user.email own@example.org
expect_equal "the repository's own" "Repository Own" "$(author 'by the repository')"
expect_equal "and its address" own@example.org "$(git log -1 --format=%ae)"
works "by variables that the command sets" env GIT_AUTHOR_NAME=Variable git commit -q --allow-empty -m variable
expect_equal "the variable's" Variable "$(git log -1 --format=%an)"

# Included files of ~/.gitconfig, with their conditions: git inside says what git outside says.
if $has_own_home; then
	mkdir -p "$scratch/of-a-client/work" && cd "$scratch/of-a-client/work" || exit 1
	host init -q . && host commit -q --allow-empty -m first
	for branch in main special main; do
		host checkout -q -B "$branch"
		for key in name email; do
			expected=$(git config "user.$key")
			works "included $key on $branch" git config "user.$key"
			expect_equal "user.$key on $branch as outside" "$expected" "$out"
		done
	done
	expect_equal "the control: the condition holds" 'For "a" Client, first@example.org' "$(git config user.name), $(git config user.email)"
	refused "nothing else of an included file" "" git config core.pager
	run "$BERM" run -- sh -c 'cat /run/berm/*config*'
	expect_equal "nor an identity for other directories" "" "$(grep -i -e elsewhere -e 'Secret Identity' "$scratch/out")"
	expect_contains "the control: the others are there" "On A Branch" "$out"
	printf '[user]\n\tname = Changed\n' >"$HOME/.config/identity-client"
	works "a changed include is seen" git config user.name
	expect_equal "its new name" Changed "$out"
	printf '[include]\n\tpath = identity\n[user]\n\tname = "For \\"a\\" Client"\n' >"$HOME/.config/identity-client"
	home_listing >"$scratch/home.before" # that was us
	cd "$project" || exit 1
fi

# What the user ignores everywhere is ignored inside too. Only where the home is ours to furnish.
if $has_own_home; then
	works_sh "ignored by core.excludesFile" 'touch edited.swp; git status --porcelain edited.swp'
	expect_equal "the user's patterns hold" "" "$out"
	works_sh "control: another name" 'touch edited.swq; git status --porcelain edited.swq'
	expect_equal "is not ignored" "?? edited.swq" "$out"
fi

finish_work
