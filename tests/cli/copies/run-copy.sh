#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm run --copy`: the command works in a copy and the project stays as it is, byte by byte and change time included. Masks and
# locks hold in the copy, also against a host that replaces files and against what an earlier run of the copy removed. Without --copy
# the same command changes the project: that is the control.
. "$(dirname "$0")/../support/lib.sh"

if ! command -v git >/dev/null; then
	echo "git is needed"
	exit 77
fi
if ! unshare -Urm true 2>/dev/null; then
	echo "user namespaces are needed"
	exit 77
fi

# renew [DIRECTORY]
renew() {
	cd "$scratch" && chmod -R u+rwX "$project" 2>/dev/null
	rm -rf "$project" "$XDG_STATE_HOME"
	project=${1:-$scratch/project}
	mkdir -p "$project" && cd "$project" || exit 1
	git init -q . && git config user.name Ada && git config user.email ada@example.org
	mkdir src config .vscode
	echo 'int main(void) { return 0; }' >src/main.c
	echo "the secret" >.env
	echo "another secret" >config/.env
	echo '{}' >.vscode/settings.json
	ln -s src/main.c link
	git add src link && git commit -qm first
}

# Everything that a change would show in.
snapshot() {
	find "$project" -printf '%P %y %i %m %s %T@ %C@ %l\n' | LC_ALL=C sort
	find "$project" -type f -exec sha256sum {} + | LC_ALL=C sort
}

work='rm -rf src; echo new >file; mkdir sub; echo x >sub/y; git add -A . 2>/dev/null; git commit -qm second; chmod 600 link 2>/dev/null; echo z >>.gitignore; ls'

renew
before=$(snapshot)
expect_status "the command runs in the copy" 0 "$BERM" run --copy -- sh -c "$work"
expect_contains "it sees its own changes" "file" "$out"
expect_contains "one line tells what to do next" "berm apply" "$err"
expect_equal "the project has not changed" "$before" "$(snapshot)"
expect_status "the copy goes on" 0 "$BERM" run --copy -- sh -c 'cat file sub/y; [ ! -e src ]; git log --oneline | wc -l'
expect_equal "with what was left in it" "new
x
2" "$out"
expect_equal "the project has still not changed" "$before" "$(snapshot)"
expect_status "another copy begins with the project" 0 "$BERM" run --copy=other -- sh -c '[ -e src/main.c ] && [ ! -e file ]'
expect_status "control: without --copy the project changes" 0 "$BERM" run -- sh -c "$work"
expect "control: it did" test ! -e src

# Hidden and locked names.
renew
expect_equal "control: the secret is readable on the host" "the secret" "$(cat .env)"
run "$BERM" run --copy -- cat .env config/.env
expect_equal "secrets are hidden in the copy" "" "$out"
run "$BERM" run --copy -- sh -c 'echo x >.env; rm -f .env; mv config c2; mv .env e; ln .env e; echo x >.vscode/settings.json; echo x >.git/hooks/pre-commit; echo x >>.git/config; cat .env e c2/.env'
expect_equal "and stay so" "" "$out"
expect_equal "the secret is as it was" "the secret" "$(cat .env)"
expect_status "no descriptor leads to a layer" 0 "$BERM" run --copy -- sh -c 'ls -l /proc/self/fd >fds; ! grep -E "upper|work|copies|state" fds && ! ls /proc/1/fd/3 2>/dev/null'
run "$BERM" run --copy -- cat /proc/self/mountinfo
expect_equal "no mount names the state" "" "$(printf '%s' "$out" | grep -F "$XDG_STATE_HOME/berm/projects/" | grep -F copies)"
run "$BERM" run --copy -- sh -c 'cat "$BERM_SUMMARY"'
expect_contains "the summary for agents says that it is a copy" "the project is a copy" "$out"
run "$BERM" plan
expect_contains "control: planting is not strict without a copy" "planting" "$out"
run "$BERM" run --copy --dry-run
expect_contains "planting is strict" "strict" "$(printf '%s' "$out" | grep -A2 planting)"
run "$BERM" run --copy --strict -- true
expect_equal "a policy that requires it is satisfied" 0 "$status"

# The host replaces a hidden file, and makes new ones, while the command runs. During a run of the copy that the level `launch`
# makes, the new ones are readable: that is the control.
late() {
	renew
	mkdir -p "$XDG_CONFIG_HOME/berm"
	printf 'version: 1\nfiles: {guard: %s}\n' "$1" >"$XDG_CONFIG_HOME/berm/berm.yml"
	"$BERM" run --copy -- sh -c "$2"'
		echo started
		sleep 6
		for f in .env config/.env src/.env late/.env; do
			if cat $f >/dev/null 2>&1; then echo "open $f"; elif [ -e $f ]; then echo "masked $f"; else echo "absent $f"; fi
		done' >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	until_true grep -q started "$scratch/out" || fail "the command does not start" "$(cat "$scratch/err")"
	sleep 1
	echo "third secret" >.env.new && mv .env.new .env
	echo "fourth secret" >src/.env
	mkdir late && echo "fifth secret" >late/.env
	wait "$pid"
	rm "$XDG_CONFIG_HOME/berm/berm.yml"
}
late launch ''
expect_equal "control: new ones are open at the level launch, replaced ones are not" "masked .env
masked config/.env
open src/.env
open late/.env" "$(grep -v started "$scratch/out")"
late repair ''
expect_equal "hidden files that the host replaced or made are hidden" "masked .env
masked config/.env
masked src/.env
masked late/.env" "$(grep -v started "$scratch/out")"
expect_contains "the run says so" "src/.env" "$(cat "$scratch/err")"
expect_equal "on the host they are as they were made" "fourth secret" "$(cat src/.env)"
# An overlay remembers for a while that a name was absent.
late repair 'cat src/.env late/.env 2>/dev/null; true;'
expect_equal "names that were looked up before are never open" "" "$(grep open "$scratch/out")"

# A directory that the copy removed cannot be masked, and need not be.
renew
mkdir gone && echo x >gone/file
expect_status "a directory is removed in the copy" 0 "$BERM" run --copy -- rm -rf gone
echo "late secret" >gone/.env
expect_status "the next run of the copy starts" 0 "$BERM" run --copy -- sh -c '[ ! -e gone ]'
expect_status "the directory is made again" 0 "$BERM" run --copy -- sh -c 'mkdir gone && echo own >gone/.env && [ ! -e gone/file ]'
run "$BERM" run --copy -- cat gone/.env
case $out in
*late*) fail "the host's secret shows through" "$out" ;;
*) pass ;;
esac
expect_status "a file takes the place of a directory with a secret" 0 "$BERM" run --copy=two -- sh -c 'rm -rf gone 2>/dev/null; true'

# A directory of the project cannot be renamed in an overlay; mv copies, and a new one can be.
renew
expect_status "git mv of a directory fails in a copy" 128 "$BERM" run --copy -- git mv src elsewhere
expect_contains "with the reason" "cross-device" "$err"
expect_status "mv copies it" 0 "$BERM" run --copy -- sh -c 'mv src elsewhere && cat elsewhere/main.c && mkdir new && mv new newer'
expect_status "control: git mv without a copy" 0 "$BERM" run -- git mv src elsewhere
# Hard links are broken for what the copy changes.
renew
echo one >hard && ln hard link2
run "$BERM" run --copy -- sh -c 'echo two >hard; echo $(cat hard link2)'
expect_equal "a hard link is broken in the copy" "two one" "$out"
expect_equal "not in the project" "one one" "$(cat hard link2 | tr '\n' ' ' | sed 's/ $//')"

# Names of projects.
renew "$scratch/a:b,c d\\e"
expect_status "a project with : and , in its path" 0 "$BERM" run --copy -- sh -c 'echo x >file'
expect "it has not changed" test ! -e file
long=$scratch/$(printf 'l%.0s' {1..120})/$(printf 'm%.0s' {1..120})/$(printf 'n%.0s' {1..80})
renew "$long"
expect_status "a project with a long path" 0 "$BERM" run --copy -- sh -c 'echo x >file'
expect "it has not changed" test ! -e file
renew "$scratch/project"

# Names of copies, and the variable.
expect_status "a bad name" 125 "$BERM" run --copy=../x -- true
expect_contains "says which characters" "A-Z" "$err"
expect_status "BERM_COPY" 0 env BERM_COPY=turn "$BERM" -c 'echo x >file'
expect "the project has not changed" test ! -e file
expect_status "the same copy by --copy" 0 "$BERM" run --copy=turn -- cat file
expect_status "a bad BERM_COPY runs nothing" 125 env BERM_COPY=/etc "$BERM" -c 'echo x >file'
expect "nothing ran" test ! -e file
expect_status "control: without the variable the project changes" 0 "$BERM" -c 'echo x >file'
expect "it did" test -e file

# Commands of one turn may begin while another one ends; a name on the command line is refused at once (below).
renew
for i in 1 2 3 4 5; do
	BERM_COPY=turn "$BERM" -c "echo $i >>all; sleep 0.1; echo $i >one$i" >/dev/null 2>"$scratch/err$i" &
done
wait
expect_equal "commands with the same BERM_COPY wait for each other" 5 "$(BERM_COPY=turn "$BERM" -c 'cat all | wc -l; ls one? >/dev/null' 2>/dev/null | tr -d ' ')"
expect_equal "none was refused" "" "$(cat "$scratch"/err? | grep 'in use')"

# In use.
renew
"$BERM" run --copy -- sh -c 'echo started; sleep 60' >"$scratch/started" 2>/dev/null &
pid=$!
until_true test -s "$scratch/started" || fail "the command does not start"
expect_status "a copy in use is refused" 125 "$BERM" run --copy -- true
expect_contains "by name" "in use" "$err"
expect_status "another copy is not" 0 "$BERM" run --copy=other -- true
kill -s KILL "$pid"
wait "$pid" 2>/dev/null
until_true "$BERM" run --copy -- true || fail "a copy whose run was killed cannot be used"
expect_status "a copy whose run was killed can be used again" 0 "$BERM" run --copy -- true

# An ordinary run leaves the exec lines of a rebase to the last run of the project. A run in a copy sweeps nothing, so it does not
# count as one. beside OPTION...: the line that is left while another run with these options is there.
beside() {
	renew
	echo y >src/main.c && git commit -qam second
	"$BERM" run "$@" -- sh -c 'echo started; sleep 60' >"$scratch/started" 2>/dev/null &
	pid=$!
	until_true test -s "$scratch/started" || fail "the command does not start"
	"$BERM" run -- sh -c 'GIT_SEQUENCE_EDITOR="sed -i 1s/pick/edit/" git rebase -q -i HEAD~1; echo "exec touch /tmp/x" >>.git/rebase-merge/git-rebase-todo' >/dev/null 2>&1
	grep -c '^exec' .git/rebase-merge/git-rebase-todo
	kill -s KILL "$pid"
	wait "$pid" 2>/dev/null
}
expect_equal "control: it stays beside an ordinary run" 1 "$(beside)"
expect_equal "it becomes a comment beside a run in a copy" 0 "$(beside --copy)"
renew

# A launch that finds a trusted policy absent drops its trust, because the command could write it again. In a copy it cannot.
# trusted OPTION...: what a run with these options leaves of the trust.
mkdir "$scratch/outside"
echo "outside secret" >"$scratch/outside/file"
trusted() {
	renew >/dev/null
	printf 'version: 1\nfiles: {read: [%s]}\n' "$scratch/outside" >berm.yml
	cp berm.yml trusted.copy
	"$BERM" trust --yes >/dev/null 2>&1
	rm berm.yml
	mkdir -p "$XDG_CONFIG_HOME/berm"
	printf 'version: 1\nfiles: {guard: launch}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
	"$BERM" run "$@" -- cp trusted.copy berm.yml >/dev/null 2>&1
	rm -r "$XDG_CONFIG_HOME/berm"
	rm -f berm.yml
	cp trusted.copy berm.yml
	"$BERM" run -- cat "$scratch/outside/file" 2>/dev/null || echo "not trusted"
	rm berm.yml
}
expect_equal "control: an ordinary run drops the trust" "not trusted" "$(trusted)"
expect_equal "a run in a copy keeps it" "outside secret" "$(trusted --copy)"
expect_equal "one that can write elsewhere, too, drops it" "not trusted" "$(trusted --copy --allow-write="$scratch/outside")"
renew
printf 'version: 1\nfiles: {read: [%s]}\n' "$scratch/outside" >berm.yml
"$BERM" trust --yes >/dev/null 2>&1
mv berm.yml "$scratch/kept.yml"
"$BERM" run --copy -- sh -c 'printf "version: 1\nfiles: {read: [/]}\n" >berm.yml' >/dev/null 2>&1
expect_status "a policy that the command made is not applied" 1 "$BERM" apply
expect "it is not there" test ! -e berm.yml
renew

# The policy asks for copies.
printf 'version: 1\nworkspace: {copy: always}\n' >berm.yml
expect_status "a project's own policy may ask for a copy, untrusted" 0 "$BERM" run -- sh -c 'echo x >file2'
expect "the project has not changed" test ! -e file2
printf 'version: 1\nworkspace: {copy: sometimes}\n' >berm.yml
expect_status "another value is an error" 125 "$BERM" run -- true
rm berm.yml

# Refused, never direct.
git worktree add -q "$scratch/tree" -b side
cd "$scratch/tree" || exit 1
expect_status "a linked worktree is refused" 125 "$BERM" run --copy -- sh -c 'echo x >file'
expect_contains "with the reason" "worktree" "$err"
expect "nothing ran" test ! -e file
cd "$project" || exit 1
mkdir node_modules
run unshare -Urm sh -c "mount -t tmpfs none node_modules && '$BERM' run --copy -- sh -c 'echo x >file3'"
expect_equal "a copy with changes and a mount in the project is refused" 125 "$status"
expect_contains "by its path" "$project/node_modules" "$err"
expect "nothing ran" test ! -e file3
run unshare -Urm sh -c "mount -t tmpfs none node_modules && '$BERM' run -- sh -c 'echo x >file4'"
expect "control: without --copy it runs there" test -e file4
cc -O1 -o "$scratch/no-namespaces" "$support/no-namespaces.c" || exit 1
expect_status "a host without namespaces is refused" 125 "$scratch/no-namespaces" "$BERM" run --copy -- sh -c 'echo x >file5'
expect "nothing ran" test ! -e file5

# The copy counts as disk space.
renew
expect_status "control: below the limit" 0 "$BERM" run --copy -- sh -c 'head -c 1000000 /dev/zero >big'
printf 'version: 1\nlimits: {disk: 4M}\n' >berm.yml
expect_status "the limit of disk space holds in the copy" 123 "$BERM" run --copy=big -- sh -c 'head -c 40000000 /dev/zero >big; sync big; sleep 20'
expect "the project has not changed" test ! -e big
finish
