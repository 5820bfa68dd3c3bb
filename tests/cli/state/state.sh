#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Private state: kept per project and apart by grants, listed, reset, and safe from planted links and other users' directories.
. "$(dirname "$0")/../support/lib.sh"

rm -rf "$XDG_STATE_HOME"
expect_output "nothing to list without a state directory" "" "$BERM" state list
expect_output "as JSON" "[]" "$BERM" state list --json

# 113: what a run without grants leaves in its home is not there for a run with them.
expect_status "a run plants a file" 0 "$BERM" run -- sh -c 'echo planted >~/.gitconfig && mkdir -p ~/.ssh && echo planted >~/.ssh/config && echo planted >/tmp/planted'
expect_output "control: the same grants keep it" planted "$BERM" run -- sh -c 'cat ~/.gitconfig'
expect_status "other grants do not have it" 1 "$BERM" run --allow-net -- sh -c 'cat ~/.gitconfig'
expect_status "nor its ssh configuration" 1 "$BERM" run --allow-net -- sh -c 'cat ~/.ssh/config'
expect_output "control: /tmp is kept" planted "$BERM" run -- cat /tmp/planted
expect_status "nor its /tmp" 1 "$BERM" run --allow-net -- cat /tmp/planted

run "$BERM" state path
home=$(sed -n 's/^home //p' <<<"$out")
tmp=$(sed -n 's/^tmp //p' <<<"$out")
expect_output "the path is where it is" planted cat "$home/.gitconfig"
expect "and tmp beside it" test -d "$tmp"
run "$BERM" state path --allow-net --json
expect_contains "another path with other grants" /grants- "$out"
run "$BERM" state path "$project"
expect_equal "by name" "home $home
tmp $tmp" "$out"

run "$BERM" state list
expect_contains "the list: the project" "$project" "$out"
expect_contains "the list: without grants" offline "$out"
expect_contains "the list: with grants" grants- "$out"
run "$BERM" state list --json
expect_contains "the list as JSON" "\"project\": \"$project\"" "$out"

# In use: neither touched nor half removed.
"$BERM" run -- sh -c 'echo ready >started; exec sleep 30' &
pid=$!
until_true test -e started
run "$BERM" state list
expect_contains "in use is shown" "in use" "$out"
expect_status "a reset leaves it" 1 "$BERM" state reset --yes
expect_contains "and says so" "in use" "$err"
expect "the home is there" test -e "$home/.gitconfig"
kill "$pid"
wait "$pid" 2>/dev/null
# shellcheck disable=SC2016
until_true sh -c '! "$BERM" state list | grep -q "in use"'

expect_status "without a terminal it asks nobody" 125 "$BERM" state reset
expect "and removes nothing" test -e "$home/.gitconfig"
mkdir "$scratch/other"
(cd "$scratch/other" && "$BERM" run -- sh -c 'echo x >~/kept')
precious=$scratch/precious
mkdir "$precious"
echo precious >"$precious/file"
"$BERM" run -- sh -c "ln -s '$precious' ~/link; ln -s / ~/root; mkdir -p ~/a/b/c; touch ~/a/b/c/d; chmod 0 ~/a/b/c ~/a"
expect_status "reset" 0 "$BERM" state reset --yes
expect "it is gone" test ! -e "$home"
expect "what links lead to is not" test -e "$precious/file"
run "$BERM" state list
expect_contains "other projects are kept" "$scratch/other" "$out"
expect_status "nothing to reset" 0 "$BERM" state reset --yes
expect_output "a run starts anew" "" "$BERM" run -- sh -c 'cat ~/.gitconfig 2>/dev/null || true'
rm -rf "$scratch/other"
expect_status "a project that is gone can be reset" 0 "$BERM" state reset --yes "$scratch/other"
expect_status "all" 0 "$BERM" state reset --all --yes
expect_output "nothing is left" "" "$BERM" state list

# 36: the state directory, or a part of it, replaced by a link between runs.
"$BERM" run -- true
for part in berm berm/projects "berm/projects/$(basename "$(dirname "$(dirname "$home")")")" \
	"berm/projects/$(basename "$(dirname "$(dirname "$home")")")/offline"; do
	mv "$XDG_STATE_HOME/$part" "$scratch/moved"
	ln -s "$scratch/moved" "$XDG_STATE_HOME/$part"
	expect_status "a link in place of $(basename "$part")" 125 "$BERM" run -- true
	expect_contains "a link in place of $(basename "$part"): why" "symbolic link" "$err"
	run "$BERM" state reset --all --yes
	expect "a link in place of $(basename "$part"): not followed" test -d "$scratch/moved"
	rm -f "$XDG_STATE_HOME/$part"
	mkdir -p "$(dirname "$XDG_STATE_HOME/$part")"
	mv "$scratch/moved" "$XDG_STATE_HOME/$part"
	expect_status "and right again" 0 "$BERM" run -- true
done
mv "$home" "$scratch/moved"
ln -s "$precious" "$home"
expect_status "a link in place of the home" 125 "$BERM" run -- true
rm "$home"
mv "$scratch/moved" "$home"

# 37: made by another user before.
chmod 777 "$XDG_STATE_HOME/berm"
expect_status "open to others" 125 "$BERM" run -- true
expect_status "open to others: the list" 125 "$BERM" state list
chmod 700 "$XDG_STATE_HOME/berm"
mkdir "$scratch/shared"
chmod 777 "$scratch/shared"
expect_status "a parent open to others" 125 env XDG_STATE_HOME="$scratch/shared" "$BERM" run -- true
chmod 1777 "$scratch/shared"
expect_status "control: a parent like /tmp" 0 env XDG_STATE_HOME="$scratch/shared" "$BERM" run -- true
if [ "$(id -u)" = 0 ]; then
	mkdir -p "$scratch/theirs/berm"
	chown -R 12345 "$scratch/theirs/berm"
	expect_status "another user's directory" 125 env XDG_STATE_HOME="$scratch/theirs" "$BERM" run -- true
	expect_contains "another user's directory: why" "another user" "$err"
	expect_status "another user's directory: reset" 125 env XDG_STATE_HOME="$scratch/theirs" "$BERM" state reset --all --yes
	chown -R 0 "$scratch/theirs/berm"
	chown 12345 "$scratch/theirs"
	expect_status "another user's parent" 125 env XDG_STATE_HOME="$scratch/theirs" "$BERM" run -- true
	chown 0 "$scratch/theirs"
	expect_status "control: our own" 0 env XDG_STATE_HOME="$scratch/theirs" "$BERM" run -- true
fi

# Runs and resets at once: no run fails.
(
	while [ ! -e "$scratch/stop" ]; do "$BERM" state reset --all --yes >/dev/null 2>&1; done
) &
pid=$!
wrong=
for ((i = 0; i < 20; i++)); do
	"$BERM" run -- sh -c 'echo x >~/f && cat ~/f >/dev/null' || wrong="$wrong $i"
done
touch "$scratch/stop"
wait "$pid"
expect_equal "runs while another berm resets" "" "$wrong"

# Works anywhere, and words.
cd / || exit 1
expect_status "list from /" 0 "$BERM" state list
expect_status "no verb: list" 0 "$BERM" state
expect_status "unknown verb" 125 "$BERM" state lst
expect_contains "the nearest verb" "berm state list" "$err"
expect_status "list takes no directory" 125 "$BERM" state list x
expect_status "all and one" 125 "$BERM" state reset --all x
expect_status "help" 0 "$BERM" state --help
expect_status "help of a verb" 0 "$BERM" state reset --help

finish
