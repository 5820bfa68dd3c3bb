#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The tier landlock: hosts that refuse namespaces, once by a limit of zero user namespaces and once by a system-call filter as containers have
# it. Each attack is made bare on such a host first, and then behind berm's wall; the host's state is looked at afterwards.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home # berm-sh ignores XDG_STATE_HOME

for tool in python3 cc git setpriv; do
	if ! command -v "$tool" >/dev/null; then
		echo "$tool is needed"
		exit 77
	fi
done
attacks=$support/tier_attacks.py
cc -O1 -o "$scratch/no-namespaces" "$support/no-namespaces.c" || exit 1
mkdir "$scratch/outside" "$scratch/host" "$scratch/lib"

# on HOST COMMAND...: on a host of this kind.
on() {
	local kind=$1
	shift
	case $kind in
	limit) unshare -U --map-current-user --keep-caps -- sh -c 'echo 0 >/proc/sys/user/max_user_namespaces || exit 99
		exec setpriv --ambient-caps=-all --inh-caps=-all -- "$@"' sh "$@" ;;
	filter) "$scratch/no-namespaces" "$@" ;;
	listener) "$scratch/no-namespaces" --listener "$@" ;;
	esac
}

# Each attack on files has its own file.
on_files=(read append truncate truncate-by-opening remove rename-away link-in chmod fchmod chmod-link chmod-relative chmod-at chown utime
	setxattr removexattr flags)

# prepare: what the attacks are about, as new.
prepare() {
	local name
	rm -rf "${scratch:?}/outside" linked-in renamed-in
	mkdir "$scratch/outside"
	for name in "${on_files[@]}" key; do
		echo "$name" >"$scratch/outside/$name"
	done
	chmod 600 "$scratch/outside/"*
	python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.berm", b"0")' "$scratch/outside/removexattr"
	rm -f "$scratch/host/heard"
}

state_outside() {
	(cd "$scratch/outside" && stat -c '%n %a %u %g %s %Y %Z %h' . -- * && cat -- *)
}

# list_attacks HOST: NAME=TARGET, one per line.
list_attacks() {
	local name
	for name in "${on_files[@]}" key; do
		echo "$name=$scratch/outside/$name"
	done
	echo "list=$scratch/outside" "create=$scratch/outside/new" "mkdir=$scratch/outside/newdir" "tcp=$host_tcp" "udp=$host_udp" \
		"abstract=$host_abstract" "unix=$host_unix" "shm=$host_shm"
	[ -z "$host_tcp6" ] || echo "tcp6=$host_tcp6"
	[ "$host_has_mq" = 0 ] || echo "mq=$host_mq"
	for name in signal signal-pidfd renice affinity ionice rlimit; do
		echo "$name=$host_pid"
	done
	# The first kind of host is in another user namespace and has no rights to these anyway.
	[ "$1" = limit ] || echo "environ=$host_pid" "mem=$host_pid" "ptrace=$host_pid"
}

# Prints berm's messages except for the first line of every run in this tier.
said() {
	grep -v '^berm: tier landlock, ' <<<"$err"
}

# let_it_hear: until the host has noted all that reached it.
let_it_hear() {
	rm -f "$scratch/host/all-heard"
	kill -USR2 "$host"
	expect "the host notes what reached it" until_true test -e "$scratch/host/all-heard"
}

# attack HOST: every attack works bare and is refused inside, and nothing outside has changed or heard anything.
attack() {
	local kind=$1 before
	local -a list
	read -r -d '' -a list < <(list_attacks "$kind")
	prepare
	run on "$kind" python3 "$attacks" "${list[@]}"
	expect_equal "$kind: the controls: all are there" "${#list[@]}" "$(echo "$out" | wc -l)"
	expect_equal "$kind: the controls: all work" "" "$(echo "$out" | grep -v ' worked$')$err"
	let_it_hear
	expect "$kind: the controls: the host hears" test -s "$scratch/host/heard"
	prepare
	before=$(state_outside)
	run on "$kind" "$BERM" run --allow-read="$attacks" -- python3 "$attacks" "${list[@]}"
	expect_equal "$kind: all are tried inside" "${#list[@]}" "$(echo "$out" | wc -l)"
	expect_equal "$kind: none works inside" "" "$(echo "$out" | grep -v ' refused: ')$(said)"
	expect_equal "$kind: nothing outside changes" "$before" "$(state_outside)"
	let_it_hear
	expect "$kind: the host hears nothing" test ! -e "$scratch/host/heard"
}

python3 "$support/tier_host.py" "$scratch/host" &
host=$!
trap 'kill $host; clean_up' EXIT
until_true test -e "$scratch/host/offer"
host_pid='' host_tcp='' host_tcp6='' host_udp='' host_abstract='' host_unix='' host_shm='' host_mq='' host_has_mq=''
# shellcheck source=/dev/null
. "$scratch/host/offer"

# has_left WORD: the command and two of those that left it run.
has_left() {
	[ "$(with_word "$1" | wc -l)" -ge 5 ]
}

has_nothing() {
	[ -z "$(with_word "$1")" ]
}

# kill_all WORD: true when no such process is left.
kill_all() {
	with_word "$1" | xargs -r kill -KILL 2>/dev/null
	has_nothing "$1"
}

berms_with() {
	local pid
	for pid in $(with_word "$1" | sort -n); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$(basename "$BERM")" ] || echo "$pid"
	done
}

tier_of() {
	on "$1" "$BERM" plan --json | python3 -c 'import json, sys
plan = json.load(sys.stdin)
print(plan["tier"], *(g["name"] + "=" + g["level"] for g in plan["guarantees"] if g["name"] != "limits"))'
}

expect_contains "here the tier is the full one" '"tier": "full"' "$("$BERM" plan --json)"

for kind in limit filter; do
	expect_status "$kind: no namespaces: the control" 1 on "$kind" unshare -U true
	expect_equal "$kind: what holds" "landlock writes=enforced secrets=launch planting=launch network=enforced processes=partial \
ipc=enforced environment=enforced kernel=enforced integrity=enforced audit=partial" "$(tier_of "$kind")"
	# The policy's requirements hold, but some levels are lower than in the full tier: every run reports that in one line.
	expect_status "$kind: the full tier: the control" 0 "$BERM" run -- true
	expect_equal "$kind: the full tier says nothing" "" "$err"
	expect_status "$kind: the tier is taken" 0 on "$kind" "$BERM" run -- true
	expect_equal "$kind: and said" 1 "$(grep -c '^berm: tier landlock, .*processes partial.*berm doctor' <<<"$err")"
	expect_equal "$kind: in one line" "" "$(said)"
	expect_status "$kind: BERM in the environment changes nothing: still a wall" 2 on "$kind" env BERM=1 "$BERM" run -- ls "$scratch"

	attack "$kind"
	expect "$kind: the host's process is alive" is_alive "$host"
	run on "$kind" "$BERM" run -- sh -c 'kill -KILL -1; echo alive'
	expect "$kind: kill -1 does not leave the sandbox" is_alive "$host"

	# A denied file in a read-only tree is left out of the granted rules, so no weaker level has to be accepted.
	echo open >"$scratch/lib/open" && echo hidden >"$scratch/lib/x.pem" && mkdir -p "$scratch/lib/deep" && echo deep >"$scratch/lib/deep/y"
	run on "$kind" "$BERM" run --allow-read="$scratch/lib" -- cat "$scratch/lib/open" "$scratch/lib/deep/y" "$scratch/lib/x.pem"
	expect_equal "$kind: denied names in what is readable" "1 open deep" "$status $(echo "$out" | tr '\n' ' ' | sed 's/ $//')"

	# In a writable tree the run is refused, with the names, the reason and the remedy; an accepted weaker level is reported.
	echo SECRET=1 >.env
	expect_status "$kind: a denied name in the project" 125 on "$kind" "$BERM" run -- true
	expect_contains "$kind: its name" .env "$err"
	expect_contains "$kind: the way out" --accept-weaker=secrets "$err"
	expect_contains "$kind: why this tier" "in the tier without namespaces, because: " "$err"
	expect_status "$kind: check says the same" 1 on "$kind" "$BERM" check read .env
	expect_status "$kind: accepted weaker" 0 on "$kind" "$BERM" run --accept-weaker=secrets -- cat .env
	expect_contains "$kind: said every time" "weaker, as accepted: secrets is partial" "$err"
	expect_status "$kind: check says the same then" 0 on "$kind" "$BERM" check --accept-weaker=secrets read .env
	rm .env
	git init -q .
	expect_status "$kind: a repository" 125 on "$kind" "$BERM" run -- true
	expect_contains "$kind: what could be planted" .git/hooks "$err"
	expect_contains "$kind: that way out" --accept-weaker=planting "$err"
	echo "version: 1" >berm.yml
	expect_status "$kind: a policy in the project" 125 on "$kind" "$BERM" run --accept-weaker=planting -- true
	expect_contains "$kind: which guarantee that is about" integrity "$err"
	rm berm.yml

	# berm-sh started inside runs the shell directly; outside no environment variable makes it do so.
	expect_status "$kind: berm-sh inside" 0 on "$kind" "$BERM" run --accept-weaker=planting --allow-read="$BERM" --allow-read="$BERM-sh" -- \
		"$BERM-sh" -c 'cat /etc/passwd >/dev/null && echo inside'
	expect_equal "$kind: berm-sh inside runs" inside "$out"
	rm -rf .git
	expect_status "$kind: berm-sh bare makes a wall" 1 on "$kind" env BERM=1 BERM_SUMMARY=/etc/passwd "$BERM-sh" -c "cat $scratch/outside/key"
	expect_status "$kind: berm-sh bare: the control" 0 on "$kind" cat "$scratch/outside/key"
	git init -q .

	# Everyday work.
	cat >work.sh <<-'END'
		set -e
		test "$HOME" != "$1" && echo x >"$HOME/x" && cd . && mktemp >/dev/null
		printf 'int main(void){return 0;}\n' >m.c
		printf 'm: m.c\n\tcc -o m m.c\n' >Makefile
		make -s && ./m && install -m 750 m m2 && test "$(stat -c %a m2)" = 750 && touch -d 2020-01-01 m2 && cp -p m2 m3
		test "$(stat -c %Y m3)" = "$(stat -c %Y m2)"
		git add m.c && git -c user.name=a -c user.email=b commit -qm x && test -z "$(git status --short -uno)"
		tar cf a.tar m2 && mkdir t && tar xpf a.tar -C t && echo <(true) >/dev/null && echo ok >&2
	END
	expect_status "$kind: git, make, cc, install, tar" 0 on "$kind" "$BERM" run --accept-weaker=planting -- bash work.sh "$HOME"
	rm -rf .git work.sh m m2 m3 m.c a.tar t Makefile
	expect_status "$kind: exit status" 7 on "$kind" "$BERM" run -- sh -c 'exit 7'
	expect_status "$kind: a signal" 143 on "$kind" "$BERM" run -- sh -c 'kill -TERM $$'
	expect_status "$kind: not found" 127 on "$kind" "$BERM" run -- no-such-command
	printf 'version: 1\nhome: empty\n' >"$scratch/empty.yml"
	printf 'version: 1\nlimits: {time: 500ms}\n' >"$scratch/time.yml"
	expect_status "$kind: home: empty" 125 on "$kind" "$BERM" run --policy="$scratch/empty.yml" -- true
	expect_contains "$kind: home: empty is refused in words" "needs a mount of its own" "$err"

	# Nothing survives, however it left: session, double fork, a chain of processes that each live for a moment.
	word=left-$kind-$$
	leaver="import os, sys, time
for i in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        if i < 2: time.sleep(300)
        end = time.time() + 20
        while time.time() < end:
            if os.fork(): os._exit(0)
        os._exit(0)
"
	python3 -c 'import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(300)
' "$word"
	expect "$kind: survivors: the control" test -n "$(with_word "$word")"
	until_true kill_all "$word"
	expect_status "$kind: leaving" 0 on "$kind" "$BERM" run -- python3 -c "$leaver" "$word"
	expect_equal "$kind: nothing survives the command" "" "$(with_word "$word")"
	expect_status "$kind: the time limit" 124 on "$kind" "$BERM" run --policy="$scratch/time.yml" -- \
		python3 -c "$leaver"'time.sleep(60)' "$word"
	expect_equal "$kind: nothing survives the time limit" "" "$(with_word "$word")"
	for victim in launcher init; do
		on "$kind" "$BERM" run -- python3 -c "$leaver"'time.sleep(60)' "$word" 2>/dev/null &
		starter=$!
		until_true has_left "$word"
		# Two processes of the word are berm: the launcher, and init below it.
		mapfile -t berms < <(berms_with "$word")
		if [ "$victim" = launcher ]; then
			kill -KILL "${berms[0]}"
		else
			kill -KILL "${berms[1]}"
		fi
		wait "$starter" 2>/dev/null
		until_true has_nothing "$word"
		expect_equal "$kind: nothing survives a killed $victim" "" "$(with_word "$word")"
	done
done

# A supervisor around berm owns the only seccomp listener: metadata calls cannot be checked, which is refused or, if accepted, reported.
expect_status "no listener" 125 on listener "$BERM" run -- true
expect_contains "no listener: which guarantee" '`writes`' "$err"
expect_status "no listener, accepted" 0 on listener "$BERM" run --accept-weaker=writes -- chmod 700 .
finish
