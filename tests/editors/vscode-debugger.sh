#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What docs/hosts/vscode.md says of the debug adapter, which runs outside and reads what a program
# inside tells it: a source map at an address that the sandbox does not reach is fetched if the user's
# settings allow maps from anywhere, and not with the defaults.
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/editors.sh"
need_vscode
make_home
make_settings
cat >"$scratch/listen.py" <<'END'
import http.server, sys

class Listener(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(sys.argv[2], "a") as log:
            log.write(self.path + "\n")
        self.send_error(404)

    def log_message(self, *words):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Listener)
with open(sys.argv[1], "w") as out:
    out.write(str(server.server_port))
server.serve_forever()
END
python3 "$scratch/listen.py" "$scratch/port" "$scratch/asked" &
listener=$!
trap '[ "$BASHPID" != "$$" ] || { kill "$listener"; leave_editor; }' EXIT
until_true test -s "$scratch/port" || exit 1
address=http://127.0.0.1:$(cat "$scratch/port")
printf 'exports.x = 1\n//# sourceMappingURL=%s/map?with=what-it-knows\n' "$address" >"$project/mapped.js"
printf 'require("./mapped.js")\n%s' "$(cat "$project/look.js")" >"$project/leak.js"
cat >"$project/reach.sh" <<END
curl -s --max-time 3 $address/direct
sh look.sh reach
END
steps='{"steps": [
	{"name": "reach", "kind": "click", "command": "sh reach.sh"},
	{"name": "leak", "kind": "debug", "program": "leak.js", "line": 7, "command": "node leak.js leak"}
]}'
run "$BERM" setup vscode --file="$HOME/$user_settings" --write
expect_equal "setup" 0 "$status"
user_policy "files: {read: [$installed]}"
: >"$scratch/asked"
run "$BERM" setup vscode --debugger --write
expect_equal "setup of the debugger" 0 "$status"
round='with the defaults'
play_steps debugger-defaults "$steps"
expect_where inside reach leak
expect_equal "with the defaults: it attaches" attached "$(answer leak)"
expect_equal "with the defaults: nothing is sent" "" "$(cat "$scratch/asked")"
sed -i '0,/{/s##{\n"debug.javascript.terminalOptions": {"resolveSourceMapLocations": null},#' "$HOME/$user_settings"
round='maps from anywhere'
play_steps debugger-on "$steps"
expect_where inside reach leak
expect_equal "maps from anywhere: it attaches" attached "$(answer leak)"
expect_equal "maps from anywhere: the adapter asks where the program says" "/map?with=what-it-knows" "$(sort -u "$scratch/asked")"
finish
