#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# berm init asks package managers: which program it runs, what that program can see and do, and what its answer can do. Hostile
# project files and answers change nothing but the list of hosts, which is shown and bounded.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home
unset npm_config_registry NPM_CONFIG_REGISTRY YARN_NPM_REGISTRY_SERVER
system_path=$PATH

# new NAME: a project of npm, and an npm in a toolchain directory that runs the script on stdin.
new() {
	rm -rf "${scratch:?}/$1" && mkdir -p "$scratch/$1" "$HOME/.nvm/bin" && cd "$scratch/$1" || exit 1
	echo '{"name": "app"}' >package.json
	{
		echo '#!/bin/sh'
		cat
	} >"$HOME/.nvm/bin/npm"
	chmod 755 "$HOME/.nvm/bin/npm"
	PATH=$HOME/.nvm/bin:$system_path
}

# entries: the active rules of the policy.
entries() {
	grep -E '^    - ' berm.yml | awk '{print $2}' | sort | paste -sd' '
}

# Each finding of the client becomes a host.
new seen <<END
say() { echo "https://\$1.example.org/"; }
[ "\$*" = "config get registry" ] && say words
[ -z "\$(ls -A .)" ] && say empty
[ -e "$scratch/seen/package.json" ] && say project
[ -n "\$MY_SECRET" ] && say environment
grep -q TOKEN "$HOME/.npmrc" && say configuration
echo x 2>/dev/null >>"$HOME/.npmrc" && say writable
[ -e "$HOME/.ssh/id_rsa" ] && say keys
[ -e "$HOME/other" ] && say home
(exec 3<>/dev/tcp/127.0.0.1/1) 2>/dev/null && say network
[ "\$(grep -c : /proc/net/dev)" = 1 ] && say offline
touch "$HOME/.nvm/bin/planted" 2>/dev/null && say toolchain
true
END
mkdir -p "$HOME/.ssh" && touch "$HOME/.ssh/id_rsa" "$HOME/other"
echo "//npm.example.org/:_authToken=TOKEN" >"$HOME/.npmrc"
cp "$HOME/.npmrc" "$scratch/npmrc"
control=$(MY_SECRET=1 npm config get registry)
for finding in project environment configuration writable keys home toolchain; do
	expect_contains "control: bare, the client has $finding" "//$finding.example.org" "$control"
done
rm -f "$HOME/.nvm/bin/planted"
cp "$scratch/npmrc" "$HOME/.npmrc"
expect_status "seen: init" 0 env MY_SECRET=1 "$BERM" init
expect_equal "seen: an empty directory, the configuration, no network" \
	"configuration.example.org:443 empty.example.org:443 offline.example.org:443 words.example.org:443" "$(entries)"
expect_contains "seen: shown with its source" "npm config get registry" "$out"
expect "seen: the configuration is unchanged" cmp -s "$scratch/npmrc" "$HOME/.npmrc"
expect "seen: nothing was planted" test ! -e "$HOME/.nvm/bin/planted"
expect_status "seen: no token in it" 1 grep -q TOKEN berm.yml
expect_status "seen: no state is left" 1 test -e "$HOME/.local/state/berm/projects"
rm "$HOME/.npmrc"

# An answer is hosts and nothing else.
new answers <<'END'
printf 'https://npm.example.org/\n  - evil.example.org:443\nnetwork: all\n# x\n'
printf 'https://a.example.org\nfiles:\n  write: [/]\n'
printf 'https://b.example.org\033[2K\r\n'
yes 'https://flood.example.org' | head -c 50000
END
expect_status "answers: init" 0 "$BERM" init
expect_equal "answers: hosts alone" "a.example.org:443 flood.example.org:443 npm.example.org:443" "$(entries)"
expect_status "answers: nothing else in it" 1 grep -E '^[^#]*(write:|all$|evil)' berm.yml
expect_status "answers: plan" 0 "$BERM" plan

# One that does not answer, fails, or answers nothing: said, in the file too.
flood="yes https://flood.example.org"
for case in "sleep 60|did not answer" "exit 3|failed" "echo undefined|names no host" "$flood|failed"; do
	new silent <<<"${case%|*}"
	expect_status "${case%|*}: init" 0 "$BERM" init
	expect_equal "${case%|*}: allows nothing" "" "$(entries)"
	expect_contains "${case%|*}: said" "${case#*|}" "$err"
	expect "${case%|*}: said in the file" grep -q "^# .*not known: .*${case#*|}" berm.yml
done

# A program that neither root nor a toolchain directory vouches for is not run: in the project, or in any directory of the user's.
new planted <<<'exit 3'
rm "$HOME/.nvm/bin/npm"
mkdir -p node_modules/.bin "$HOME/bin"
for place in "$PWD/node_modules/.bin" "$HOME/bin" .; do
	printf '#!/bin/sh\ntouch "%s/was-run"\necho https://planted.example.org/\n' "$scratch" >"$place/npm"
	chmod 755 "$place/npm"
	PATH=$place:$system_path
	expect_contains "control: $place: the shell finds it" planted "$(npm config get registry)"
	expect "control: $place: it ran" rm "$scratch/was-run"
	expect_status "$place: init" 0 "$BERM" init --print
	expect_status "$place: it did not run" 1 test -e "$scratch/was-run"
	expect_status "$place: it is not believed" 1 grep -q planted.example.org "$scratch/out"
done
# A link from a toolchain directory into the project is a program of the project.
ln -s "$PWD/node_modules/.bin/npm" "$HOME/.nvm/bin/npm"
PATH=$HOME/.nvm/bin:$system_path
expect_status "a link: init" 0 "$BERM" init --print
expect_status "a link: it did not run" 1 test -e "$scratch/was-run"
rm "$HOME/.nvm/bin/npm"

# A lock file with ten thousand hosts, one with control bytes, hosts that are none.
new hostile <<<'echo https://npm.example.org/'
seq 10000 | sed 's#.*#  resolved "https://h&.example.org/x.tgz"#' >yarn.lock
sed -i 's/{/{"packageManager": "npm@9", /' package.json
expect_status "10,000 hosts: init" 0 "$BERM" init
expect "10,000 hosts: few are taken" test "$(grep -c '^    - h[0-9]' berm.yml)" -le 16
expect_contains "10,000 hosts: said" "left out" "$err"
expect "10,000 hosts: said in the file" grep -q '^# .*left out' berm.yml
while read -r host; do
	expect "10,000 hosts: $host is shown" grep -qF "$host" "$scratch/out"
done < <(grep -E '^    - ' berm.yml | awk '{print $2}')
rm berm.yml
printf '  resolved "https://a.example.org\n    - b.example.org:443 #"\n  resolved "https://c\001.example.org/"\n  resolved "https://*/"\n' >yarn.lock
printf '  resolved "https://d.example.org:443, all/"\n  resolved "https://e.example.org\\n- f/"\n' >>yarn.lock
expect_status "odd bytes: init" 0 "$BERM" init
expect_status "odd bytes: plan" 0 "$BERM" plan
expect_equal "odd bytes: hosts alone" "a.example.org:443 d.example.org:443 e.example.org:443 npm.example.org:443" "$(entries)"
expect_status "odd bytes: no control byte in it" 1 grep -qP '[\x00-\x08\x0b-\x1f]' berm.yml
head -c 20000000 /dev/zero | tr '\0' x >yarn.lock
rm berm.yml
expect_status "a huge lock file: init" 0 "$BERM" init
expect_contains "a huge lock file: said" yarn.lock "$err"

# It never trusts the result, and never overwrites it.
expect "not trusted" test ! -e "$HOME/.local/state/berm/trust"
expect_contains "the command is printed" "berm trust" "$out"
cp berm.yml "$scratch/before"
expect_status "not overwritten" 1 "$BERM" init --yes
expect "not a byte" cmp -s berm.yml "$scratch/before"

finish
