# SPDX-License-Identifier: Apache-2.0
"""`berm shell` on a pseudo-terminal, for each shell there is: the mark before the prompt, job control, Ctrl-C, Ctrl-Z, resize, history that
is there again the next time."""

import concurrent.futures
import os
import re
import shutil
import sys
import time

sys.dont_write_bytecode = True
from terminal import BERM, LIMIT, Terminal  # noqa: E402

MARK = r"\(berm\) "


def start(shell):
    terminal = Terminal(BERM, "shell", shell, size=(30, 90))
    terminal.expect(MARK)
    return terminal


def ask(terminal, line, pattern):
    """Types a line; the pattern must not match the line itself, whose echo comes first."""
    assert not re.search(pattern, line), line
    terminal.type(line + "\n")
    return terminal.expect(pattern)


def common(shell):
    terminal = start(shell)
    try:
        ask(terminal, "echo is''here-$BERM", "ishere-1")
        terminal.expect(MARK)
        ask(terminal, "cat ~/.ssh/id_rsa || echo can''not", "cannot")
        assert "the key" not in terminal.text
        ask(terminal, "stty size", "30 90")
        terminal.resize(41, 101)
        ask(terminal, "stty size", "41 101")
        ask(terminal, "sh -c 'echo st\"\"arted; exec sleep 30'", "started")
        terminal.press("\x03")
        terminal.expect(MARK)
        ask(terminal, "echo after-the''-break", "after-the-break")
        terminal.expect(MARK)
        terminal.type("exit\n" if shell != "fish" else "exit 5\n")
        status = terminal.wait()
        assert status in (0, 5), status
    finally:
        terminal.close()


def jobs(shell):
    """Ctrl-Z stops the job, not the shell; fg brings it back."""
    terminal = start(shell)
    try:
        ask(terminal, "sh -c 'echo st\"\"arted; read x; echo go\"\"t-$x'", "started")
        terminal.press("\x1a")
        terminal.expect(MARK)
        ask(terminal, "jobs", "Stopped|[Ss]uspended|stopped")
        terminal.expect(MARK)
        front = os.tcgetpgrp(terminal.master)
        terminal.type("fg\n")
        end = time.monotonic() + LIMIT
        while os.tcgetpgrp(terminal.master) == front and time.monotonic() < end:
            terminal.read(0.02)
        terminal.press("line\n")
        terminal.expect("got-line")
        terminal.expect(MARK)
        terminal.type("exit\n")
        assert terminal.wait() == 0
    finally:
        terminal.close()


def history(shell):
    command = {"bash": "history", "zsh": "fc -l 1", "fish": "history | cat"}[shell]
    terminal = start(shell)
    ask(terminal, "echo unfor''gettable-1", "unforgettable-1")
    terminal.expect(MARK)
    terminal.type("exit\n")
    terminal.wait()
    terminal.close()
    time.sleep(1.1)  # fish shows history older than itself, in whole seconds
    terminal = start(shell)
    try:
        ask(terminal, command, "unfor''gettable")
    finally:
        terminal.close()


def play(scenario, shell):
    try:
        scenario(shell)
        return None
    except (AssertionError, OSError) as problem:
        return repr(problem)


def main():
    shells = [shell for shell in ("bash", "zsh", "dash", "sh", "fish") if shutil.which(shell)]
    plays = [(scenario, shell) for shell in shells for scenario in (common, jobs)]
    plays += [(history, shell) for shell in ("bash", "zsh", "fish") if shell in shells]
    failures = 0
    with concurrent.futures.ProcessPoolExecutor(4) as pool:
        for (scenario, shell), problem in zip(plays, pool.map(play, *zip(*plays))):
            if problem:
                failures += 1
                print(f"FAIL berm shell {shell}: {scenario.__name__}: {problem}")
    print(f"{len(plays) - failures} scenarios held ({' '.join(shells)}), {failures} did not")
    return 1 if failures else 0


if __name__ == "__main__":
    os.environ.pop("SHELL", None)
    sys.exit(main())
