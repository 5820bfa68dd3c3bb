#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the code blocks of documents: documents.py HOME FIXTURE PAGE...

FIXTURE is a script that fills an empty HOME, with the project HOME/app, for each page. Kinds of blocks:

    console   `$ command` lines (`> ` continues one) with their output. A command with output must
              print exactly that, where a line `...` stands for any lines. Without, it must succeed.
    sh        one script; every command must succeed.
    yaml      a policy; `berm plan --policy=FILE` must accept it.
    others    not run; a line that begins with `$ ` is an error, and so is an indented block.

`<!-- not run: REASON -->` before a block excludes it. Paths below HOME appear as /home/ann, and the
position of a rule in a built-in policy as default:N:N. Prints one line for each fault; exit status 1
if there was any.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

MARKER = re.compile(r"^<!-- not run: *(.*?) *-->$")
FENCE = re.compile(r"^ {0,3}```(\w*)\s*$")
REASONS = ("sudo", "an account", "the network", "another program", "another system", "part of", "long", "destroys")
SECONDS = 60


class Fault(Exception):
    pass


def blocks(text):
    """Yields (line number, language, lines, reason for not running) of each block."""
    language, lines, start, reason, before = None, [], 0, None, ""
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.match(line)
        if language is not None:
            if fence and not fence.group(1):
                yield start, language, lines, reason
                language, reason = None, None
            else:
                lines.append(line)
        elif fence:
            language, lines, start = fence.group(1), [], number
        elif marker := MARKER.match(line):
            reason = marker.group(1)
        else:
            if line.startswith("    ") and not before.strip() and not line.lstrip().startswith(("-", "*", "<")):
                yield number, "indented", [line], None
            if line.strip():
                reason = None
        before = line
    if language is not None:
        yield start, language, lines + [""], "unfinished"


def parse_console(lines):
    """Returns [command, [output line...]] for each command."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif not found:
            raise Fault(f"output before the first command: {line}")
        elif line.startswith("> ") and not found[-1][1]:
            found[-1][0] += "\n" + line[2:]
        else:
            found[-1][1].append(line.rstrip())
    if not found:
        raise Fault("no command; a line of a console block begins with `$ `")
    for entry in found:
        while entry[1] and not entry[1][-1]:
            entry[1].pop()
    return found


def plain(line, home):
    line = line.replace(home, "/home/ann").rstrip()
    return re.sub(r"(default|floor):\d+:\d+", r"\1:N:N", line)


def same(wanted, got):
    """True if the lines are equal; `...` matches any number of lines."""
    if not wanted:
        return not got
    if wanted[0].strip() == "...":
        return any(same(wanted[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and wanted[0] == got[0] and same(wanted[1:], got[1:])


def run(script, home, arguments=("bash",)):
    """Runs a script in the project. Returns its status and its output, both streams together. Ends what it left."""
    with tempfile.NamedTemporaryFile("w", suffix=".sh", dir=os.path.dirname(home)) as file, tempfile.TemporaryFile() as output:
        file.write(script)
        file.flush()
        process = subprocess.Popen(
            [*arguments, file.name],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=os.path.join(home, "app"),
            start_new_session=True,
        )
        try:
            status = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            status = "timeout"
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        output.seek(0)
        return status, output.read().decode(errors="replace")


def check_console(lines, home):
    entries = parse_console(lines)
    script = "".join(f"{command}\nprintf '\\036%s\\036' $?\n" for command, _ in entries)
    status, output = run(script, home)
    parts = output.split("\036")
    for i, (command, wanted) in enumerate(entries):
        if 2 * i + 1 >= len(parts):
            raise Fault(f"`{command}` did not end (status {status}): {output[-500:]}")
        got = [plain(line, home) for line in parts[2 * i].split("\n")]
        while got and not got[-1]:
            got.pop()
        if wanted and not same([plain(line, home) for line in wanted], got):
            raise Fault("\n  ".join([f"`{command}` printed:", *got, "instead of:", *wanted]))
        if not wanted and parts[2 * i + 1] != "0":
            raise Fault("\n  ".join([f"`{command}` ended with status {parts[2 * i + 1]}:", *got]))


def check_script(lines, home):
    status, output = run("\n".join(lines) + "\n", home, ("bash", "-eu"))
    if status != 0:
        raise Fault(f"status {status}: {output}")


def check_policy(lines, home):
    with tempfile.NamedTemporaryFile("w", suffix=".yml", dir=os.path.dirname(home)) as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        status, output = run(f"exec berm plan --policy={file.name} >/dev/null\n", home)
    if status != 0:
        raise Fault(f"not a policy: {output}")


def check_block(language, lines, reason, home):
    """Returns True if the block was run."""
    if reason is not None:
        if not reason.startswith(REASONS):
            raise Fault(f"not run, without a known reason ({', '.join(REASONS)}): {reason}")
        return False
    checks = {"console": check_console, "sh": check_script, "yaml": check_policy}
    if language in checks:
        checks[language](lines, home)
        return True
    if language == "indented":
        raise Fault("an indented block: put it between ``` lines, so that it is run")
    if language in ("", "bash", "shell") or any(line.startswith("$ ") for line in lines):
        raise Fault(f"a block of the kind `{language}`: commands are `console` or `sh`")
    return False


def empty(directory):
    shutil.rmtree(directory, ignore_errors=True)
    subprocess.run(["chmod", "-R", "u+rwX", directory], check=False, stderr=subprocess.DEVNULL)
    shutil.rmtree(directory, ignore_errors=True)
    os.mkdir(directory, 0o755)


def main():
    home, fixture, pages = sys.argv[1], sys.argv[2], sys.argv[3:]
    faults = ran = skipped = 0
    for page in pages:
        empty(home)
        subprocess.run(["bash", "-eu", fixture, home], check=True, stdin=subprocess.DEVNULL)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for number, language, lines, reason in blocks(text):
            try:
                if check_block(language, lines, reason, home):
                    ran += 1
                else:
                    skipped += 1
            except Fault as fault:
                faults += 1
                print(f"{page}:{number}: {fault}")
    print(f"{ran} blocks run, {skipped} not run, {faults} wrong")
    return 1 if faults or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
