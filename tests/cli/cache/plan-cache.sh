#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The cached plan is never stale and never another user's. Every case shows first that the cached plan was in use, then
# changes one thing and expects the new result in the very next run. The home is a scratch directory, so that the user's
# own cached plans are left alone.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"

home=$scratch/home
plans=$home/.local/state/berm/plans
other=12345 # a uid without processes or files
unset XDG_STATE_HOME XDG_CONFIG_HOME
chmod 755 "$scratch"
mkdir -p "$home" "$scratch/bin" "$scratch/outside"
echo outside >"$scratch/outside/file"
cp "$BERM" "$scratch/bin/berm"
BERM=$scratch/bin/berm

set_home "$home"
{
	cat /etc/passwd
	echo "other:x:$other:$other::$home:/bin/sh"
} >"$scratch/passwd.new"
write_passwd <"$scratch/passwd.new"

# is_cached OPTION...: true if `run` uses the cached plan with these options.
is_cached() {
	"$BERM" plan --why-rebuilt "$@" >"$scratch/why"
}

run_and_ask() {
	"$BERM" run "$@" -- true && is_cached "$@"
}

slots() {
	stat -c '%n %i %z' "$plans"/* 2>/dev/null
}

# settle NAME [OPTION...]: runs until the plan is stored, and shows that two more runs use it and write no other.
settle() {
	local name=$1 before
	shift
	if ! until_true run_and_ask "$@"; then
		fail "$name: control: the plan is stored" "$(cat "$scratch/why")"
		return
	fi
	before=$(slots)
	"$BERM" run "$@" -- true
	"$BERM" run "$@" -- true
	expect "$name: control: there is a slot" test -n "$before"
	expect_equal "$name: control: the cached plan is used" "$before" "$(slots)"
}

# rebuilt NAME REASON [OPTION...]: the cached plan would not be used, for this reason.
rebuilt() {
	local name=$1 reason=$2
	shift 2
	expect_status "$name: the cached plan is not used" 1 "$BERM" plan --why-rebuilt "$@"
	expect_contains "$name: the reason" "$reason" "$out"
}

# can NAME COMMAND... and cannot NAME COMMAND...: inside, with BERM_OPTIONS.
can() {
	local name=$1
	shift
	expect_status "$name" 0 "$BERM" run "${BERM_OPTIONS[@]}" -- "$@"
}

cannot() {
	local name=$1
	shift
	run "$BERM" run "${BERM_OPTIONS[@]}" -- "$@"
	case $status in
	1 | 2) pass ;;
	*) fail "$name" "status $status: $out $err" ;;
	esac
}

echo text >notes
rebuilt "at first" "no plan is cached"
settle "without anything"

# A launch from the cached plan opens no policy file and no record of trust.
printf 'version: 1\nfiles: {read: ["%s"]}\n' "$scratch/outside" >berm.yml
"$BERM" trust --yes >/dev/null
opened() {
	strace -f -qq -e trace=open,openat -o "$scratch/trace" "$BERM" run -- true
	grep -c '/berm\.yml"' "$scratch/trace"
}
if command -v strace >/dev/null && strace -qq -o "$scratch/trace" true; then
	rm -f "$plans"/*
	sleep 0.05
	expect "control: a new plan reads the policy" test "$(opened)" -gt 0
	settle "a policy"
	expect_equal "the cached plan reads none" 0 "$(opened)"
fi

# Policies and trust.
settle "revoked"
can "revoked: control" cat "$scratch/outside/file"
"$BERM" trust --drop >/dev/null
rebuilt "revoked" trust
cannot "revoked: the file outside" cat "$scratch/outside/file"
settle "trusted"
cannot "trusted: control" cat "$scratch/outside/file"
"$BERM" trust --yes >/dev/null
can "trusted: the file outside" cat "$scratch/outside/file"

# A trusted policy that is deleted and written again: a plan that was cached while there was none, under other options, drops the
# trust too.
cp berm.yml "$scratch/trusted.yml"
"$BERM" trust --drop >/dev/null
rm berm.yml
settle "an absent policy" --deny=other
cp "$scratch/trusted.yml" berm.yml
"$BERM" trust --yes >/dev/null
settle "an absent policy: control: trusted"
can "an absent policy: control: trusted" cat "$scratch/outside/file"
rm berm.yml
rebuilt "an absent policy" trust --deny=other
# At any other level than `launch` the guard refuses it, or the sweep takes it.
at_launch() {
	mkdir -p "$home/.config/berm"
	printf "version: 1\nfiles: {guard: launch}\n" >"$home/.config/berm/berm.yml"
}
at_launch
expect_status "an absent policy: a command writes it again" 0 "$BERM" run --deny=other -- sh -c 'cat >berm.yml' <"$scratch/trusted.yml"
rm -r "$home/.config/berm"
expect "an absent policy: control: it is the same" cmp "$scratch/trusted.yml" berm.yml
cannot "an absent policy: it is not trusted" cat "$scratch/outside/file"
rm -f berm.yml
settle "a policy in a subdirectory" --deny=other
mkdir below
cp "$scratch/trusted.yml" below/berm.yml
"$BERM" trust --yes below >/dev/null
settle "a policy in a subdirectory: with its record" --deny=other
rm -r below
rebuilt "a policy in a subdirectory" below --deny=other
at_launch
expect_status "a policy in a subdirectory: written again" 0 "$BERM" run --deny=other -- sh -c 'mkdir below && cat >below/berm.yml' \
	<"$scratch/trusted.yml"
rm -r "$home/.config/berm"
BERM_OPTIONS=(--project=below)
cannot "a policy in a subdirectory: it is not trusted" cat "$scratch/outside/file"
BERM_OPTIONS=()
rm -r below
cp "$scratch/trusted.yml" berm.yml
"$BERM" trust --yes >/dev/null

settle "changed policy"
can "changed policy: control" cat notes
cp -p berm.yml "$scratch/before.yml"
printf 'version: 1\nfiles: {deny: [notes]}\n' >berm.yml
rebuilt "changed policy" berm.yml
cannot "changed policy: now denied" cat notes

# The same size and the same time of modification.
settle "forged time"
cannot "forged time: control" cat notes
touch -r berm.yml "$scratch/time"
printf 'version: 1\nfiles: {deny: [nothi]}\n' >berm.yml
touch -r "$scratch/time" berm.yml
rebuilt "forged time" berm.yml
can "forged time: the new text counts" cat notes

settle "removed policy"
rm berm.yml
rebuilt "removed policy" berm.yml
settle "new policy"
can "new policy: control" cat notes
printf 'version: 1\nfiles: {deny: [notes]}\n' >berm.yml
rebuilt "new policy" berm.yml
cannot "new policy: denied at once" cat notes
rm berm.yml

settle "the user's policy"
can "the user's policy: control" cat notes
mkdir -p "$home/.config/berm"
printf 'version: 1\nfiles: {deny: [notes]}\n' >"$home/.config/berm/berm.yml"
rebuilt "the user's policy" .config
cannot "the user's policy: denied at once" cat notes
rm -r "$home/.config"

mkdir -p "$scratch/config/berm"
printf 'version: 1\nfiles: {deny: [notes]}\n' >"$scratch/config/berm/berm.yml"
settle "XDG_CONFIG_HOME"
can "XDG_CONFIG_HOME: control" cat notes
XDG_CONFIG_HOME=$scratch/config cannot "XDG_CONFIG_HOME counts at once" cat notes
can "XDG_CONFIG_HOME: and is gone at once" cat notes

printf 'version: 1\nextends: ./part.yml\n' >"$scratch/named.yml"
printf 'version: 1\nextends: default\n' >"$scratch/part.yml"
BERM_OPTIONS=(--policy="$scratch/named.yml")
settle "--policy and what it extends" "${BERM_OPTIONS[@]}"
can "--policy: control" cat notes
printf 'version: 1\nextends: default\nfiles: {deny: [notes]}\n' >"$scratch/part.yml"
cannot "--policy: what it extends has changed" cat notes
BERM_OPTIONS=()

# Options.
settle "a flag"
can "a flag: control" cat notes
BERM_OPTIONS=(--deny=notes)
cannot "a flag counts at once" cat notes
settle "no flag" --deny=notes
BERM_OPTIONS=()
can "without the flag" cat notes

# Targets of paths.
mkdir "$scratch/one" "$scratch/two"
echo one >"$scratch/one/file"
echo two >"$scratch/two/file"
ln -s one "$scratch/link"
BERM_OPTIONS=(--allow-read="$scratch/link")
settle "a link" "${BERM_OPTIONS[@]}"
can "a link: control" cat "$scratch/one/file"
cannot "a link: control: the other" cat "$scratch/two/file"
ln -sfn two "$scratch/link"
rebuilt "a link" "$scratch/link" "${BERM_OPTIONS[@]}"
cannot "a link: what it led to" cat "$scratch/one/file"
can "a link: what it leads to" cat "$scratch/two/file"
mkdir -p "$scratch/up.one/in" "$scratch/up.two/in"
echo one >"$scratch/up.one/in/file"
echo two >"$scratch/up.two/in/file"
ln -s up.one "$scratch/up"
BERM_OPTIONS=(--allow-read="$scratch/up/in")
settle "a link above" "${BERM_OPTIONS[@]}"
cannot "a link above: control" cat "$scratch/up.two/in/file"
ln -sfn up.two "$scratch/up"
cannot "a link above: what it led to" cat "$scratch/up.one/in/file"
can "a link above: what it leads to" cat "$scratch/up.two/in/file"

# A directory becomes a link to another, and another directory gets its name.
BERM_OPTIONS=(--allow-read="$scratch/one")
settle "a directory" "${BERM_OPTIONS[@]}"
mv "$scratch/one" "$scratch/was-one"
ln -s two "$scratch/one"
cannot "a directory that became a link: control" cat "$scratch/was-one/file"
can "a directory that became a link" cat "$scratch/two/file"
rm "$scratch/one"
mv "$scratch/was-one" "$scratch/one"
settle "a directory again" "${BERM_OPTIONS[@]}"
mv "$scratch/one" "$scratch/was-one"
mkdir "$scratch/one"
rebuilt "another directory of that name" "$scratch/one" "${BERM_OPTIONS[@]}"
rm -r "$scratch/one"
rebuilt "no directory of that name" "$scratch/one" "${BERM_OPTIONS[@]}"
cannot "no directory of that name" cat "$scratch/one/file"
BERM_OPTIONS=()

# A missing path appears, a toolchain in the home, and disappears.
settle "a toolchain"
cannot "a toolchain: control" test -e "$home/.cargo/bin/tool"
mkdir -p "$home/.cargo/bin"
echo tool >"$home/.cargo/bin/tool"
rebuilt "a toolchain" "$home/.cargo"
can "a new toolchain" cat "$home/.cargo/bin/tool"
settle "a toolchain that goes"
rm -r "$home/.cargo"
rebuilt "a toolchain that goes" "$home/.cargo"
cannot "a toolchain that went" test -e "$home/.cargo/bin/tool"

# Secrets that appear are found in every launch, from the cached plan too.
settle "a new .env directory"
mkdir .env
echo secret >.env/file
expect_status "a new .env directory: control" 0 cat .env/file
expect "a new .env directory: the plan is still the stored one" is_cached
cannot "a new .env directory" cat .env/file
mkdir -p deep/er
echo secret >deep/er/.env
cannot "a new .env below" cat deep/er/.env
rm -r .env deep

# Which project it is.
mkdir -p a/b
cd a/b || exit 1
# Writes outside of the project end in the private /tmp, if anywhere.
try_to_write() {
	rm -f "$1"
	run "$BERM" run -- sh -c "echo x >'$1'"
	test -e "$1"
}
writable() {
	if try_to_write "$2"; then
		pass
	else
		fail "$1" "$2 could not be written: $err"
	fi
}
unwritable() {
	if try_to_write "$2"; then
		fail "$1" "$2 was written"
	else
		pass
	fi
}
settle "a .git above"
unwritable "a .git above: control" "$project/a/new"
mkdir "$project/.git"
rebuilt "a .git above" .git
writable "a .git above: more is writable" "$project/a/new"
settle "a .git between"
writable "a .git between: control" "$project/new"
mkdir ../.git
rebuilt "a .git between" "$project/a/.git"
unwritable "a .git between: less is writable" "$project/new"
rmdir ../.git
settle "a berm.yml between"
writable "a berm.yml between: control" "$project/new"
echo 'version: 1' >../berm.yml
unwritable "a berm.yml between: less is writable" "$project/new"
cd "$project" || exit 1
rm -r a .git

# Another directory takes the project's name.
settle "another project"
mv "$project" "$project.was"
mkdir "$project"
cd "$project" || exit 1
printf 'version: 1\nfiles: {deny: [notes]}\n' >berm.yml
echo text >notes
rebuilt "another project" "$project"
cannot "another project: its own policy counts" cat notes
cd "$scratch" || exit 1
rm -r "$project"
mv "$project.was" "$project"
cd "$project" || exit 1

# The environment.
settle "PATH"
expect_output "PATH" "/usr/share:/usr/local/bin:/usr/bin:/bin" env PATH=/usr/share "$BERM" run -- /usr/bin/printenv PATH
settle "SHELL"
expect_output "SHELL" /bin/sh env SHELL="$scratch/outside/file" "$BERM" run -- printenv SHELL
settle "HOME"
expect_output "HOME is the database's" "$home" env HOME="$project" "$BERM" run -- printenv HOME
settle "a variable" --env=WORD
expect_output "a variable is the caller's" one env WORD=one "$BERM" run --env=WORD -- printenv WORD
expect_output "and his next one" two env WORD=two "$BERM" run --env=WORD -- printenv WORD
expect "from the cached plan" is_cached --env=WORD
settle "another home"
mkdir "$scratch/home.new"
set_home "$scratch/home.new"
rebuilt "another home" directory
expect_output "another home counts at once" "$scratch/home.new" "$BERM" run -- printenv HOME
set_home "$home"

# Permissions: a tree of software that the user may write is no tree of software.
mkdir -p "$scratch/tree" "$scratch/config/berm"
echo secret >"$scratch/tree/.env"
chmod 555 "$scratch/tree"
printf 'version: 1\nfiles: {system: ["%s"]}\n' "$scratch/tree" >"$scratch/config/berm/berm.yml"
export XDG_CONFIG_HOME=$scratch/config
settle "chmod"
can "chmod: control" cat "$scratch/tree/.env"
chmod 755 "$scratch/tree"
rebuilt "chmod" "$scratch/tree"
if [ "$(id -u)" -ne 0 ]; then
	cannot "chmod: now it is searched" cat "$scratch/tree/.env"
fi
unset XDG_CONFIG_HOME

# Another binary, in the same place and in the same file.
settle "a binary"
cp "$BERM" "$scratch/bin/new"
mv "$scratch/bin/new" "$scratch/bin/berm"
rebuilt "a replaced binary" directory
settle "a binary, rewritten"
cp "$BERM" "$scratch/berm.copy"
cat "$scratch/berm.copy" >"$scratch/bin/berm"
rebuilt "a rewritten binary" directory

# Another user, with the same home, directory and options.
if [ "$(id -u)" -eq 0 ]; then
	settle "another user"
	chmod -R go+rX "$home"
	chmod 700 "$plans"
	as_other() {
		setpriv --reuid="$other" --regid="$other" --clear-groups "$@"
	}
	expect_status "another user: control" 0 as_other cat notes
	expect_status "another user: not the cached plan" 1 as_other "$BERM" plan --why-rebuilt
	chmod 755 "$plans"
	chmod 644 "$plans"/*
	expect_status "another user: even if it is readable" 1 as_other "$BERM" plan --why-rebuilt
	chmod 600 "$plans"/*
fi

# A forgery: a real plan that grants more, under the key of the usual one. Where the attacker can write, it is not read.
key_of() {
	dd if="$1" bs=1 skip=16 count=64 2>/dev/null
}
wide=(--allow-read="$scratch/outside")
rm -f "$plans"/*
settle "the usual plan"
slot=$(echo "$plans"/*)
name=${slot##*/}
cp "$slot" "$scratch/usual"
rm -f "$plans"/*
settle "the wide plan" "${wide[@]}"
cp "$plans"/* "$scratch/forged"
printf %s "$(key_of "$scratch/usual")" | dd of="$scratch/forged" bs=1 seek=16 conv=notrunc 2>/dev/null
chmod 600 "$scratch/forged"

# forge: the forgery in place of the usual plan, as only the user can put it there.
forge() {
	rm -rf "${slot:?}"
	cp -p "$scratch/forged" "$slot"
}

# unbelieved NAME: what the forgery grants is not there, and the run is a usual one.
unbelieved() {
	cannot "$1: the forgery is not used" cat "$scratch/outside/file"
	expect_output "$1: the run is a usual one" text "$BERM" run -- cat notes
}

forge
can "forgery: control: the user himself can do it" cat "$scratch/outside/file"
expect "forgery: control: it counts as the cached plan" is_cached

forge
chmod 640 "$slot"
unbelieved "readable for the group"
forge
ln "$slot" "$project/second"
unbelieved "a second name"
rm -f "$project/second"
cp -p "$scratch/forged" "$project/forged"
rm -f "$slot"
ln -s "$project/forged" "$slot"
unbelieved "a link to a file of the project"
rm -f "$slot"
mkfifo "$slot"
unbelieved "a pipe"
rm -rf "$slot"
mkdir "$slot"
unbelieved "a directory"
rm -rf "$slot"
if [ "$(id -u)" -eq 0 ]; then
	forge
	chown "$other" "$slot"
	unbelieved "a file of another user"
fi

# A plans directory of the same shape where commands can write.
plant() {
	mkdir -p "$1/berm/plans"
	chmod -R go-rwx "$1"
	cp -p "$scratch/forged" "$1/berm/plans/$name"
}
rm -f "$slot"
mkdir -p state "$project/.local/state"
plant "$project/state"
plant "$project/.local/state"
HOME=$project unbelieved "HOME in the project"
run env XDG_STATE_HOME="$project/state" "$BERM" run -- cat "$scratch/outside/file"
expect_equal "XDG_STATE_HOME in the project" 125 "$status"
private=$("$BERM" state path | sed -n 's/^home //p')
plant "$private/.local/state"
run env XDG_STATE_HOME="$private/.local/state" "$BERM" run -- cat "$scratch/outside/file"
expect_equal "XDG_STATE_HOME in the private home" 125 "$status"
HOME=$private unbelieved "HOME is the private home"
cp -r "$project/state" "$scratch/elsewhere"
chmod -R go-rwx "$scratch/elsewhere"
XDG_STATE_HOME=$scratch/elsewhere unbelieved "XDG_STATE_HOME elsewhere"

# Links on the way that lead to it.
mv "$plans" "$plans.real"
ln -s "$project/state/berm/plans" "$plans"
unbelieved "the directory of plans is a link"
rm "$plans"
mv "$plans.real" "$plans"
mv "$home/.local/state" "$home/.local/state.real"
ln -s "$project/.local/state" "$home/.local/state"
run "$BERM" run -- cat "$scratch/outside/file"
expect_equal "the state directory is behind a link into the project" 125 "$status"
rm "$home/.local/state"
mv "$home/.local/state.real" "$home/.local/state"
mv "$home/.local" "$home/.local.real"
ln -s "$project/.local" "$home/.local"
run "$BERM" run -- cat "$scratch/outside/file"
expect_equal "the whole of .local is" 125 "$status"
rm "$home/.local"
mv "$home/.local.real" "$home/.local"
rm -rf state .local forged
forge
can "control: the forgery still works where only the user writes" cat "$scratch/outside/file"

# From inside there is no way there.
cp -p "$scratch/usual" "$slot"
before=$(slots)
for command in "cp notes '$slot'" "rm '$slot'" "mv '$plans' '$plans.moved'" "ln -s x '$slot.x'"; do
	run "$BERM" run -- sh -c "$command"
done
run "$BERM" run -- cat "$slot"
case $out in
*bermplan*) fail "from inside: the cached plan is not readable" ;;
*) pass ;;
esac
expect_equal "from inside: nothing has changed" "$before" "$(slots)"

# Damage is no error and is repaired.
damaged() {
	expect_status "damaged ($1): the plan is not used" 1 "$BERM" plan --why-rebuilt
	expect_output "damaged ($1): the run is a usual one" text "$BERM" run -- cat notes
	settle "damaged ($1): stored again"
}
settle "damage"
: >"$slot"
damaged empty
truncate -s -1 "$slot"
damaged "cut off"
truncate -s 90 "$slot"
damaged "a header"
truncate -s +1 "$slot"
damaged "one byte more"
printf x | dd of="$slot" bs=1 seek=2000 conv=notrunc 2>/dev/null
damaged "one byte else"
truncate -s 2M "$slot"
damaged "too long"

# A refusal counts only under a plan that still holds: whatever a stored one required is asked of the new one.
printf 'version: 1\nlimits: {memory: 1G}\nrequire: {limits: enforced}\n' >berm.yml
"$BERM" trust --yes >/dev/null
is_refused_from_store() {
	"$BERM" run -- true
	[ $? -eq 125 ] && is_cached
}
until_true is_refused_from_store || fail "refused: control: the cached plan is used" "$(cat "$scratch/why")"
expect_status "refused: control" 125 "$BERM" run -- cat notes
expect_contains "refused: control: the reason" limits "$err"
printf 'version: 1\n' >berm.yml
expect_output "refused no more" text "$BERM" run -- cat notes
expect_equal "refused no more: nothing else is said" "" "$err"
rm -f berm.yml

# A report that a host asks for is written once, with a new plan and with a cached one.
berm_sh=$scratch/bin/berm-sh
cp "$BERM" "$berm_sh"
mkdir -p nested
report=/tmp/claude-$(printf '%x' $$)-cwd
host_call() {
	rm -f "$report"
	run "$berm_sh" "eval 'cd nested; echo hi' \\< /dev/null && pwd -P >| $report"
}
leaves_policy() {
	strace -f -qq -e trace=open,openat -o "$scratch/trace" "$berm_sh" "eval true && pwd -P >| $report"
	! grep -q '/berm\.yml"' "$scratch/trace"
}
printf 'version: 1\nfiles: {deny: [never]}\n' >berm.yml
if command -v strace >/dev/null && strace -qq -o "$scratch/trace" true; then
	until_true leaves_policy || fail "told: control: the cached plan is used" ""
fi
for text in 'files: {deny: [never-again]}' 'files: {deny: [nothing-at-all]}'; do
	host_call
	printf 'version: 1\n%s\n' "$text" >berm.yml
	host_call
	expect_equal "told: status and output" "0 hi" "$status $out"
	expect_equal "told: errors" "" "$err"
	expect_equal "told: the directory" "$PWD/nested" "$(cat "$report")"
done
rm -f berm.yml "$report"

# Destinations and ports are stored too. What a caller passes is not: it decides anew whether Java gets the proxy's settings.
networked=(--allow-net=example.org:443 --env=MAVEN_OPTS)
# shellcheck disable=SC2016 # for the shell inside
java=("$BERM" run "${networked[@]}" -- sh -c 'echo "${MAVEN_OPTS%%=*}"')
settle "destinations" "${networked[@]}"
expect_output "destinations: the proxy is there" -Dhttp.proxyHost "${java[@]}"
expect_output "destinations: a variable of the caller's" mine env MAVEN_OPTS=mine "${java[@]}"
expect "destinations: with the cached plan" is_cached "${networked[@]}"
expect_output "destinations: and without it again" -Dhttp.proxyHost "${java[@]}"
if command -v curl >/dev/null; then
	run "$BERM" run "${networked[@]}" -- curl -sS http://not-allowed.test/
	expect_contains "destinations: another one is refused" "no rule allows this name" "$out"
fi
printf 'version: 1\nnetwork: {allow: ["10.9.9.9:80"], local: [9]}\n' >"$scratch/networked.yml"
# shellcheck disable=SC2016 # for the shell inside
proxied=("$BERM" run --policy="$scratch/networked.yml" -- sh -c 'echo "proxy ${http_proxy:+set}"')
settle "destinations taken back" --policy="$scratch/networked.yml"
expect_output "destinations taken back: control" "proxy set" "${proxied[@]}"
sed -i 's/, local.*/}/' "$scratch/networked.yml"
expect_output "a local port taken back: helpers of the plan that is gone say nothing" "proxy set" "${proxied[@]}"
printf 'version: 1\nnetwork: none\n' >"$scratch/networked.yml"
expect_output "destinations taken back" "proxy " "${proxied[@]}"

# Several at once, from nothing.
for round in 1 2 3; do
	rm -f "$plans"/* "$plans"/.walk-*
	pids=()
	for i in 1 2 3 4 5 6; do
		"$BERM" run -- cat notes >"$scratch/out.$i" 2>&1 &
		pids+=($!)
	done
	for i in 1 2 3 4 5 6; do
		wait "${pids[i - 1]}"
		expect_equal "six at once, round $round" "0 text" "$? $(cat "$scratch/out.$i")"
	done
	expect "six at once, round $round: the plan is stored" is_cached
	expect_equal "six at once, round $round: nothing is left over" "$name" \
		"$(find "$plans" -mindepth 1 ! -name ".walk-$name" -printf '%f\n')"
done

# A store that cannot be written is no error.
chmod 500 "$plans"
rm -f "$plans"/* 2>/dev/null
expect_output "a store that cannot be written" text "$BERM" run --env=UNSEEN -- cat notes
chmod 700 "$plans"
rm -f "$plans"/* # one of them may lie where the next would

# Nor one that the caller's limit on file sizes has no room for.
# shellcheck disable=SC2016 # for the inner shell
expect_status "a limit on file sizes" 0 bash -c 'ulimit -f 8; exec "$0" run --env=UNSEEN2 -- cat notes' "$BERM"
expect_equal "a limit on file sizes: the command's output" text "$out"
expect_equal "a limit on file sizes: only the record is missing" "" "$(grep -v 'cannot write the record' <<<"$err")"
rebuilt "a limit on file sizes" "no plan is cached" --env=UNSEEN2

# The question itself.
expect_status "--why-rebuilt --json" 125 "$BERM" plan --why-rebuilt --json
expect_status "--why-rebuilt --os" 125 "$BERM" plan --why-rebuilt --os=linux
settle "options in another place" --deny=x
expect "-- makes no difference" is_cached --deny=x --
expect_status "the cached plan of a run" 0 "$BERM" plan --deny=x --why-rebuilt

finish
