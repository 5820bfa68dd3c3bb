#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Private state: kept per project, apart for what a prepared home could abuse, listed, pruned, reset, and safe from planted links and other users' directories.
. "$(dirname "$0")/../support/lib.sh"

rm -rf "$XDG_STATE_HOME"
expect_output "nothing to list without a state directory" "" "$BERM" state list
expect_output "as JSON" "[]" "$BERM" state list --json

# One home for a project: a program that was installed with a network grant is there without it.
expect_output "a package is installed with network" "" "$BERM" run --allow-net -- sh -c 'mkdir -p ~/.local/bin && printf "#!/bin/sh\necho installed\n" >~/.local/bin/tool && chmod +x ~/.local/bin/tool && echo x >/tmp/kept'
expect_output "and found without" installed "$BERM" run -- sh -c '"$HOME/.local/bin/tool"'
expect_output "and with other destinations" installed "$BERM" run --allow-net=example.org:443 -- sh -c '"$HOME/.local/bin/tool"'
expect_output "so is /tmp" x "$BERM" run -- cat /tmp/kept

# 113: what a run leaves in its home is not there for one with sockets, devices, variables or denied files that it has not.
expect_status "a run plants files" 0 "$BERM" run -- sh -c 'echo planted >~/.gitconfig && mkdir -p ~/.ssh && echo planted >~/.ssh/config && echo planted >~/.bashrc && echo planted >/tmp/planted'
expect_output "control: the same grants keep them" "planted planted planted planted" "$BERM" run -- sh -c 'echo $(cat ~/.gitconfig ~/.ssh/config ~/.bashrc /tmp/planted)'
expect_output "control: a network grant, too" planted "$BERM" run --allow-net -- sh -c 'cat ~/.bashrc'
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$scratch/agent.sock"
mkdir "$scratch/keys"
echo key >"$scratch/keys/deploy.key"
# class NAME POLICY: a policy of the user.
class() {
	printf 'version: 1\n%s\n' "$2" >"$scratch/$1.yml"
	chmod 600 "$scratch/$1.yml"
}
class socket "sockets: [$scratch/agent.sock]"
class variable "environment: {pass: [DEPLOY_TOKEN]}"
class value "environment: {set: {DEPLOY_TOKEN: secret}}"
class file "files: {read: [$scratch/keys], except: [\"*.key\"]}"
classes=("--policy=$scratch/socket.yml" "--policy=$scratch/variable.yml" "--policy=$scratch/value.yml" "--policy=$scratch/file.yml" --env=DEPLOY_TOKEN --env=DEPLOY_TOKEN=secret)
export DEPLOY_TOKEN=secret
expect_output "control: the denied file is readable" key "$BERM" run "--policy=$scratch/file.yml" -- cat "$scratch/keys/deploy.key"
expect_output "control: the variable is there" secret "$BERM" run --env=DEPLOY_TOKEN -- sh -c 'echo $DEPLOY_TOKEN'
for each in "${classes[@]}"; do
	expect_output "$each: none of it" "" "$BERM" run "$each" -- sh -c 'cat ~/.gitconfig ~/.ssh/config ~/.bashrc /tmp/planted 2>/dev/null || true'
	expect_status "$each: leaves a file" 0 "$BERM" run "$each" -- sh -c 'echo own >~/.own'
	expect_output "$each: which it finds again" own "$BERM" run "$each" --allow-net -- sh -c 'cat ~/.own'
	expect_status "$each: and others do not" 1 "$BERM" run -- sh -c 'cat ~/.own'
done
class usual "environment: {set: {}}"
for each in --allow-read="$scratch/keys" --deny=x --strict "--policy=$scratch/usual.yml"; do
	expect_output "$each: the ordinary home" planted "$BERM" run "$each" -- sh -c 'cat ~/.bashrc'
done
unset DEPLOY_TOKEN

run "$BERM" state path
home=$(sed -n 's/^home //p' <<<"$out")
tmp=$(sed -n 's/^tmp //p' <<<"$out")
expect_output "the path is where it is" planted cat "$home/.gitconfig"
expect "and tmp beside it" test -d "$tmp"
expect_equal "the same path with network" "home $home
tmp $tmp" "$("$BERM" state path --allow-net)"
run "$BERM" state path --env=DEPLOY_TOKEN --json
expect_contains "another path with other grants" /own- "$out"
run "$BERM" state path "$project"
expect_equal "by name" "home $home
tmp $tmp" "$out"

run "$BERM" state list
expect_contains "the list: the project" "$project" "$out"
expect_contains "the list: the ordinary home" ordinary "$out"
expect_contains "the list: others" own- "$out"
run "$BERM" state list --json
expect_contains "the list as JSON" "\"project\": \"$project\"" "$out"

# Homes of earlier versions: the one without network is found again, those with are orphans. So is the state of a project that is gone.
class_directory=$(dirname "$home")
mkdir -m 700 "$(dirname "$class_directory")/grants-0123456789abcdef" "$(dirname "$class_directory")/grants-0123456789abcdef/home"
mkdir "$scratch/gone"
(cd "$scratch/gone" && "$BERM" run -- sh -c 'echo x >~/x')
expect_output "control: nothing to prune yet but the old one" 1 sh -c '"$BERM" state prune --dry-run | grep -c grants-'
rm -r "$scratch/gone"
run "$BERM" state list
expect_contains "an earlier version's is an orphan" "grants-0123456789abcdef, orphan: of an earlier version" "$out"
expect_contains "a gone project's, too" "orphan: its project is gone" "$out"
expect_contains "as JSON" '"orphan": "its project is gone"' "$("$BERM" state list --json)"
expect_status "prune asks" 125 "$BERM" state prune
expect_contains "and shows what" "$scratch/gone" "$out"
expect_status "prune --dry-run" 0 "$BERM" state prune --dry-run
expect_contains "shows both" grants-0123456789abcdef "$out"
expect "and removes nothing" test -d "$(dirname "$class_directory")/grants-0123456789abcdef"
expect_output "prune" "removed: 2" "$BERM" state prune --yes
expect "an orphan is gone" test ! -e "$(dirname "$class_directory")/grants-0123456789abcdef"
expect "the ordinary home is not" test -e "$home/.gitconfig"
run "$BERM" state list
case $out in *"$scratch/gone"*) fail "nothing of the gone project is left" "$out" ;; *) pass ;; esac
expect_output "nothing more to prune" "nothing to prune" "$BERM" state prune --yes
touch -d '40 days ago' "$class_directory"
expect_output "what is used now and then is kept" "nothing to prune" "$BERM" state prune --dry-run --older=60d
run "$BERM" state prune --dry-run --older=30d
expect_contains "with --older an old home" "not used for long" "$out"
expect_status "in days" 125 "$BERM" state prune --older=x
expect_output "a run uses it again" planted "$BERM" run -- sh -c 'cat ~/.gitconfig'
expect_output "and then it is not old" "nothing to prune" "$BERM" state prune --dry-run --older=30

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
