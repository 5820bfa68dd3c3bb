#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Nothing vanishes beside the project: the directories between the home and the project are read-only inside, and new names in the
# private home itself are reported at the end. Programs keep their files in the home.
# shellcheck disable=SC2088 # berm's lines have a tilde
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home
export GIT_CONFIG_NOSYSTEM=1

# inside COMMAND: a shell command line in the sandbox of the current directory.
inside() {
	"$BERM" run -- sh -c "$1"
}

# repository DIR
repository() {
	mkdir -p "$1"
	git init -q "$1"
	git -C "$1" -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m first
}

# The project two levels below the home.
repository "$home/code/team/project"
cd "$home/code/team/project" || exit 1
expect "control: bare the worktree is made beside the project" git worktree add -q ../wt
git worktree remove ../wt
expect "control: bare a file is" touch ../x
rm ../x
expect_status "a worktree beside the project is refused" 128 "$BERM" run -- git worktree add ../wt
expect_contains "git names the reason" "Read-only file system" "$err"
expect_contains "and berm the way out" "--allow-write=../trees" "$err"
expect_status "so is a clone" 128 "$BERM" run -- git clone -q . ../clone
expect_contains "with the same line" "--allow-write=../trees" "$err"
expect_status "a file beside the project" 1 inside 'touch ../x'
expect_status "a directory above that" 1 inside 'mkdir ../../x'
expect_status "the way itself is not renamed" 1 inside 'mv ~/code ~/old'
expect_equal "nothing is on the host" "" "$(find "$home/code" -maxdepth 2 -name wt -o -maxdepth 2 -name x -o -maxdepth 2 -name clone)"
expect_status "the project is writable" 0 inside 'echo x >file && mkdir -p a/b && git add file'
expect_output "and its parents are listed" project inside 'ls ..'
mkdir ../trees
expect_status "with the grant the worktree is made" 0 "$BERM" run --allow-write=../trees -- git worktree add -q ../trees/wt
expect "on the host" test -e ../trees/wt/.git

# The home itself is writable, and programs keep their files in it without a word.
expect_output "files of programs" "" inside 'mkdir -p ~/.cache/pip ~/.npm ~/.config/x ~/go/pkg/mod ~/.local/bin && echo x >~/.npmrc && echo x >~/go/pkg/mod/y'
expect_output "are kept" x inside 'cat ~/go/pkg/mod/y'
run inside 'mkdir ~/results; echo x >~/results/r'
expect_equal "another name in the home: status" 0 "$status"
expect_contains "another name in the home is named" "~/results exists only in the private home" "$err"
expect_contains "with the grant" "--allow-write=~/results" "$err"
expect_output "once" x inside 'cat ~/results/r; echo y >>~/results/r'
run inside 'for i in 1 2 3 4 5; do touch ~/n$i; done'
expect_contains "many are counted" "and 2 more exist only in the private home" "$err"
run inside 'touch "$(printf "%s/a\\033[31mb" ~)"'
expect_equal "control characters do not reach the terminal" 0 "$(grep -c "$(printf '\033')" "$scratch/err")"
printf '{version: 1, home: empty}' >"$scratch/empty.yml"
chmod 600 "$scratch/empty.yml"
run "$BERM" run --policy="$scratch/empty.yml" -- sh -c 'touch ../x'
expect_equal "with an empty home the way is read-only, too" 1 "$status"

# Directly below the home there is no way that could be read-only: new names are reported.
repository "$home/direct"
cd "$home/direct" || exit 1
expect "control: bare" git worktree add -q ../dw
git worktree remove ../dw
run "$BERM" run -- git worktree add -q ../dw
expect_equal "directly below the home it is made" 0 "$status"
expect_contains "in the private home, and named" "~/dw exists only in the private home; for one on this machine: mkdir ../trees, --allow-write=../trees, and ../trees/dw" "$err"
expect "not on the host" test ! -e ../dw

# Places of programs stay writable, also as a way.
for each in .dots/conf go/src/example.org/app; do
	repository "$home/$each"
	cd "$home/$each" || exit 1
	run inside 'touch ../beside && mkdir -p ~/go/pkg ~/.dots/.cache'
	expect_equal "beside $each: status" 0 "$status"
	expect_contains "beside $each: named" "beside exists only in the private home" "$err"
done

# Outside of the home the directories around were read-only before.
repository "$scratch/srv/a/project"
cd "$scratch/srv/a/project" || exit 1
case $scratch in
/tmp/*) ;; # /tmp is private and writable
*)
	expect "control: bare outside of the home" touch ../x
	rm ../x
	expect_status "outside of the home" 1 inside 'touch ../x'
	;;
esac
if [ "$(id -u)" = 0 ] && [ -d /srv ] && outside=$(mktemp -d /srv/berm-beside.XXXXXX); then
	repository "$outside/a/project"
	cd "$outside/a/project" || exit 1
	expect "control: bare in /srv" touch ../x
	rm ../x
	expect_status "in /srv" 1 inside 'touch ../x'
	expect_status "in /srv a worktree" 128 "$BERM" run -- git worktree add ../wt
	expect_contains "in /srv a worktree: the way out" "--allow-write=../trees" "$err"
	cd "$scratch" || exit 1
	rm -rf "$outside"
fi

# A home that is a link.
mkdir "$scratch/real"
ln -s "$scratch/real" "$scratch/link"
set_home "$scratch/link"
export HOME=$scratch/link
repository "$HOME/code/project"
cd "$HOME/code/project" || exit 1
expect "control: bare in a linked home" touch ../x
rm ../x
expect_status "in a linked home" 1 inside 'touch ../x'
expect_status "by its other name" 1 inside "touch $scratch/real/code/x"
expect_status "and the project is writable" 0 inside 'touch y'

# Files that an earlier version left in a way are kept and readable.
set_home "$home"
export HOME=$home
repository "$home/old/project"
cd "$home/old/project" || exit 1
state=$("$BERM" state path | sed -n 's/^home //p')
"$BERM" run -- true
echo kept >"$state/old/left"
expect_output "what an earlier version left" kept inside 'cat ../left'
expect_status "cannot be changed" 1 inside 'echo x | tee ../left >/dev/null'
finish
