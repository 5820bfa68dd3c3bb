#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Init is forked before the launcher has checked that the cached plan is still valid. A plan that is not never gets its command
# started. Each case counts the clone3 calls: one where the sandbox was used, two where it was ended and another one made.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"

if ! command -v strace >/dev/null || ! strace -qq -o "$scratch/trace" true; then
	echo "strace is needed"
	exit 77
fi
move_home
plans=$home/.local/state/berm/plans
chmod 755 "$scratch"
mkdir -p "$scratch/bin" "$home/.config/berm"
cp "$BERM" "$scratch/bin/berm" # one that no build replaces meanwhile
BERM=$scratch/bin/berm
echo secret >.env
echo plain >plain
echo other >other

# calls NAME [OPTION...]: how often the launcher made this system call in one run, after one that caches the plan.
calls() {
	local name=$1
	shift
	strace -qq -e "trace=$name" -o "$scratch/trace" "$BERM" run "$@" -- true 2>"$scratch/said" || return 1
	grep -c "^$name(" "$scratch/trace"
}

stored() {
	"$BERM" run "$@" -- true && "$BERM" plan --why-rebuilt "$@" >"$scratch/why"
}

expect "control: the plan can be cached" until_true stored
expect_equal "a cached plan: one sandbox" 1 "$(calls clone3)"
expect_status "a denied file" 1 "$BERM" run -- cat .env
expect_status "a file of the project" 0 "$BERM" run -- cat plain
expect_status "the command's own status" 7 "$BERM" run -- sh -c 'exit 7'
expect_status "a command that does not exist" 127 "$BERM" run -- ./nothing
printf 'echo "$1 in $0"; exit 5\n' >unnamed
chmod +x unnamed
expect_status "a script that names no interpreter" 5 "$BERM" run -- ./unnamed word
expect_equal "with its arguments" "word in ./unnamed" "$("$BERM" run -- ./unnamed word)"
expect_equal "all processors" "$(nproc)" "$("$BERM" run -- nproc)"

# No fd of the launcher is open inside: the command's standard streams and the directory that ls reads.
expect_equal "no fd too many" "0 1 2 3" "$("$BERM" run -- ls /proc/self/fd | tr '\n' ' ' | sed 's/ $//')"
# Pid 1 has its end of the channel, its signalfd and git's messages, and nothing else that the launcher had open at the fork.
"$BERM" run -- sh -c 'sleep 30 & echo ready; wait' >"$scratch/ready" 2>/dev/null &
launcher=$!
until_true grep -q ready "$scratch/ready" || fail "a command that waits" "$(cat "$scratch/ready")"
init=$(cut -d" " -f1 "/proc/$launcher/task/$launcher/children") # the watcher may be another
if [ "$(id -u)" -eq 0 ]; then
	# The guard has two directories of the sandbox's own procfs open, which is another file system than the host's.
	host=$(stat -c %d /proc)
	expect_equal "init has nothing of the host open" "" \
		"$(find "/proc/$init/fd" -type l -printf '%p %l\n' | grep -v ' socket:\| anon_inode:\| /dev/null$\| pipe:\|ready$' |
			while read -r link target; do
				[[ $target = /proc || $target = /proc/1/fd ]] && [ "$(stat -Lc %d "$link")" != "$host" ] || echo "$target"
			done)"
fi
kill "$launcher"
wait "$launcher" 2>/dev/null

# The plan is not valid any more: the sandbox made for it is ended, and the run obeys the new one.
expect_status "control: it is read" 0 "$BERM" run -- cat plain
printf 'version: 1\nfiles:\n  deny: [plain]\n' >"$home/.config/berm/berm.yml"
expect_equal "a changed policy: another one is made" 2 "$(calls clone3)"
expect_status "and obeyed" 1 "$BERM" run -- cat plain
printf 'version: 1\n' >"$home/.config/berm/berm.yml"
expect_status "in the very run" 0 "$BERM" run -- cat plain
printf 'version: 1\nfiles:\n  deny: [plain]\n' >"$home/.config/berm/berm.yml"
expect_status "both ways" 1 "$BERM" run -- cat plain
rm "$home/.config/berm/berm.yml"

# A damaged file is no plan.
expect "control: stored again" until_true stored
for file in "$plans"/??; do
	size=$(stat -c %s "$file")
	printf x | dd of="$file" bs=1 seek=$((size - 1)) conv=notrunc status=none
done
expect_equal "a damaged plan: one sandbox, from a new plan" 1 "$(calls clone3)"
expect_status "and stands" 1 "$BERM" run -- cat .env

# The command waits for the answer whether the plan holds, however long that takes: here the launcher's look at the policy is held up.
# slow MICROSECONDS COMMAND...
slow() {
	strace -qq -o "$scratch/trace" -P "$home/.config/berm/berm.yml" -e trace=%%stat -e "inject=%%stat:delay_enter=$1:when=1" "$BERM" run -- \
		"${@:2}"
}
printf 'version: 1\n' >"$home/.config/berm/berm.yml"
expect "control: stored once more" until_true stored
expect_status "control: a plan that holds is run" 0 slow 1000 sh -c 'echo ran >>runs; cat plain'
expect "control: the look is held up" grep -q berm.yml "$scratch/trace"
expect_equal "once" ran "$(cat runs)"
printf 'version: 1\nfiles:\n  deny: [plain]\n' >"$home/.config/berm/berm.yml"
rm runs
expect_status "one that does not is not" 1 slow 1000000 sh -c 'echo ran >>runs; cat plain'
expect_equal "nothing has run by it" ran "$(cat runs)"
expect "control: stored for the last time" until_true stored
rm runs
slow 60000000 sh -c 'echo ran >>runs; sleep 60' 2>/dev/null &
shell=$!
# child PID: the only one
child() {
	tr -d ' ' <"/proc/$1/task/$1/children" | grep .
}
# is_waiting: init has come to where nothing is left to do but to start the command; or, on a busy machine, to where it waits for files that the launcher would have
# given it before its look if it had asked in time.
is_waiting() {
	tracer=$(child "$shell") && launcher=$(child "$tracer") && init=$(child "$launcher") &&
		{ grep -q '^Seccomp:.*2$' "/proc/$init/status" || { [ "$SECONDS" -ge "$late" ] && grep -q '^State:.*sleeping' "/proc/$init/status"; }; }
}
late=$((SECONDS + 10))
is_gone() {
	! is_alive "$init"
}
expect "a sandbox that waits for the answer" until_true is_waiting
kill -KILL "$launcher"
kill -KILL "$tracer" # which holds it up in its death too
expect "ends with its launcher" until_true is_gone
wait "$shell" 2>/dev/null
expect "and has run nothing" test ! -e runs
rm "$home/.config/berm/berm.yml"

# A call that fails before init is forked refuses the run, and nothing of the attempt is left to a later one.
expect "control: cached for failures" until_true stored
for call in signalfd4 socketpair clone3; do
	expect_status "$call fails: refused" 125 strace -qq -o "$scratch/trace" -e trace="$call" -e "inject=$call:error=ENOMEM:when=1" \
		"$BERM" run -- cat plain
	expect "control: $call failed" grep -q INJECTED "$scratch/trace"
done
# Where the host refuses a namespace the lower tier is tried, from a cached plan as from a new one.
refused() {
	strace -qq -f -o "$scratch/trace" -e trace=unshare -e inject=unshare:error=EPERM "$BERM" run "$@" -- cat .env 2>&1
	echo "$?"
}
cached=$(refused)
expect "control: it was refused" grep -q INJECTED "$scratch/trace"
expect_equal "a refused namespace: the same words with a new plan" "$(refused --env=UNSEEN)" "$cached"

# A large plan.
{
	printf 'version: 1\nfiles:\n  deny:\n'
	seq -f '    - never/%.0f/of/this/name' 4000
	printf '    - plain\n  protect:\n'
	seq -f '    - never/%.0f/of/that/name' 2000
} >"$scratch/large.yml"
expect "control: a large plan is stored" until_true stored --policy="$scratch/large.yml"
expect_status "a large plan" 1 "$BERM" run --policy="$scratch/large.yml" -- cat plain
expect_status "and what it leaves" 0 "$BERM" run --policy="$scratch/large.yml" -- cat other
expect_equal "in one attempt" 1 "$(calls clone3 --policy="$scratch/large.yml")"

# Where files may not grow berm gets no SIGXFSZ.
expect_status "a limit on file sizes" 0 bash -c 'ulimit -f 512 && exec "$1" run -- cat plain' bash "$BERM"
expect_status "and on memory" 0 bash -c 'ulimit -v 40000 && exec "$1" run -- true' bash "$BERM"
finish
