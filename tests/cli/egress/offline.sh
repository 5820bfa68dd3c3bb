#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A command that uses the network where the policy has none gets its own error at once. berm reports the reason and the remedy, once
# and only in that case.
. "$(dirname "$0")/../support/lib.sh"
python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3) || { echo "python3 is needed"; exit 77; }

reasons() {
	grep -c '^berm: .*tried to use the network' "$scratch/err" || true
}
# reported NAME COUNT COMMAND...
reported() {
	local name=$1 wanted=$2
	shift 2
	run "$@"
	expect_equal "$name" "$wanted" "$(reasons)"
}
resolve="import socket; socket.getaddrinfo('berm-test.example.org', 443)"
connect="import socket; socket.create_connection(('192.0.2.1', 443))"
reported "a name" 1 "$BERM" run -- "$python" -c "$resolve"
expect_contains "with the way out" "--allow-net=HOST:443" "$err"
expect_equal "and the command's own status" 1 "$status"
reported "an address" 1 "$BERM" run -- "$python" -c "$connect"
reported "many times is once" 1 "$BERM" run -- sh -c "for i in 1 2 3; do '$python' -c \"$resolve\"; done; exit 9"
expect_equal "the status" 9 "$status"
reported "through berm -c" 1 "$BERM" -c "'$python' -c \"$connect\""
reported "what goes well in the end needs no reason" 0 "$BERM" run -- sh -c "'$python' -c \"$connect\" 2>/dev/null; true"
reported "a failure of another kind" 0 "$BERM" run -- false
reported "a service of its own loopback that is not there" 0 "$BERM" run -- "$python" -c "import socket; socket.create_connection(('127.0.0.1', 443))"
expect_equal "the control: it failed" 1 "$status"
reported "its own name" 0 "$BERM" run -- "$python" -c "import socket; socket.getaddrinfo('localhost', 443); raise SystemExit(1)"
reported "where destinations are allowed the refused ones are reported instead" 0 "$BERM" run --allow-net=other.example.org:443 -- "$python" -c "$connect"

# Installers retry for minutes unless the error is final.
expect_equal "retries" "0 0 0" "$("$BERM" run -- sh -c 'echo $npm_config_fetch_retries $PIP_RETRIES $CARGO_NET_RETRY')"
expect_equal "no look for newer versions" "false 1" "$("$BERM" run -- sh -c 'echo $npm_config_update_notifier $PIP_DISABLE_PIP_VERSION_CHECK')"
expect_equal "a policy that sets them wins" 3 "$("$BERM" run --env=PIP_RETRIES=3 -- printenv PIP_RETRIES)"
expect_equal "not where there is a network" "" "$("$BERM" run --allow-net=other.example.org:443 -- sh -c 'echo $npm_config_fetch_retries$PIP_RETRIES$CARGO_NET_RETRY')"
if command -v npm >/dev/null; then
	install=(npm view nothing --registry=https://berm-test.example.org/ --loglevel=http --fetch-retry-mintimeout=1 --fetch-retry-maxtimeout=2)
	run timeout 60 "$BERM" run -- "${install[@]}"
	expect_equal "npm does not try again" 0 "$(grep -c 'attempt 2' "$scratch/err")"
	expect_equal "npm: the reason" 1 "$(reasons)"
	run timeout 60 "$BERM" run --env=npm_config_fetch_retries=1 -- "${install[@]}"
	expect_equal "the control: by itself it does" 1 "$(grep -c 'attempt 2' "$scratch/err")"
fi

finish
