#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The proxy under attack from inside: other ways out, addresses in all spellings, names that lead where they must not, requests that
# are two, hundreds of connections, other sandboxes' secrets; and its life and powers seen from outside.
. "$(dirname "$0")/../support/internet.sh"
. "$(dirname "$0")/../support/lib.sh"
trap 'rm -rf "$internet"; clean_up' EXIT
export PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3
[ -x "$python" ] || python=python3
cp "$support/proxy_probe.py" .
printf 'version: 1\nnetwork: {allow: ["*"], deny: [denied.test]}\n' >"$scratch/policy.yml"
chmod 600 "$scratch/policy.yml"

# probe NAME CASE...: the program's own expectations hold.
probe() {
	local name=$1
	shift
	run "$BERM" run "--policy=$scratch/policy.yml" -- "$python" proxy_probe.py "$@"
	expect_equal "$name" 0 "$status$([ "$status" = 0 ] || echo ": $out $err")"
}

# Services of this machine that must not be reached, and the control that they can be.
"$python" - "$scratch/host-arrivals" <<'END' &
import ctypes, socket, sys
ctypes.CDLL(None).prctl(1, 9)
server = socket.create_server(("::", 8088), family=socket.AF_INET6, dualstack_ipv6=True)
open(sys.argv[1], "w").close()
while True:
    connection, _ = server.accept()
    open(sys.argv[1], "a").write("x")
    connection.sendall(b"host service")
    connection.close()
END
until_true test -e "$scratch/host-arrivals"
talk='import socket, sys
c = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=30)
c.sendall(b"GET /hello HTTP/1.0\r\nHost: x\r\n\r\n")
print(len(c.recv(1)))'
for place in "11.22.33.44 80" "10.1.2.3 80" "169.254.169.254 80" "fd00:ec2::254 80" "127.0.0.1 8088" "::1 8088" "11.22.33.1 8088"; do
	# shellcheck disable=SC2086 # two words
	expect_output "control: $place is reached without berm" 1 "$python" -c "$talk" $place
done
seen=$(cat "$scratch/host-arrivals")
before=$(arrivals)
for place in "11.22.33.44 80" "2a00:1::44 80" "10.1.2.3 80" "169.254.169.254 80" "127.0.0.1 8088" "::1 8088" "11.22.33.1 8088"; do
	# shellcheck disable=SC2086 # two words
	run "$BERM" run "--policy=$scratch/policy.yml" -- "$python" -c "$talk" $place
	expect_equal "no way past the proxy to $place" 1 "$status"
done
run "$BERM" run "--policy=$scratch/policy.yml" -- "$python" -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"x", ("11.22.33.53", 53))'
expect_equal "no datagrams to the name server" 1 "$status"
probe "addresses that are not public" addresses
expect_equal "nothing arrived at the other end" "$before" "$(arrivals)"
expect_equal "nothing arrived at this machine" "$seen" "$(cat "$scratch/host-arrivals")"

# `network: all` reaches every destination, and `check` agrees.
printf 'version: 1\nnetwork: all\n' >"$scratch/all.yml"
chmod 600 "$scratch/all.yml"
for place in "11.22.33.44 80" "10.1.2.3 80" "169.254.169.254 80" "127.0.0.1 8088"; do
	# shellcheck disable=SC2086 # two words
	expect_output "network: all: $place is reached" 1 "$BERM" run "--policy=$scratch/all.yml" -- "$python" -c "$talk" $place
	expect_status "network: all: check says so of $place" 0 "$BERM" check "--policy=$scratch/all.yml" connect "${place/ /:}"
done
run "$BERM" plan "--policy=$scratch/all.yml"
expect_contains "network: all: plan says so" "metadata services" "$out"

probe "control: what is allowed" control
probe "the secret" secret
probe "names" names
: >"$internet/requests"
probe "requests that are two" smuggling
expect_equal "no second request arrived" "" "$(grep smuggled "$internet/requests")"
expect "control: first ones did" grep -q "allowed.test GET /hello" "$internet/requests"
probe "hundreds of connections" many
probe "descriptors" descriptors
probe "half-closed connections" half_close
probe "a connection that is dissolved and used again" unspec

# The policy is what it was when the run began.
printf 'version: 1\nnetwork: {allow: [allowed.test]}\n' >"$scratch/edited.yml"
chmod 600 "$scratch/edited.yml"
fetch_denied='curl -sS -o /dev/null -w "%{http_code}" http://denied.test/hello'
"$BERM" run "--policy=$scratch/edited.yml" -- sh -c "echo >runs; until [ -e edited ]; do sleep 0.05; done; $fetch_denied" >"$scratch/edited.out" 2>/dev/null &
until_true test -e runs
printf 'version: 1\nnetwork: {allow: [denied.test]}\n' >"$scratch/edited.yml"
: >edited
wait $!
expect_equal "a policy that is edited during the run opens nothing" 403 "$(cat "$scratch/edited.out")"
run "$BERM" run "--policy=$scratch/edited.yml" -- sh -c "$fetch_denied"
expect_equal "control: the next run has it" 200 "$out"

# A name that changes its address after the verdict: the next query gets the loopback, which is refused.
rebind() {
	"$BERM" run --allow-net=rebind.test -- curl -sS "http://rebind.test/hello"
}
expect_output "a name that is still public" hello rebind
run rebind
expect_contains "and then is not" "it resolves to a loopback address, which no rule names: 127.0.0.1" "$out"

# Another sandbox's secret opens nothing here, and an empty list nothing at all.
"$BERM" run --allow-net=allowed.test -- sh -c 'echo "$HTTP_PROXY" >first && sleep 300' &
first=$!
until_true test -s first
theirs=$(cat first)
run "$BERM" run --allow-net=registry.test -- curl -sS -o /dev/null -w '%{http_code}' --proxy "$theirs" http://allowed.test/hello
expect_equal "another sandbox's secret" 407 "$out"
run curl -sS --max-time 3 --proxy "$theirs" http://allowed.test/hello
expect_equal "the proxy does not listen on this machine" 7 "$status"
kill "$first"
wait "$first" 2>/dev/null
printf 'version: 1\nnetwork: {allow: []}\n' >"$scratch/empty.yml"
chmod 600 "$scratch/empty.yml"
run "$BERM" run "--policy=$scratch/empty.yml" -- curl -sS --max-time 3 http://allowed.test/
expect_equal "an empty list" yes "$([ "$status" -ne 0 ] && [ -z "$out" ] && echo yes)"

# The helper: a child of berm with no powers, gone with it. At the level launch there is no watcher, which is another one.
printf 'version: 1\nfiles: {guard: launch}\n' >"$scratch/launch.yml"
chmod 600 "$scratch/launch.yml"
"$BERM" run --policy="$scratch/launch.yml" --accept-weaker=secrets --accept-weaker=planting --allow-net=allowed.test -- sh -c 'echo >started; sleep 300' &
berm=$!
until_true test -e started
helper=$(pgrep -P "$berm" | while read -r pid; do
	[ "$(readlink "/proc/$pid/ns/pid")" = "$(readlink /proc/$$/ns/pid)" ] && echo "$pid"
	# As an ordinary user nothing of it can be read: it is not dumpable, and that is all there is to see.
	[ "$(id -u)" -eq 0 ] || [ -r "/proc/$pid/environ" ] || echo "$pid"
done | sort -u)
expect "there is a helper" test -n "$helper"
for pid in $helper; do
	status_of() {
		sed -n "s/^$1:[ \t]*//p" "/proc/$pid/status"
	}
	expect_equal "no capabilities" 0000000000000000 "$(status_of CapEff)"
	expect_equal "no_new_privs" 1 "$(status_of NoNewPrivs)"
	expect_equal "a filter" 2 "$(status_of Seccomp)"
	if [ "$(id -u)" -eq 0 ] && [ "$(readlink "/proc/$pid/ns/pid")" = "$(readlink /proc/$$/ns/pid)" ]; then
		expect_equal "nobody, not root" 65534 "$(status_of Uid | cut -f1)"
		expect_equal "no groups" "" "$(status_of Groups | tr -d ' ')"
	fi
done
everyone=$(pgrep -P "$berm")
kill -9 "$berm"
wait "$berm" 2>/dev/null
all_gone() {
	local pid
	for pid in $everyone; do
		! is_alive "$pid" || return 1
	done
}
expect "kill -9 of berm ends the helper too" until_true all_gone

# When a helper exits the network ends, and the run reports it at its end.
# Without the watcher of repair, which is a child of berm too.
printf 'version: 1\nfiles: {guard: launch}\n' >"$scratch/launch.yml"
"$BERM" run "--policy=$scratch/launch.yml" --allow-net=allowed.test -- sh -c 'echo >again; until [ -e dead ]; do sleep 0.05; done; curl -sS --max-time 30 http://allowed.test/hello; echo $?' \
	>"$scratch/dead.out" 2>"$scratch/dead.err" &
berm=$!
until_true test -e again
everyone=
for pid in $(pgrep -P "$berm"); do
	# Init is in another pid namespace and has another pid inside.
	[ "$(sed -n 's/^NSpid:[ \t]*//p' "/proc/$pid/status" | wc -w)" -gt "$(sed -n 's/^NSpid:[ \t]*//p' "/proc/$$/status" | wc -w)" ] || everyone="$everyone $pid"
done
# shellcheck disable=SC2086 # several
kill -9 $everyone
until_true all_gone
: >dead
wait "$berm"
expect_equal "without the proxy there is no connection" 7 "$(cat "$scratch/dead.out")"
expect_contains "which is said" "the network proxy of this run ended early" "$(cat "$scratch/dead.err")"

# The plan does not know the secret, and a usual run has no helper and no variables.
run "$BERM" plan --json --allow-net=allowed.test
expect_equal "no secret in the plan" "" "$(grep -o 'berm:[0-9a-f]\{32\}' <<<"$out")"
run "$BERM" run -- env
expect_equal "no proxy without destinations" "" "$(grep -i proxy <<<"$out")"
run "$BERM" run --allow-net=allowed.test --env=HTTP_PROXY=http://mine.example -- sh -c 'echo "$HTTP_PROXY"'
expect_equal "what the policy sets is kept" http://mine.example "$out"

finish
