# SPDX-License-Identifier: Apache-2.0
#
# hooks.py HOST BERM PROJECT SECRET ELSEWHERE: one agent's hook, end to end.
import json
import os
import random
import shlex
import shutil
import subprocess
import sys

host, berm, project, secret, elsewhere = sys.argv[1:6]
failures = 0
held = 0


def expect(name, condition, detail=""):
    global failures, held
    if condition:
        held += 1
        return
    failures += 1
    print(f"FAIL {host}: {name} {str(detail)[:600]}")


def call(command, cwd=project):
    """What the host sends before it runs a shell command."""
    base = {"session_id": "11111111-2222", "transcript_path": "/nonexistent/t.jsonl", "cwd": cwd}
    if host == "codex":
        return base | {"hook_event_name": "PreToolUse", "model": "m", "permission_mode": "default", "tool_name": "Bash",
                       "tool_input": {"command": command}, "tool_use_id": "call_1", "turn_id": "t1"}
    if host == "gemini":
        return base | {"hook_event_name": "BeforeTool", "timestamp": "2026-01-01T00:00:00.000Z",
                       "tool_name": "run_shell_command",
                       "tool_input": {"command": command, "description": "d", "is_background": False}}
    return {"conversation_id": "c", "generation_id": "g", "model": "m", "hook_event_name": "preToolUse",
            "cursor_version": "2.4.0", "workspace_roots": [project], "user_email": None, "transcript_path": None,
            "tool_name": "Shell", "tool_input": {"command": command, "working_directory": cwd}, "tool_use_id": "u",
            "cwd": cwd}


ROOT_VARIABLE = {"gemini": "GEMINI_PROJECT_DIR"}.get(host)
environment = dict(os.environ)
environment.pop("CLAUDE_PROJECT_DIR", None)
environment.pop("GEMINI_PROJECT_DIR", None)


def hook(payload, command=None, extra=None):
    """The hook as the host starts it: in a shell, JSON on stdin."""
    if not isinstance(payload, bytes):
        payload = json.dumps(payload).encode()
    return subprocess.run(["sh", "-c", command or HOOK], input=payload, capture_output=True, cwd=project,
                          env=environment | (extra or {}), timeout=120)


def updated(result):
    answer = json.loads(result.stdout)
    if host == "gemini":
        return answer["hookSpecificOutput"]["tool_input"]
    if host == "cursor":
        assert answer["permission"] == "allow"
        return answer["updated_input"]
    specific = answer["hookSpecificOutput"]
    assert specific["hookEventName"] == "PreToolUse"
    assert specific.get("permissionDecision") == ("allow" if host == "codex" else None)
    assert set(specific) <= {"hookEventName", "permissionDecision", "updatedInput"} and set(answer) == {"hookSpecificOutput"}
    return specific["updatedInput"]


def rewrite(command, cwd=project, extra=None):
    result = hook(call(command, cwd), extra=extra)
    if result.returncode != 0:
        raise SystemExit(f"FAIL {host}: no answer for {command!r}: {result.stderr.decode()}")
    return updated(result)["command"]


def run(command, shell="bash", cwd=project):
    flag = "-lc" if host == "codex" and shell in ("bash", "zsh") else "-c"
    return subprocess.run([shell, flag, command], capture_output=True, cwd=cwd, env=environment, timeout=120)


# The very command that setup would write.
printed = json.loads(subprocess.run([berm, "setup", host, "--print"], capture_output=True, check=True).stdout)
if host == "cursor":
    entries = [printed["hooks"]["preToolUse"][0], printed["hooks"]["beforeShellExecution"][0]]
    expect("both events", entries[0]["command"] == entries[1]["command"] and all(e["failClosed"] for e in entries))
    HOOK = entries[0]["command"]
else:
    event = {"codex": "PreToolUse", "gemini": "BeforeTool"}[host]
    HOOK = printed["hooks"][event][0]["hooks"][0]["command"]

# A real command, through the hook and the host's shell, inside.
plain = run("cat " + secret)
expect("control: without berm the key is read", plain.returncode == 0 and b"the key of test" in plain.stdout, plain)
done = run(rewrite("echo \"$((40 + 2)) $BERM\" && echo made > made-by-agent && git status --porcelain"))
expect("a command runs inside", done.returncode == 0 and done.stdout.startswith(b"42 1\n"), done)
expect("and works in the project", os.path.exists(os.path.join(project, "made-by-agent")))
os.unlink(os.path.join(project, "made-by-agent"))
for attempt in ("cat " + secret, "cat ~/.ssh/" + os.path.basename(secret), "cat ~/.ssh/id_rsa"):
    done = run(rewrite(attempt))
    expect(attempt, done.returncode != 0 and b"the key" not in done.stdout + done.stderr, done)
expect("the status comes through", run(rewrite("exit 7")).returncode == 7)

# Other fields of the tool's input stay.
before = call("true")["tool_input"]
after = updated(hook(call("true")))
expect("the other fields", {k: v for k, v in after.items() if k != "command"} == {k: v for k, v in before.items() if k != "command"})

# The project is pinned: another directory for one command opens no other project.
pinned = rewrite("touch here; cd / && touch " + elsewhere + "/there", cwd=project if host == "codex" else elsewhere,
                 extra={ROOT_VARIABLE: project} if ROOT_VARIABLE else None)
run(pinned, cwd=elsewhere)
expect("the project is pinned", os.listdir(elsewhere) == [], os.listdir(elsewhere))
expect("to the workspace", os.path.exists(os.path.join(project, "here")))
os.unlink(os.path.join(project, "here"))
expect("from below it too", f"--project={project} " in rewrite("true", cwd=os.path.join(project, "sub")) or host == "cursor")

# A command that already runs in berm is not wrapped twice; one that only looks like it is.
once = rewrite("echo hi")
expect("wrapped once", rewrite(once) == once)
for forged in (once + "; cat " + secret, once + " x", once.replace(project, elsewhere, 1), "x=1 " + once,
               once.replace(" -c -- ", " -c "), once[:-1], once + "''", once.replace("'echo hi'", "'echo hi'\"$(cat x)\"")):
    again = rewrite(forged)
    expect(f"wrapped again: {forged[-40:]}", again != forged and again.startswith(once.split(" -c -- ")[0]), again)
done = run(rewrite(once + "; cat " + secret))
expect("behind a wrapped command", b"the key" not in done.stdout, done)

# Any text, exactly, in whatever shell the host uses.
random.seed(12)
alphabet = ["'", '"', "\\", "!", "$", "`", "\n", " ", "\t", "a", "-", "=", "~", "*", "{", "}", "#", "%", "&", ";", "|", "<", ">",
            "(", ")", "\u00e9", "\U0001f600", "\u202e", "\x7f", "\x01", "''", "\\'", "\\\\", "'\\''"]
words = ["", "'", "\\", "''", "\\'", "-x", "--", "!!", "\n"]
words += ["".join(random.choice(alphabet) for _ in range(random.randrange(1, 25))) for _ in range(90 if host == "codex" else 6)]
prefix = rewrite("")[:-2]
quoted = []
for word in words:
    command = rewrite(word)
    expect("the prefix", command.startswith(prefix))
    quoted.append(command[len(prefix):])
wanted = b"".join(word.encode() + b"\0" for word in words)
for shell in ("sh", "bash", "dash", "zsh", "fish"):
    if not shutil.which(shell):
        continue
    script = r"printf '%s\0' " + " ".join(quoted)
    got = subprocess.run([shell, "-c", script], capture_output=True).stdout
    expect(f"{shell} reads what was quoted", got == wanted)
if shutil.which("zsh"):
    got = subprocess.run(["zsh", "-o", "rcquotes", "-c", r"printf '%s\0' " + " ".join(quoted)], capture_output=True).stdout
    expect("zsh with rc_quotes", got == wanted)
for word in words[9:15]:
    done = run(rewrite("printf %s " + shlex.quote(word)))
    expect("through everything", done.stdout == word.encode() and done.returncode == 0, (word, done))
done = run(rewrite("--version"))
expect("a command that begins with a dash is no option", done.returncode == 127, done)

# Closed: whatever cannot be read is blocked, with a reason, and without an answer.
good = call("true")


def without(*keys):
    result = json.loads(json.dumps(good))
    at = result
    for key in keys[:-1]:
        at = at[key]
    del at[keys[-1]]
    return result


text = json.dumps(good).encode()
closed = {
    "nothing": b"",
    "no JSON": b"command=true",
    "half of it": text[:-1],
    "something behind it": text + b"{}",
    "a list": b"[]",
    "a comment": text[:-1] + b"// x\n}",
    "invalid UTF-8": text.replace(b"true", b"tr\xffue", 1),
    "no event": without("hook_event_name"),
    "another event": good | {"hook_event_name": "PostToolUse"},
    "no tool": without("tool_name"),
    "another tool": good | {"tool_name": "Write"},
    "no input": without("tool_input"),
    "an input that is text": good | {"tool_input": "true"},
    "no command": without("tool_input", "command"),
    "a command that is a list": good | {"tool_input": {"command": ["true"]}},
    "a NUL in the command": good | {"tool_input": {"command": "true\0; id"}},
    "two commands": text.replace(b'"command": "true"', b'"command": "true", "command": "id"'),
    "two commands, spelled differently": text.replace(b'"command": "true"', b'"command": "true", "comm\\u0061nd": "id"'),
    "two inputs": text[:-1] + b', "tool_input": {"command": "id"}}',
    "too deep": b'{"a":' * 100 + b"1" + b"}" * 100,
    "too large": b'"' + b"x" * (9 << 20) + b'"',
    "a directory that does not exist": call("true", "/nonexistent/place") | ({"workspace_roots": []} if host == "cursor" else {}),
    "a relative directory": call("true", "sub") | ({"workspace_roots": ["sub"]} if host == "cursor" else {}),
    "the root directory": call("true", "/") | ({"workspace_roots": ["/"]} if host == "cursor" else {}),
}
for name, payload in closed.items():
    result = hook(payload)
    expect(f"closed: {name}", result.returncode == 2 and result.stdout == b"" and b"berm: " in result.stderr, result)
for command in (f"{berm} hook-rewrite || exit 2", f"{berm} hook-rewrite --host=nobody || exit 2",
                f"{berm} hook-rewrite --host={host} x || exit 2", f"{berm} hook-rewrite --bad || exit 2",
                f"{elsewhere}/berm hook-rewrite --host={host} || exit 2"):
    result = hook(good, command)
    expect(f"closed: {command}", result.returncode == 2 and result.stdout == b"" and result.stderr != b"", result)

# An agent that is inside already: its commands are, and stay as they are.
nested = subprocess.run([berm, "run", "--allow-read=" + os.path.dirname(berm), "--", "sh", "-c", HOOK], cwd=project, env=environment,
                        input=json.dumps(call("echo nested")).encode(), capture_output=True, timeout=120)
expect("inside, unchanged", nested.returncode == 0 and updated(nested)["command"] == "echo nested", nested)
faked = hook(call("echo faked"), extra={"BERM": "1"})
expect("a variable does not make it so", updated(faked)["command"] != "echo faked", faked)

if host == "cursor":
    guard = {"hook_event_name": "beforeShellExecution", "workspace_roots": [project], "cwd": project}
    result = hook(guard | {"command": once})
    expect("the guard lets ours through", result.returncode == 0 and json.loads(result.stdout) == {"permission": "allow"}, result)
    for command in ("echo hi", once + "; id", "", once.replace(project, elsewhere, 1)):
        expect(f"the guard stops {command[-20:]!r}", hook(guard | {"command": command}).returncode == 2)

print(f"{host}: {held} held, {failures} did not")
sys.exit(1 if failures else 0)
