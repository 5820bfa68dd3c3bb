#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A sandbox that is begun before its plan is read never runs anything by another plan than the one that holds. Each case shows how often a
# process was forked into namespaces: once where what was begun was used, twice where it was ended and another one made.
. "$(dirname "$0")/support/home.sh"
. "$(dirname "$0")/support/lib.sh"

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

# calls NAME [OPTION...]: how often the launcher made this system call in one run, after one that stores the plan.
calls() {
	local name=$1
	shift
	strace -qq -e "trace=$name" -o "$scratch/trace" "$BERM" run "$@" -- true 2>"$scratch/said" || return 1
	grep -c "^$name(" "$scratch/trace"
}

stored_once() {
	"$BERM" run "$@" -- true && "$BERM" plan --why-rebuilt "$@" >"$scratch/why"
}

# The first run with a stored plan says so to the next.
stored() {
	stored_once "$@" && "$BERM" run "$@" -- true
}

expect "control: the plan can be stored" until_true stored_once
rm -f "$plans"/.begin-* # a run that was made again because something had just changed may have said so already
expect_equal "no guess: not begun" 0 "$(calls memfd_create)"
expect "which the next run knows better" test -e "$plans"/.begin-*
expect_equal "begun before the plan is read" 1 "$(calls memfd_create)"
expect_equal "and used" 1 "$(calls clone3)"
expect_status "what is begun is the same wall" 1 "$BERM" run -- cat .env
expect_status "with the same project" 0 "$BERM" run -- cat plain
expect_status "the command's own status" 7 "$BERM" run -- sh -c 'exit 7'
expect_status "a command that is not there" 127 "$BERM" run -- ./nothing
printf 'echo "$1 in $0"; exit 5\n' >unnamed
chmod +x unnamed
expect_status "a script that names no interpreter" 5 "$BERM" run -- ./unnamed word
expect_equal "with its arguments" "word in ./unnamed" "$("$BERM" run -- ./unnamed word)"
expect_equal "all processors" "$(nproc)" "$("$BERM" run -- nproc)"

# Nothing of the launcher's is open inside: the command's own standard streams and the directory that ls reads.
expect_equal "no descriptor too many" "0 1 2 3" "$("$BERM" run -- ls /proc/self/fd | tr '\n' ' ' | sed 's/ $//')"
# pid 1 has its end of the channel, its signals and git's messages. What the launcher had open when init was forked it has not.
"$BERM" run -- sh -c 'sleep 30 & echo ready; wait' >"$scratch/ready" 2>/dev/null &
launcher=$!
until_true grep -q ready "$scratch/ready" || fail "a command that waits" "$(cat "$scratch/ready")"
init=$(cat "/proc/$launcher/task/$launcher/children")
if [ "$(id -u)" -eq 0 ]; then
	expect_equal "init has nothing of the host open" "" \
		"$(find "/proc/${init% }/fd" -type l -printf '%l\n' | grep -v '^socket:\|^anon_inode:\|^/dev/null$\|^pipe:\|ready$' || true)"
	expect_equal "what both had is read-only and private in init" "r--p" \
		"$(awk '/memfd:berm/ { print $2 }' "/proc/${init% }/maps")"
fi
kill "$launcher"
wait "$launcher" 2>/dev/null

# A wrong guess: there is no plan, or another one. What was begun is ended, and the next guess is better.
mv "$plans" "$scratch/plans"
mkdir -m 700 "$plans"
touch "$plans/$(basename "$scratch"/plans/.begin-*)"
expect_equal "guessed, and no plan is stored: another one is made" 2 "$(calls clone3)"
expect_status "with the same wall" 1 "$BERM" run -- cat .env
cat >"$scratch/all.yml" <<'END'
version: 1
network: all
END
expect "control: a plan that needs the host's network" until_true stored --policy="$scratch/all.yml"
for number in {0..255}; do
	: >"$plans/.begin-$(printf %02x "$number")"
done
expect_equal "guessed, and it is another kind: another one is made" 2 "$(calls clone3 --policy="$scratch/all.yml")"
expect_equal "once" 1 "$(calls clone3 --policy="$scratch/all.yml")"
expect_equal "with the network of the host" "$(readlink /proc/self/ns/net)" \
	"$("$BERM" run --policy="$scratch/all.yml" -- readlink /proc/self/ns/net)"
rm -f "$plans"/.begin-*
# Plans are stored in one place only.
expect "control: guessed" until_true stored
XDG_STATE_HOME=$scratch/elsewhere calls clone3 >/dev/null
expect_equal "guessed, and no plan can be stored: not again" 1 "$(XDG_STATE_HOME=$scratch/elsewhere calls clone3)"
expect "control: stored for what follows" until_true stored

# The plan does not hold any more: what was begun for it is ended, and the run obeys the new one.
expect_status "control: it is read" 0 "$BERM" run -- cat plain
printf 'version: 1\nfiles:\n  deny: [plain]\n' >"$home/.config/berm/berm.yml"
expect_equal "a changed policy: another one is made" 2 "$(calls clone3)"
expect_status "and obeyed" 1 "$BERM" run -- cat plain
printf 'version: 1\n' >"$home/.config/berm/berm.yml"
expect_status "in the very run" 0 "$BERM" run -- cat plain
printf 'version: 1\nfiles:\n  deny: [plain]\n' >"$home/.config/berm/berm.yml"
expect_status "both ways" 1 "$BERM" run -- cat plain
rm "$home/.config/berm/berm.yml"

# A file that is damaged behind its head is seen only once init is there.
expect "control: stored again" until_true stored
for file in "$plans"/??; do
	size=$(stat -c %s "$file")
	printf x | dd of="$file" bs=1 seek=$((size - 1)) conv=notrunc status=none
done
expect_equal "a damaged plan: another one is made" 2 "$(calls clone3)"
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

# What fails while it is begun is done again, and nothing of it is left to the command.
expect "control: stored for failures" until_true stored
look() {
	"$@" "$BERM" run -- sh -c 'grep "^Sig[BI]" /proc/self/status; ls /proc/self/fd; cat .env' 2>"$scratch/said"
}
usual=$(look)
for call in memfd_create ftruncate signalfd4 socketpair clone3; do
	expect_equal "$call fails: the caller's signals, no descriptor, the same wall" "$usual" \
		"$(look strace -qq -o "$scratch/trace" -e trace="$call" -e "inject=$call:error=ENOMEM:when=1")"
	expect "control: $call failed" grep -q INJECTED "$scratch/trace"
	expect "control: $call: the file is denied" grep -q 'Permission denied' "$scratch/said"
done

# Where the host refuses a namespace it is said as if nothing had been begun.
refused() {
	strace -qq -f -o "$scratch/trace" -e trace=unshare -e inject=unshare:error=EPERM "$BERM" run -- cat .env 2>&1
	echo "$?"
}
begun=$(refused)
expect "control: it was refused" grep -q INJECTED "$scratch/trace"
expect_equal "which the next run knows" "" "$(find "$plans" -name '.begin-*')"
expect_equal "a refused namespace: the same words" "$(refused)" "$begun"
expect_equal "and the one after" "" "$(find "$plans" -name '.begin-*')"
expect "control: stored and begun again" until_true stored

# Plans that need something else than the usual namespaces are never begun.
cat >"$scratch/memory.yml" <<'END'
version: 1
limits: {memory: 512M}
END
for kind in all memory; do
	expect "control: $kind is stored" until_true stored --policy="$scratch/$kind.yml"
	expect_equal "$kind: not begun" 0 "$(calls memfd_create --policy="$scratch/$kind.yml")"
	expect_equal "$kind: made once" 1 "$(calls clone3 --policy="$scratch/$kind.yml")"
done
# Not even if the stored file says so, in its head, behind magic, format, length, key and checksum.
for file in "$plans"/??; do
	printf '\1' | dd of="$file" bs=1 seek=88 conv=notrunc status=none
done
for kind in all memory; do
	"$BERM" run --policy="$scratch/$kind.yml" -- true
	expect_equal "$kind: begun in error, and made anew" 2 "$(calls clone3 --policy="$scratch/$kind.yml")"
done
expect_equal "with the network of the host" "$(readlink /proc/self/ns/net)" \
	"$("$BERM" run --policy="$scratch/all.yml" -- readlink /proc/self/ns/net)"

# A plan that the common memory is too small for.
{
	printf 'version: 1\nfiles:\n  deny:\n'
	seq -f '    - never/%.0f/of/this/name' 4000
	printf '    - plain\n  protect:\n'
	seq -f '    - never/%.0f/of/that/name' 2000
} >"$scratch/large.yml"
expect "control: a large plan is stored" until_true stored --policy="$scratch/large.yml"
expect_status "a large plan" 1 "$BERM" run --policy="$scratch/large.yml" -- cat plain
expect_status "and what it leaves" 0 "$BERM" run --policy="$scratch/large.yml" -- cat other
expect_equal "in two attempts" 2 "$(calls clone3 --policy="$scratch/large.yml")"

# Where files may not grow nobody is sent a signal for it.
expect_status "a limit on file sizes" 0 bash -c 'ulimit -f 512 && exec "$1" run -- cat plain' bash "$BERM"
expect_status "and on memory" 0 bash -c 'ulimit -v 40000 && exec "$1" run -- true' bash "$BERM"
finish
