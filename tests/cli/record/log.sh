#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The record of runs: its events, how they are shown, that secrets are not in it, and that no command reaches it.
. "$(dirname "$0")/../support/lib.sh"
log=$XDG_STATE_HOME/berm/log
mkdir -p "$XDG_CONFIG_HOME/berm"
last() { find "$log" -name "*.ndjson" | sort | tail -n 1; }
field() { python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).read().splitlines()[int(sys.argv[2])])[sys.argv[3]])' "$@"; }

# One run of each kind of event.
echo secret >.env
expect_status "a run that fails" 3 "$BERM" run -- sh -c 'exit 3'
expect_contains "a hidden file is named" "is hidden (.env): berm why" "$err"
expect_equal "in one line" 1 "$(wc -l <"$scratch/err")"
run "$BERM" why
expect_contains "why: the file" ".env: files.deny: .env (built-in default:" "$out"
expect_contains "why: what would show it" 'files: {except: [".env"]}' "$out"
expect_output "a run that succeeds says nothing" "" "$BERM" run -- true
rm .env
expect_status "without a hidden file" 3 "$BERM" run -- sh -c 'exit 3'
expect_equal "nothing is said" "" "$err"
run "$BERM" why
expect_contains "why: nothing" "nothing was refused or hidden" "$out"
expect_status "a signal" 137 "$BERM" run -- sh -c 'kill -KILL $$'
expect_equal "its number" 9 "$(field "$(last)" -1 signal)"
run "$BERM" run -- sh -c 'mkdir .vscode'
run "$BERM" why
expect_contains "why: a creation" ".vscode: not created: obeyed by" "$out"
expect_contains "why: what would allow it" "--allow-write=.vscode" "$out"
printf 'version: 1\nlimits: {time: 300ms}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
expect_status "a limit" 124 "$BERM" run -- sleep 60
expect_contains "the limit is in the record" '"event":"limit","prev":' "$(cat "$(last)")"
run "$BERM" log
expect_contains "log: the limit" "time limit of 300ms reached" "$out"
printf 'version: 1\nfiles: {guard: repair}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
run "$BERM" run -- sh -c 'echo x >m; mv m .mcp.json'
expect_contains "a plant is in the record" .mcp.json "$(cat "$(last)")"
run "$BERM" log
expect_contains "log: the way back" "quarantine" "$out"
rm "$XDG_CONFIG_HOME/berm/berm.yml"

# Network decisions, on loopback only.
python3 -u -m http.server --bind 127.0.0.1 0 >"$scratch/server" 2>&1 &
server=$!
until_true grep -q 'port [0-9]' "$scratch/server"
port=$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$scratch/server" | head -n 1)
ask='import os, socket, sys
p = os.environ["HTTPS_PROXY"].rsplit("@", 1)
host, port = p[1].strip("/").split(":")
import base64
auth = base64.b64encode(p[0].split("://")[1].encode()).decode()
for target in sys.argv[1:]:
    s = socket.create_connection((host, int(port)))
    s.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\nProxy-Authorization: Basic {auth}\r\n\r\n".encode())
    print(s.recv(100).split()[1].decode())
'
run "$BERM" run --allow-net="127.0.0.1:$port" -- python3 -c "$ask" "127.0.0.1:$port" "127.0.0.1:$port" refused.test:443
expect_equal "control: the proxy's own answers" "200,200,403" "${out//$'\n'/,}"
expect_contains "an allowed destination" '"decision":"allowed","host":"127.0.0.1","port":'"$port"',"count":2' "$(cat "$(last)")"
expect_contains "a refused destination" '"decision":"refused","host":"refused.test","port":443,"count":1' "$(cat "$(last)")"
kill "$server"
run "$BERM" log
expect_contains "log: what would allow it" "--allow-net=refused.test:443" "$out"

# Lists.
runs=$(find "$log" -name "*.ndjson" | wc -l)
expect_equal "list: every run" "$runs" "$("$BERM" log list | wc -l)"
expect_equal "list: as JSON" "$runs" "$("$BERM" log list --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')"
expect_equal "list: the newest first" "$(basename "$(last)" .ndjson)" \
	"$("$BERM" log list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["run"])')"
expect_equal "list --host" 1 "$("$BERM" log list --host=refused.test | wc -l)"
expect_equal "list --host: no other name" 0 "$("$BERM" log list --host=used.test | wc -l)"
expect_equal "list --denied" 4 "$("$BERM" log list --denied | wc -l)"
expect_equal "list --project: this one" "$runs" "$("$BERM" log list --project=. | wc -l)"
expect_equal "list --project: another one" 0 "$("$BERM" log list --project="$scratch/config" | wc -l)"
expect_equal "list --since" "$runs" "$("$BERM" log list --since=1h | wc -l)"
expect_status "list --since: no duration" 125 "$BERM" log list --since=yesterday
id=$(basename "$(last)" .ndjson)
expect_contains "show: by the end of an id" "Run $id" "$("$BERM" log show "${id: -8}")"
expect_equal "show --json: the lines" "$(wc -l <"$(last)")" \
	"$("$BERM" log show "$id" --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')"
expect_status "show: an unknown run" 125 "$BERM" log show 00000000
expect_status "show: a path is no run" 125 "$BERM" log show ../../x
expect_contains "tail" "ended    exit" "$("$BERM" log tail)"
expect_status "a verb that is unknown" 125 "$BERM" log lst
timeout 60 "$BERM" log tail -f >"$scratch/tail" &
follower=$!
until_true test -s "$scratch/tail"
"$BERM" run -- sh -c 'exit 42'
expect "tail -f: a later run" until_true grep -q 'ended    exit 42' "$scratch/tail"
kill "$follower"

# Exports.
expect_equal "export: the lines" "$(cat "$log"/*/*.ndjson | sort | sha256sum)" "$("$BERM" log export | sort | sha256sum)"
expect_equal "export: CSV" "$(cat "$log"/*/*.ndjson | wc -l)" \
	"$("$BERM" log export --format=csv | python3 -c 'import csv, sys; print(len([r for r in csv.reader(sys.stdin) if len(r) == 8]) - 1)')"
expect_equal "export: OTLP" "$(cat "$log"/*/*.ndjson | wc -l)" "$("$BERM" log export --format=otlp-json | python3 -c '
import json, sys
records = json.load(sys.stdin)["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
assert all(len(r["traceId"]) == 32 and r["timeUnixNano"].isdigit() and r["eventName"].startswith("berm.") for r in records)
print(len(records))')"
expect_equal "export: OCSF" "$(cat "$log"/*/*.ndjson | wc -l)" "$("$BERM" log export --format=ocsf | python3 -c '
import json, sys
needed = {1007: {"process", "actor", "device"}, 4001: set(), 1001: {"file", "actor", "device"}, 2004: {"finding_info"}}
events = [json.loads(line) for line in sys.stdin]
for e in events:
    assert {"activity_id", "category_uid", "class_uid", "metadata", "severity_id", "time", "type_uid"} <= set(e), e
    assert e["type_uid"] == e["class_uid"] * 100 + e["activity_id"] and e["category_uid"] == e["class_uid"] // 1000, e
    assert needed[e["class_uid"]] <= set(e) and {"product", "version"} <= set(e["metadata"]), e
print(len(events))')"
expect_status "export: an unknown format" 125 "$BERM" log export --format=xml

# Hostile bytes, and secrets, which are in no record.
export API_TOKEN=hidden-value-0123456789
run "$BERM" run -- sh -c 'exit 1' $'\033[2J\033]0;x\a' $'a\nb' $'\xff\xfe' $'\u2028\u202e' '<script>alert(1)</script>' '"><img src=x onerror=alert(1)>' \
	--password secret-in-argv "https://ann:secret-in-url@h.test/" 'Authorization: Bearer secret-in-header' "x $API_TOKEN" '=cmd|calc'
expect "every file is readable as text" python3 -c 'import sys; open(sys.argv[1], encoding="utf-8").read()' "$(last)"
python record.py without "$log" secret-in-argv secret-in-url secret-in-header hidden-value-0123456789
for words in "log" "log list -v" "log tail" "why" "log export --format=csv"; do
	# shellcheck disable=SC2086 # words
	run "$BERM" $words
	expect_equal "$words: the terminal obeys nothing" 0 "$(grep -c "$(printf '\033\|\a\|\342\200\250\|\342\200\256')" "$scratch/out")"
done
expect_contains "log: the name is there" '\x1b[2J' "$("$BERM" log)"
ln -s "$scratch/victim" report.html
expect_status "report" 0 "$BERM" log report -o report.html
expect "report: a symlink is replaced, not followed" test ! -e "$scratch/victim" -a -f report.html -a ! -L report.html
expect_equal "report: private" 600 "$(stat -c %a report.html)"
python record.py page report.html '<script>alert(1)</script>' '"><img src=x onerror=alert(1)>' '[redacted]' "exit 1" writes planting
expect_equal "report: as output" "$(cat report.html | sha256sum)" "$("$BERM" log report | sha256sum)"

# Every line of all these runs fits the schema, and the chain is that of another implementation.
"$BERM" policies --schema=log >"$scratch/schema.json"
python record.py lines "$scratch/schema.json" "$log"
python record.py chain "$log"
expect_status "verify" 0 "$BERM" log verify
expect_contains "verify: what it does not prove" "does not prove" "$out"
expect_equal "verify as JSON" True "$("$BERM" log verify --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["valid"])')"

# Inside there is no log, whatever is granted.
expect "control: outside it can be read" test -r "$log/HEAD"
# shellcheck disable=SC2016 # for the inner shell
inside='test ! -e "$1" && ! cat "$1/HEAD" && ! ls "$1" && ! touch "$1/x" && echo absent'
run "$BERM" run -- sh -c "$inside" sh "$log"
expect_equal "inside: absent" absent "$out"
run "$BERM" run --allow-read="$scratch" -- sh -c 'cat "$1/HEAD" || echo refused' sh "$log"
expect_equal "inside: with a grant above it" refused "$out"
run "$BERM" run -- sh -c 'ls -l /proc/*/fd 2>/dev/null | grep -c ndjson'
expect_equal "inside: no descriptor leads to it" 0 "$out"
expect_status "inside: berm log has nothing" 125 "$BERM" run --allow-read="${BERM%/*}" -- "$BERM" log
finish
