#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A wrong turn is explained where it happens, in one line with the fix: grants that grant nothing, rules that do not count, files that
# another one extends, and programs that miss the network.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home
unset XDG_STATE_HOME XDG_CONFIG_HOME
git init -q .
config=$HOME/.config/berm/berm.yml
mkdir -p "$HOME/.config/berm" "$HOME/.ssh"
echo key >"$HOME/.ssh/id_rsa"
echo password >"$HOME/.netrc"

# policy LINE...: the user's.
policy() {
	printf '%s\n' "version: 1" "$@" >"$config"
}

# A grant that names nothing: said once, again after a failure, always by plan.
policy 'files: {read: [~/nope]}'
run "$BERM" run -- true
expect_contains "a grant of nothing: the place" "berm.yml:2:16" "$err"
expect_contains "what is missing, and the fix" "nope does not exist, so nothing is granted: create it" "$err"
expect_output "said once" "" "$BERM" run -- true
run "$BERM" run -- false
expect_contains "and after a failure" "nope does not exist" "$err"
run "$BERM" plan
expect_contains "plan says it always" "berm.yml:2:16" "$out"
mkdir "$HOME/nope"
expect_status "it holds as soon as it exists" 1 "$BERM" run -- false
expect_equal "and nothing is said" "" "$err"
policy 'files: {read: [~/one, ~/two, ~/three, ~/four, ~/five]}'
run "$BERM" run -- true
expect_equal "many: not one line for each" 4 "$(grep -c '^berm: ' <<<"$err")"
rm "$config"

# A grant of a denied file. The floor has no exception; else the line to add is enough.
run "$BERM" run --allow-read="$HOME/.ssh/id_rsa" -- cat "$HOME/.ssh/id_rsa"
expect_equal "the floor hides it" "" "$out"
expect_contains "no rule lifts that" "no option or rule lifts" "$err"
run "$BERM" run --allow-read="$HOME/.netrc" -- cat "$HOME/.netrc"
expect_equal "a denied file is hidden" "" "$out"
expect_contains "the line to add" "files: {except: [" "$err"
line=$(grep -o 'files: {except: .*' <<<"$err" | head -1)
policy "$line"
expect_output "it is enough" password "$BERM" run --allow-read="$HOME/.netrc" -- cat "$HOME/.netrc"
rm "$config"

# extends: the error is at the line that refers.
policy 'extends: ./base.yml'
expect_status "a missing base" 125 "$BERM" run -- true
expect_contains "the referring line" "berm.yml:2:10: \`extends\`" "$err"
printf 'version: 1\nhom: private\n' >"$HOME/.config/berm/base.yml"
expect_status "a wrong base" 125 "$BERM" run -- true
expect_contains "its own line" "base.yml:2:1: unknown key" "$err"
expect_contains "and the referring one" "extended by ~/.config/berm/berm.yml:2:10" "$err"
rm "$config"

# An untrusted policy: one line, once and after a failure; with -v every rule, always.
printf 'version: 1\nuse: [node]\nnetwork: all\nhome: host\nenvironment: {pass: [X, Z]}\n' >berm.yml
run "$BERM" run -- true
expect_contains "untrusted: said" "berm trust" "$err"
expect_output "once" "" "$BERM" run -- true
for i in 1 2; do
	run "$BERM" run -v -- true
	expect_contains "-v $i: each rule with its place" "berm.yml:5:25: \`environment.pass: Z\` is ignored" "$err"
	expect_contains "-v $i: the way out" "berm trust" "$err"
done
rm berm.yml

# The network. A program that looks up a name, under two names.
mkdir bin
printf '#!/bin/sh\nexec python3 -c "import socket; socket.getaddrinfo(\\"host.invalid\\", 22)" 2>/dev/null\n' >bin/ssh
cp bin/ssh bin/client
chmod +x bin/*
run "$BERM" run -- bin/client
expect_contains "closed: https" "--allow-net=HOST:443" "$err"
case $err in *"berm init"*) fail "init is for package managers" "$err" ;; *) pass ;; esac
cp bin/client bin/npm
run "$BERM" run -- bin/npm install
expect_contains "closed: a package manager" "berm init && berm trust" "$err"
run "$BERM" run -- sh -c 'cd . && bin/ssh host'
expect_contains "closed: ssh" "--allow-net=HOST:22" "$err"
case $err in *:443*) fail "ssh is told to allow 443" "$err" ;; *) pass ;; esac
run "$BERM" run --allow-net=host.invalid:443 -- bin/client
expect_contains "a program that ignores the proxy" "HTTPS_PROXY" "$err"
run "$BERM" run --allow-net=host.invalid:22 -- bin/ssh
expect_contains "ssh: how it uses the proxy" "ProxyCommand='nc -X connect -x 127.0.0.1:" "$err"
port=$(grep -o '127.0.0.1:[0-9]*' <<<"$err" | head -1)
# Nothing listens at that address: the proxy answers 502.
cat >fetch.py <<'PYTHON'
import sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": "http://" + sys.argv[1]}))
opener.open("http://127.0.0.1:1/")
PYTHON
run "$BERM" run --allow-net=127.0.0.1:1 -- env -u no_proxy -u NO_PROXY python3 fetch.py "$port"
expect_contains "control: a 502 through that port" "502" "$err"
expect_contains "a 502 is not the policy's" "the policy allows 127.0.0.1:1, but the connection failed" "$err"
run "$BERM" run --allow-net=127.0.0.1:1 -- env -u no_proxy -u NO_PROXY sh -c "python3 fetch.py $port 2>/dev/null; true"
expect_equal "a command that succeeds is told nothing" "" "$err"
finish
