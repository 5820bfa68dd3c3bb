#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A hostile project policy changes nothing until it is trusted, the plan names every line of it, and trust is for
# exactly the bytes that were shown.
. "$(dirname "$0")/../support/lib.sh"

home=$(getent passwd "$(id -u)" | cut -d: -f6)
export AWS_SECRET_ACCESS_KEY=hostile-secret
echo env-secret >.env
mkdir "$scratch/outside"
echo outside-secret >"$scratch/outside/file"

hostile() {
	cat >berm.yml <<-END
	version: 1
	files: {read: [~/.ssh, "$scratch/outside"], except: ["**/.env"]}
	network: all
	environment: {pass: [AWS_SECRET_ACCESS_KEY], set: {INJECTED: "from the project"}}
	END
}

# closed NAME: nothing that the hostile policy asks for is there.
closed() {
	expect_status "$1: the file outside" 1 "$BERM" run -- cat "$scratch/outside/file"
	expect_status "$1: .env" 1 "$BERM" run -- cat .env
	expect_status "$1: the variable" 1 "$BERM" run -- printenv AWS_SECRET_ACCESS_KEY
	expect_status "$1: the assignment" 1 "$BERM" run -- printenv INJECTED
	expect_status "$1: the network" 1 "$BERM" check connect example.org:443
	expect_status "$1: ~/.ssh" 1 "$BERM" check read "$home/.ssh/id_rsa"
}

# Control: all of this works without berm.
expect_output "control: the file outside" outside-secret cat "$scratch/outside/file"
expect_output "control: .env" env-secret cat .env
expect_output "control: the variable" hostile-secret printenv AWS_SECRET_ACCESS_KEY

hostile
closed untrusted
run "$BERM" plan
for line in 'files.read: ~/.ssh' "files.read: $scratch/outside" 'files.except: **/.env' 'network: all' \
	'environment.pass: AWS_SECRET_ACCESS_KEY' 'environment.set: INJECTED'; do
	joined=$(tr -s ' \n' '  ' <"$scratch/out")
	expect_contains "the plan lists $line" "$line" "$joined"
done
expect_contains "with its place" "berm.yml:2:16" "$out"
expect_contains "and the command that accepts it" "berm trust" "$out"

# Asking without a terminal is no yes.
expect_status "without a terminal it is refused" 125 "$BERM" trust
expect_contains "which says how" --yes "$err"
for line in 'files.read: ~/.ssh' 'files.except: **/.env' 'network: all' 'environment.pass: AWS_SECRET_ACCESS_KEY' \
	'environment.set: INJECTED=from the project' 'berm.yml:3:10'; do
	expect_contains "it shows $line" "$line" "$out"
done
closed "after a refusal"
expect "nothing was recorded" test ! -e "$XDG_STATE_HOME/berm/trust"

# answer WORD: what a person at a terminal types after the question is there.
answer() {
	local answer=$1
	shift
	rm -f "$scratch/screen" # the question before is still in it
	mkfifo "$scratch/keys"
	timeout "$patience" script -qefc "$*" "$scratch/screen" <"$scratch/keys" >/dev/null 2>&1 &
	local pid=$!
	exec 7>"$scratch/keys"
	rm "$scratch/keys"
	until_true grep -q 'y/N' "$scratch/screen"
	echo "$answer" >&7
	status=0
	wait "$pid" || status=$?
	exec 7>&-
}

if command -v script >/dev/null; then
	answer n "$BERM" trust
	expect_equal "a no" 1 "$status"
	answer '' "$BERM" trust
	expect_equal "an empty answer is a no" 1 "$status"
	closed "after a no"
	answer y "$BERM" trust
	expect_equal "a yes" 0 "$status"
	run "$BERM" run -- cat "$scratch/outside/file" # and a line about ~/.ssh, which no rule grants
	expect_equal "a yes counts" outside-secret "$out"
	expect_status "taken back" 0 "$BERM" trust --drop
	closed "taken back"
else
	echo "the program script is missing: questions on a terminal are not tested"
fi

# From inside it cannot be given: not with the mark, not without it.
expect_status "inside" 125 "$BERM" run --allow-read="$BERM" -- "$BERM" trust --yes
expect_contains "inside: why" sandbox "$err"
run "$BERM" run --allow-read="$BERM" -- env -u BERM "$BERM" trust --yes
run "$BERM" run --allow-read="$BERM" -- env -u BERM XDG_STATE_HOME="$XDG_STATE_HOME" "$BERM" trust --yes
closed "after trying from inside"

expect_status "trust" 0 "$BERM" trust --yes
expect_output "trusted: the file outside" outside-secret "$BERM" run -- cat "$scratch/outside/file"
expect_output "trusted: .env" env-secret "$BERM" run -- cat .env
expect_output "trusted: the variable" hostile-secret "$BERM" run -- printenv AWS_SECRET_ACCESS_KEY
expect_output "trusted: the assignment" "from the project" "$BERM" run -- printenv INJECTED
expect_status "trusted: the network" 0 "$BERM" check connect example.org:443
expect_status "trusted: the floor stays" 1 "$BERM" check read "$home/.ssh/id_rsa"
run "$BERM" plan
case $out in
*"is ignored"*) fail "trusted: nothing is ignored" "$out" ;;
*) pass ;;
esac
expect_status "trusted again" 0 "$BERM" trust
expect_contains "trusted again: nothing to do" already "$out"
run "$BERM" trust --list
expect_contains "the list" "$project/berm.yml" "$out"
expect_contains "the list: it matches" trusted "$out"

# The record is out of reach inside.
expect_status "the records: control" 0 ls "$XDG_STATE_HOME/berm/trust"
expect_status "the records are not there inside" 2 "$BERM" run -- ls "$XDG_STATE_HOME/berm/trust"

# Any other content is untrusted; the same again is trusted.
cp berm.yml "$scratch/trusted.yml"
echo '#' >>berm.yml
closed changed
run "$BERM" trust --list
expect_contains "the list: changed" changed "$out"
cp "$scratch/trusted.yml" berm.yml
expect_output "the same bytes are trusted" outside-secret "$BERM" run -- cat "$scratch/outside/file"

# The same content elsewhere is not.
mkdir "$scratch/copy"
cp berm.yml .env "$scratch/copy"
(
	cd "$scratch/copy" || exit 1
	"$BERM" run -- cat "$scratch/outside/file" >/dev/null 2>&1
)
expect_equal "another path" 1 $?
cp -r "$project" "$scratch/aside"

# A link, or a file that others can write, is refused whole, trusted content or not.
mv berm.yml real.yml
ln -s real.yml berm.yml
expect_status "a link is refused" 125 "$BERM" run -- true
expect_contains "a link: why" "symbolic link" "$err"
expect_status "a link cannot be trusted" 125 "$BERM" trust --yes
rm berm.yml
mv real.yml berm.yml
chmod o+w berm.yml
expect_status "writable by others is refused" 125 "$BERM" run -- true
expect_status "writable by others cannot be trusted" 125 "$BERM" trust --yes
chmod o-w berm.yml
expect_output "and good again" outside-secret "$BERM" run -- cat "$scratch/outside/file"

# A state directory that a command could have made is not believed.
mkdir -p state
cp -r "$XDG_STATE_HOME/berm" state/berm
chmod -R go-rwx state
expect_status "in the project" 125 env XDG_STATE_HOME="$project/state" "$BERM" run -- true
expect_contains "in the project: why" state "$err"
private=$("$BERM" state path | sed -n 's/^home //p')
"$BERM" run -- true
mkdir -p "$private/planted" && cp -r "$XDG_STATE_HOME/berm/trust" "$private/planted" && mkdir "$private/planted/berm" &&
	mv "$private/planted/trust" "$private/planted/berm" && chmod -R go-rwx "$private/planted"
expect_status "in a private home" 125 env XDG_STATE_HOME="$private/planted" "$BERM" run -- true
mv "$XDG_STATE_HOME/berm" "$XDG_STATE_HOME/berm.real"
ln -s berm.real "$XDG_STATE_HOME/berm"
expect_status "a linked state directory" 125 "$BERM" run -- true
rm "$XDG_STATE_HOME/berm"
mv "$XDG_STATE_HOME/berm.real" "$XDG_STATE_HOME/berm"
expect_output "the real one" outside-secret "$BERM" run -- cat "$scratch/outside/file"
rm -rf state

# A project that is gone can still be revoked.
mv "$project" "$project.gone"
cd "$scratch" || exit 1
run "$BERM" trust --list
expect_contains "gone" gone "$out"
expect_status "revoked by name" 0 "$BERM" trust --drop "$project"
expect_status "revoked twice" 1 "$BERM" trust --drop "$project"
mv "$project.gone" "$project"
cd "$project" || exit 1
closed "revoked"

# Rules that only restrict need no trust and hold at once.
printf 'version: 1\nfiles: {deny: [notes]}\nhome: empty\n' >berm.yml
echo text >notes
expect_output "control: the notes" text cat notes
expect_status "a deny counts untrusted" 1 "$BERM" run -- cat notes
expect_status "and there is nothing to trust" 0 "$BERM" trust
expect_contains "which it says" "only restricts" "$out"

# A command that replaces a path between two runs does not change the grant of the trusted rule.
printf 'version: 1\nfiles: {read: [data], write: [build]}\n' >berm.yml
mkdir data build
echo data >data/file
expect_status "names in the project: trust" 0 "$BERM" trust --yes
expect_output "names in the project: control" data "$BERM" run -- cat data/file
expect_status "a command plants links" 0 "$BERM" run -- sh -c "rm -r build && ln -s '$scratch/outside' build"
expect_output "control: the link leads outside" outside-secret cat build/file
expect_status "the planted link is refused" 125 "$BERM" run -- cat build/file
expect_contains "and named" "$project/build" "$err"
expect_status "nothing is written through it" 125 "$BERM" run -- sh -c 'echo x >build/planted'
expect "nothing" test ! -e "$scratch/outside/planted"
rm -r build data

# The command line may only narrow if the user's own policy requires that.
run "$BERM" trust --drop
rm berm.yml
expect_output "options widen: control" outside-secret "$BERM" run --allow-read="$scratch/outside" -- cat "$scratch/outside/file"
mkdir -p "$XDG_CONFIG_HOME/berm"
printf 'version: 1\ncommand_line: narrow\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
expect_status "options are narrowed" 1 "$BERM" run --allow-read="$scratch/outside" -- cat "$scratch/outside/file"
echo text >notes
expect_status "and still take away" 1 "$BERM" run --deny=notes -- cat notes
expect_status "a user policy in the project is refused" 125 env XDG_CONFIG_HOME="$project" sh -c \
	'mkdir -p berm && echo "version: 1" >berm/berm.yml && "$BERM" run -- true'
rm -r "$XDG_CONFIG_HOME/berm" berm

# Several contents are trusted at once, and are withdrawn one by one. After an edit only the changes are shown.
renew_versions() {
	printf 'version: 1\nfiles:\n  read: [%s]\n  deny: [closed]\n' "$scratch/outside" >"$scratch/a.yml"
	printf 'version: 1\nfiles:\n  read: [%s]\nenvironment: {pass: [AWS_SECRET_ACCESS_KEY]}\n' "$scratch/outside" >"$scratch/b.yml"
}
renew_versions
cp "$scratch/a.yml" berm.yml
expect_status "the first content" 0 "$BERM" trust --yes
expect_contains "the first content is shown whole" "files.read: $scratch/outside" "$out"
cp "$scratch/b.yml" berm.yml
expect_status "the second content is not trusted" 1 "$BERM" run -- cat "$scratch/outside/file"
expect_status "the second content" 0 "$BERM" trust --yes
expect_contains "the change: a new rule" "environment.pass: AWS_SECRET_ACCESS_KEY" "$out"
expect_contains "the change: a line that is gone" "-  deny: [closed]" "$out"
case $out in
*"files.read: $scratch/outside"*) fail "what was trusted before is not shown again" "$out" ;;
*) pass ;;
esac
expect_output "the second content counts" hostile-secret "$BERM" run -- printenv AWS_SECRET_ACCESS_KEY
cp "$scratch/a.yml" berm.yml
expect_output "the first content counts still" outside-secret "$BERM" run -- cat "$scratch/outside/file"
expect_status "but not what only the second opens" 1 "$BERM" run -- printenv AWS_SECRET_ACCESS_KEY
run "$BERM" trust --list
expect_equal "the list has both" 2 "$(grep -c "$project/berm.yml" "$scratch/out")"
first=$(sha256sum "$scratch/a.yml" | cut -c 1-12)
expect_contains "the list: the current content" "$first" "$(grep ^trusted "$scratch/out")"
expect_status "a hash that is too short" 125 "$BERM" trust --drop=abc
expect_status "a hash that is not there" 1 "$BERM" trust --drop=0123456789ab
expect_status "one content is dropped" 0 "$BERM" trust --drop="$first"
expect_status "it is not trusted any more" 1 "$BERM" run -- cat "$scratch/outside/file"
cp "$scratch/b.yml" berm.yml
expect_output "the other one is" hostile-secret "$BERM" run -- printenv AWS_SECRET_ACCESS_KEY
printf 'version: 1\nfiles:\n  read: [%s]\n' "$scratch/outside" >berm.yml
expect_status "a content that allows less" 0 "$BERM" trust --yes
expect_contains "says so" "allows nothing that was not trusted" "$out"
expect_status "all contents are dropped" 0 "$BERM" trust --drop
expect_contains "with their number" "2 contents" "$out"
printf 'version: 1\nnetwork: all # \033]0;title\007\n' >berm.yml
expect_status "bytes that act on a terminal" 125 "$BERM" trust --yes
expect "no such byte is printed" sh -c "! grep -q '$(printf '\033')' '$scratch/out' '$scratch/err'"

# A launch that finds a trusted file absent drops the trust: a command may write the old content again.
rewrite() {
	"$BERM" run -- cp "trusted.copy" berm.yml
}
cp "$scratch/a.yml" berm.yml
cp berm.yml trusted.copy
expect_status "deleted: trust" 0 "$BERM" trust --yes
expect_output "deleted: control: trusted" outside-secret "$BERM" run -- cat "$scratch/outside/file"
rm berm.yml
cp trusted.copy berm.yml
expect_output "deleted: control: no launch between, the user's own copy" outside-secret "$BERM" run -- cat "$scratch/outside/file"
rm berm.yml
run "$BERM" plan
run "$BERM" check read x
run "$BERM" trust --list
expect_contains "looking does not drop it" gone "$out"
# At any other level than `launch` the sweep after the run takes what the command wrote.
mkdir -p "$XDG_CONFIG_HOME/berm"
printf 'version: 1\nfiles: {guard: launch}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
run rewrite
rm -r "$XDG_CONFIG_HOME/berm"
expect_contains "deleted: a launch says that it drops it" "no longer trusted" "$err"
expect "deleted: control: the command wrote it again" cmp -s trusted.copy berm.yml
expect_status "deleted: it is not trusted" 1 "$BERM" run -- cat "$scratch/outside/file"
run "$BERM" trust --list
expect_equal "deleted: no record is left" "" "$out"

# The same for a policy in a subdirectory, which is a separate project, and for a link in its place. Without the guard: with it, the
# name is refused and the trust stays (cli-guard-places).
printf 'version: 1\nfiles: {guard: repair}\n' >"$scratch/repair.yml"
for plant in 'mkdir sub && cp trusted.copy sub/berm.yml' 'mkdir real && ln -s real sub && cp trusted.copy sub/berm.yml'; do
	rm -rf sub real
	mkdir sub
	cp trusted.copy sub/berm.yml
	expect_status "below: trust" 0 "$BERM" trust --yes sub
	expect_output "below: control" outside-secret "$BERM" run --project=sub -- cat "$scratch/outside/file"
	rm -rf sub
	expect_status "below: $plant" 0 "$BERM" run --policy="$scratch/repair.yml" -- sh -c "$plant"
	rm -rf sub
	mkdir sub
	cp trusted.copy sub/berm.yml
	expect_status "below: it is not trusted" 1 "$BERM" run --project=sub -- cat "$scratch/outside/file"
done
rm -rf sub real

# A record elsewhere stays: this command cannot create that file.
mkdir "$scratch/elsewhere"
cp trusted.copy "$scratch/elsewhere/berm.yml"
expect_status "elsewhere: trust" 0 "$BERM" trust --yes "$scratch/elsewhere"
rm "$scratch/elsewhere/berm.yml"
expect_status "elsewhere: another project's run" 0 "$BERM" run -- true
run "$BERM" trust --list
expect_contains "elsewhere: the record stays" "$scratch/elsewhere/berm.yml" "$out"
expect_status "elsewhere: dropped" 0 "$BERM" trust --drop "$scratch/elsewhere"

# Several launches at once drop it without an error.
cp trusted.copy berm.yml
expect_status "at once: trust" 0 "$BERM" trust --yes
rm berm.yml
for i in 1 2 3 4 5 6; do
	"$BERM" run --policy="$scratch/repair.yml" -- true 2>"$scratch/once.$i" &
	pids[i]=$!
done
for i in 1 2 3 4 5 6; do
	wait "${pids[i]}"
	expect_equal "at once: launch $i" 0 $?
done
expect_equal "at once: no error" "" "$(cat "$scratch"/once.* | grep -v 'no longer trusted')"
run "$BERM" trust --list
expect_equal "at once: no record is left" "" "$out"
rm trusted.copy

# An untrusted policy: one line, once per content, and after a failed run.
expect_silent() {
	local name=$1
	shift
	run "$@"
	expect_equal "$name" "" "$err"
}
hostile
run "$BERM" run -- true
expect_equal "one line" 1 "$(wc -l <"$scratch/err")"
for part in "$project/berm.yml is not trusted" 'files.read: ~/.ssh' 'and 3 more' 'berm trust'; do
	expect_contains "the line: $part" "$part" "$err"
done
expect_silent "once per content" "$BERM" run -- true
expect_silent "whatever the options" "$BERM" run --deny=x -- true
run "$BERM" run -- false
expect_contains "after a failed run" "is not trusted" "$err"
expect_equal "with its status" 1 "$status"
expect_silent "and not after the next" "$BERM" run -- true
echo '# more' >>berm.yml
run "$BERM" run -- false
expect_equal "a new content that fails: one line" 1 "$(wc -l <"$scratch/err")"
run "$BERM" run --project="$project" -- false
expect_contains "with --project the command names it" "berm trust $project" "$err"
expect_status "trusted" 0 "$BERM" trust --yes
run "$BERM" run -- false
expect_equal "trusted: no line about that" 0 "$(grep -c 'not trusted' <<<"$err")"
expect_contains "trusted: one about what it cannot grant" ".ssh" "$err"
expect_status "dropped" 0 "$BERM" trust --drop
printf 'version: 1\nfiles: {deny: [x]}\n' >berm.yml
expect_silent "a policy that only restricts: no line" "$BERM" run -- false

# Words.
expect_status "unknown option" 125 "$BERM" trust --yess
expect_status "too many words" 125 "$BERM" trust a b
expect_status "contradiction" 125 "$BERM" trust --list --drop
expect_status "help" 0 "$BERM" trust --help
rm berm.yml
expect_status "no policy" 125 "$BERM" trust --yes

finish
