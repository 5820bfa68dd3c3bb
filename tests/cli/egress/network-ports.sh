#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# network.local and network.publish: named ports, and no others.
. "$(dirname "$0")/../support/internet.sh"
. "$(dirname "$0")/../support/lib.sh"
trap 'rm -rf "$internet"; clean_up' EXIT
python=/usr/bin/python3
[ -x "$python" ] || python=python3
export PYTHONDONTWRITEBYTECODE=1

# policy NAME NETWORK: writes a policy and sets $policy.
policy() {
	printf 'version: 1\nnetwork: %s\n' "$2" >"$scratch/$1.yml"
	chmod 600 "$scratch/$1.yml"
	policy=--policy=$scratch/$1.yml
}

cat >serve.py <<'END'
import ctypes, http.server, socket, sys
if sys.argv[1] == "host":
    ctypes.CDLL(None).prctl(1, 9)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(sys.argv[4].encode())
    def log_message(self, *_):
        pass
class Server(http.server.HTTPServer):
    address_family = socket.AF_INET6 if ":" in sys.argv[2] else socket.AF_INET
Server((sys.argv[2], int(sys.argv[3])), Handler).serve_forever()
END
for each in "127.0.0.1 8088 four" "::1 8089 six" "127.0.0.1 8090 other"; do
	# shellcheck disable=SC2086 # three words
	"$python" serve.py host $each &
done
fetch() {
	curl -sS --max-time 5 "http://$1/"
}
for port in 8088 8090; do
	until_true fetch "127.0.0.1:$port" >/dev/null
done
until_true fetch '[::1]:8089' >/dev/null

policy local '{local: [8088-8089, 8091], deny: ["localhost:8091"]}'
expect_output "control: the port that is not named answers here" other fetch 127.0.0.1:8090
expect_output "a local port" four "$BERM" run "$policy" -- curl -sS http://127.0.0.1:8088/
expect_output "by its name" four "$BERM" run "$policy" -- curl -sS http://localhost:8088/
expect_output "by the other loopback" four "$BERM" run "$policy" -- curl -sS 'http://[::1]:8088/'
expect_output "a service on ::1 only" six "$BERM" run "$policy" -- curl -sS http://127.0.0.1:8089/
expect_status "no other port" 7 "$BERM" run "$policy" -- curl -sS --max-time 3 http://127.0.0.1:8090/
expect_status "deny wins" 7 "$BERM" run "$policy" -- curl -sS --max-time 3 http://127.0.0.1:8091/
expect_status "nothing without a rule" 7 "$BERM" run -- curl -sS --max-time 3 http://127.0.0.1:8088/
expect_status "check says the same: yes" 0 "$BERM" check "$policy" connect 127.0.0.1:8088
expect_status "check says the same: no" 1 "$BERM" check "$policy" connect 127.0.0.1:8090
policy both '{allow: [allowed.test], local: [8088, 23128]}'
expect_output "with destinations, and the proxy's usual port taken" "four hello" "$BERM" run "$policy" -- sh -c \
	'echo "$(curl -sS http://127.0.0.1:8088/) $(curl -sS http://allowed.test/hello)"'
policy many '{local: [8000-8100]}'
expect_status "too many ports" 125 "$BERM" run "$policy" -- true
expect_contains "in words" "more ports than" "$err"

policy publish '{publish: [3000, "127.0.0.1:3081:81", "[::1]:3082:3000"]}'
"$BERM" run "$policy" -- sh -c "$python serve.py inside 127.0.0.1 3000 inside & $python serve.py inside ::1 3083 x; wait" &
berm=$!
expect_equal "a published port" inside "$(until_true fetch 127.0.0.1:3000)"
expect_equal "by the loopback that was written" inside "$(fetch '[::1]:3082')"
run fetch 11.22.33.1:3000
expect_equal "on the loopback only" 7 "$status"
run fetch 127.0.0.1:3083
expect_equal "no other port" 7 "$status"
run "$BERM" run "$policy" -- true
expect_equal "a port of another run of the project refuses nothing" 0 "$status"
expect_contains "and says so" "127.0.0.1:3000 leads to another run of this project" "$err"
mkdir "$scratch/other"
run sh -c "cd '$scratch/other' && '$BERM' run '$policy' -- true"
expect_equal "a port that is taken refuses the run" 125 "$status"
expect_contains "and says which" "cannot publish port 3000 on 127.0.0.1:3000" "$err"
everyone=$(pgrep -P "$berm")
kill -9 "$berm"
wait "$berm" 2>/dev/null
all_gone() {
	local pid
	for pid in $everyone; do
		! is_alive "$pid" || return 1
	done
}
expect "kill -9 of berm ends the helpers" until_true all_gone
run fetch 127.0.0.1:3000
expect_equal "and the port is free again" 7 "$status"
expect_output "what it opens is opened again" ok "$BERM" run "$policy" -- echo ok

finish
