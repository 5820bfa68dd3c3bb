# SPDX-License-Identifier: Apache-2.0
#
# codex_trust.py CODEX PROJECT: asks `codex app-server` for its hooks and prints the key and the present
# hash of berm's, as /hooks would record them.
import json
import subprocess
import sys

codex, project = sys.argv[1:3]
server = subprocess.Popen([codex, "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, cwd=project)


def call(number, method, params):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            return message
    raise SystemExit("codex app-server ended")


call(1, "initialize", {"clientInfo": {"name": "berm-test", "version": "1"}})
server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "initialized"}) + "\n")
answer = call(2, "hooks/list", {"cwds": [project]})
server.kill()


def find(value):
    """The object with the hash of berm's hook, wherever this version puts it."""
    if isinstance(value, dict):
        if "currentHash" in value and "hook-rewrite" in value["command"]:
            return value
        value = list(value.values())
    for item in value if isinstance(value, list) else []:
        if found := find(item):
            return found
    return None


hook = find(answer)
if not hook:
    raise SystemExit(f"no hook in {json.dumps(answer)[:500]}")
print(hook.get("key") or hook.get("id"), hook["currentHash"])
