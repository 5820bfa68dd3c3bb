# SPDX-License-Identifier: Apache-2.0
"""berm on a pseudo-terminal. Each scenario is played twice, bare and with `berm run --` before the command, and returns what was
seen; the two have to agree, and with what is written here."""

import concurrent.futures
import contextlib
import fcntl
import functools
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import termios
import time

BERM = os.environ["BERM"]
BARE = ""
INSIDE = f"'{BERM}' run -- "
WORKERS = 4
LIMIT = 60.0  # seconds for anything to show up: only a failure takes that long


class Terminal:
    """A process as the leader of a session on a new terminal."""

    def __init__(self, *argv, size=(24, 80)):
        self.status = None
        self.text = ""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "dumb"
            os.environ["PS1"] = "PROMPT> "
            os.environ["HISTFILE"] = "/dev/null"  # a shell without berm would write the real one
            os.execvp(argv[0], argv)
        os.set_inheritable(self.master, False)
        self.resize(*size)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.master, text.encode())

    def press(self, key):
        """A key while a command runs. Not at once: a shell that is just starting a program cannot be stopped."""
        time.sleep(0.15)
        self.type(key)

    def line(self, text):
        self.type(text + "\n")

    def until(self, text, pattern):
        """Types a line again and again until it shows this."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            self.line(text)
            soon = time.monotonic() + 1
            while time.monotonic() < soon and not re.search(pattern, self.text) and self.read(0.1) is not None:
                pass
            if re.search(pattern, self.text):
                break
        return self.expect(pattern)

    def listens(self):
        """A shell that has just been started may drop what was typed before it was ready."""
        self.until("echo liste''ning", "listening")

    def comes_to_front(self):
        """The first program of this terminal has it for itself again."""
        end = time.monotonic() + LIMIT
        while os.tcgetpgrp(self.master) != self.pid:
            if time.monotonic() > end:
                raise AssertionError("the terminal is not given back")
            self.read(0.02)

    def value(self, expression):
        self.line(f"echo value=[{expression}]")
        return self.expect(r"value=\[([^$]*?)\]").group(1)

    def read(self, seconds):
        """What comes within a time; None at the end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return ""
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return None
        self.text += data.decode(errors="replace").replace("\r", "")
        return data or None

    def expect(self, pattern):
        """Waits for it, forgets everything up to its end, and returns the match."""
        end = time.monotonic() + LIMIT
        while True:
            match = re.search(pattern, self.text)
            if match:
                self.text = self.text[match.end():]
                return match
            if time.monotonic() > end or self.read(0.2) is None:
                raise AssertionError(f"no {pattern!r} in {self.text[-400:]!r}")

    def wait(self):
        """The exit status as a shell gives it; kills what does not end."""
        end = time.monotonic() + LIMIT
        while self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                if self.status < 0:
                    self.status = 128 - self.status
            elif time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                self.status = -1
            else:
                self.read(0.02)
        while self.read(0.05):
            pass
        return self.status

    def close(self):
        with contextlib.suppress(OSError):
            os.close(self.master)
        if self.status is None:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)


class Shell(Terminal):
    """An interactive shell with job control, as a person has it."""

    def __init__(self, **options):
        super().__init__("bash", "--norc", "--noprofile", "--noediting", "-i", **options)
        # The echo of the input would look like output.
        self.line("stty -echo; echo begin")
        self.expect(r"(?m)(^|> )begin\n")


def script_file(name, wrap, text):
    """A script of one playing's own: both are played at once, and a shell reads on at the end of a file that has grown."""
    path = f"{name}-{'inside' if wrap else 'bare'}.sh"
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


class Gate:
    """Where a command waits until the test lets it go on: `read x <PATH`, which starts no program. (A shell that is just starting one cannot
    be stopped.)"""

    def __init__(self):
        self.path = f"gate-{os.getpid()}-{time.monotonic_ns()}"
        os.mkfifo(self.path)
        self.end = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)

    def open(self):
        os.write(self.end, b"\n")

    def is_suspended(self):
        """Waits until the command at the gate is stopped."""
        end = time.monotonic() + LIMIT
        while not any(state(pid) == "T" and command_line(pid).startswith(b"sh\0-c\0") for pid in with_word(self.path)):
            if time.monotonic() > end:
                raise AssertionError("the command is not stopped")
            time.sleep(0.02)


@contextlib.contextmanager
def playing(terminal):
    try:
        yield terminal
    finally:
        terminal.close()


def state(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def is_alive(pid):
    return state(pid) not in "ZX"


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def with_word(word):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
            if word.encode() in file.read() and int(name) != os.getpid() and is_alive(name):
                found.append(int(name))
    return found


# Scenarios: wrap is "" or "berm run -- ".


def interrupt_alone(wrap):
    """Ctrl-C on a terminal that the program has for itself."""
    with playing(Terminal("sh", "-c", f"{wrap}sh -c 'echo ready; exec sleep 30'; echo \"status $?\"; trap '' INT")) as terminal:
        terminal.expect("ready")
        terminal.press("\x03")
        return terminal.wait() in (0, 130)


def keys(wrap):
    """Ctrl-C and Ctrl-\\ in a shell."""
    with playing(Shell()) as shell:
        seen = []
        for key in "\x03", "\x1c":
            shell.line(f"{wrap}sh -c 'echo ready; exec sleep 30'")
            shell.expect("ready")
            shell.press(key)
            seen.append(shell.value("$?"))
        return seen


def script(wrap):
    """Ctrl-C ends a script, not just the command that it waits for."""
    path = script_file("loop", wrap, f"echo ready\nfor i in 1 2 3; do {wrap}sleep 40; done\necho over\n")
    with playing(Shell()) as shell:
        seen = []
        for interpreter in "bash", "sh":
            shell.line(f"{interpreter} {path}")
            shell.expect("ready")
            shell.press("\x03")
            seen.append(shell.value("$?"))
        return seen


def caught_once(wrap):
    """A handler of SIGINT runs once for one key."""
    with playing(Shell()) as shell:
        shell.line(f"{wrap}bash -c 'trap \"echo got; n=1\" INT; n=0; echo ready; while [ $n = 0 ]; do read -t 0.1; done; read -t 0.4; exit 5'")
        shell.expect("ready")
        shell.press("\x03")
        seen = shell.expect("(?s)(.*)PROMPT> ").group(1)
        return shell.value("$?"), seen.count("got")


def suspend(wrap):
    """Ctrl-Z, fg, and the command goes on."""
    with playing(Shell()) as shell:
        gate = Gate()
        shell.line(f"{wrap}sh -c 'echo ready; read x <{gate.path}; echo finished; exit 6'")
        shell.expect("ready")
        shell.press("\x1a")
        shell.expect("Stopped")
        stopped = shell.value("$?")
        gate.open()
        shell.read(0.6)
        is_quiet = "finished" not in shell.text
        shell.line("fg")
        shell.expect("finished")
        return stopped, is_quiet, shell.value("$?")


def suspend_ignored(wrap):
    """A command that ignores SIGTSTP is not stopped."""
    with playing(Shell()) as shell:
        gate = Gate()
        shell.line(f"{wrap}sh -c 'trap \"\" TSTP; echo ready; read x <{gate.path}; echo finished'")
        shell.expect("ready")
        shell.press("\x1a")
        time.sleep(0.2)
        gate.open()
        shell.expect("finished")
        return shell.value("$?"), "Stopped" in shell.text


def suspend_itself(wrap):
    """A command that stops itself, as an editor in raw mode does."""
    with playing(Shell()) as shell:
        shell.line(f"{wrap}sh -c 'echo ready; kill -TSTP $$; echo finished'")
        shell.expect("Stopped")
        shell.line("fg")
        shell.expect("finished")
        return shell.value("$?")


def background(wrap):
    """Ctrl-Z, bg: whoever is in front keeps the terminal when the job ends."""
    with playing(Shell()) as shell:
        gate = Gate()
        shell.line(f"{wrap}sh -c 'echo ready; read x <{gate.path}; exit 3'")
        shell.expect("ready")
        job = children(shell.pid)
        shell.press("\x1a")
        shell.expect("Stopped")
        shell.line("bg")
        shell.line("sh -c 'echo ask; read x; echo \"read <$x>\"'")
        shell.expect("ask")
        gate.open()
        end = time.monotonic() + LIMIT
        while any(map(is_alive, job)) and time.monotonic() < end:
            time.sleep(0.02)
        shell.line("words")
        shell.expect("read <words>")
        shell.line("echo")
        return shell.expect(r"Exit (\d+)").group(1)


def background_read(wrap):
    """A job in the background that reads the terminal is stopped until it comes to the front."""
    with playing(Shell()) as shell:
        shell.line(f"{wrap}sh -c 'read x; echo \"read <$x>\"' &")
        shell.until("jobs", "Stopped")
        shell.line("fg")
        time.sleep(0.2)
        shell.line("words")
        shell.expect("read <words>")
        return shell.value("$?")


def size(wrap):
    """The window's size, and its changes."""
    with playing(Shell(size=(31, 97))) as shell:
        shell.line(f"{wrap}stty size")
        shell.expect("31 97")
        shell.line(f"{wrap}bash -c 'trap \"stty size; exit 4\" WINCH; echo ready; while :; do read -t 0.1; done'")
        shell.expect("ready")
        shell.resize(33, 101)
        shell.expect("33 101")
        return shell.value("$?")


def modes(wrap):
    """What a killed program leaves. Bare it stays, and that is the control."""
    script = f"before=$(stty -g); {wrap}sh -c 'stty raw -echo; kill -KILL $$'; test \"$before\" = \"$(stty -g)\"; echo \"same=$?\""
    with playing(Terminal("sh", "-c", script)) as terminal:
        return terminal.expect(r"same=(\d)").group(1)


def group(wrap):
    """A job that has the terminal is killed together with its shell: the caller gets the terminal back."""
    job = "import os, signal; r, w = os.pipe(); p = os.fork()\nif p == 0:\n os.setpgid(0, 0); signal.signal(signal.SIGTTOU, signal.SIG_IGN); os.tcsetpgrp(0, os.getpid()); print(\"took\", flush=True); os.write(w, b\"x\"); signal.pause()"
    job += "\nos.read(r, 1); os.kill(p, 9); os.kill(os.getpid(), 9)"
    script = f"{wrap}/usr/bin/python3 -c '{job}'; python3 -c 'import os; print(\"front=%d\" % (os.tcgetpgrp(0) == os.getpgrp()))'"
    with playing(Terminal("sh", "-c", script)) as terminal:
        terminal.expect("took")
        return terminal.expect(r"front=(\d)").group(1)


def names(wrap):
    """The terminal has a name that works, and /dev/tty is it."""
    script = 'tty >/dev/null && t=$(tty) && test -c "$t" && echo "by name" >"$t" && echo "by tty" >/dev/tty && test -t 0 && test -t 1 && test -t 2'
    with playing(Shell()) as shell:
        shell.line(f"{wrap}sh -c '{script}'")
        shell.expect("by name")
        shell.expect("by tty")
        return shell.value("$?")


def shell_inside(wrap):
    """An interactive shell with jobs of its own; afterwards the outer one goes on."""
    with playing(Shell()) as shell:
        shell.line(f"{wrap}bash --norc --noprofile --noediting -i")
        shell.line("PS1='INNER> '")
        shell.expect("INNER> ")
        gate = Gate()
        shell.line(f"sh -c 'echo ready; read x <{gate.path}; echo finished'")
        shell.expect("ready")
        shell.press("\x1a")
        shell.expect("Stopped")
        gate.open()
        shell.line("fg")
        shell.expect("finished")
        shell.line("sh -c 'echo ready; exec sleep 30'")
        shell.expect("ready")
        shell.press("\x03")
        inner = shell.value("$?")
        shell.line("exit 9")
        outer = shell.value("$?")
        shell.line("sh -c 'echo ready; exec sleep 30'")
        shell.expect("ready")
        shell.press("\x03")
        return inner, outer, shell.value("$?")


def output(wrap):
    """A megabyte through the terminal, every line of it."""
    with playing(Shell()) as shell:
        shell.line(f"{wrap}true; echo; {wrap}seq 1 150000; echo last")
        end = time.monotonic() + LIMIT
        while "\nlast\n" not in shell.text and time.monotonic() < end:
            shell.read(0.2)
        lines = [line for line in shell.text.split("\n") if line.isdigit()]
        return lines == [str(number) for number in range(1, 150001)]


def typed_ahead(wrap):
    """What is typed while a command runs that does not read it is the shell's afterwards."""
    with playing(Shell()) as shell:
        shell.line(f"{wrap}sleep 0.3")
        shell.line("echo ahead=[yes]")
        return shell.expect(r"ahead=\[(.*)\]").group(1)


SHELLS = {
    "bash": "bash --norc --noprofile --noediting -i",
    "dash": "dash -i",
    "zsh": "zsh -f -i +Z",
    "fish": "fish --no-config -i",
}


def status_of(shell, name):
    """fish has another word for it."""
    return shell.value("$status" if name == "fish" else "$?")


def play_jobs(shell, name, wrap):
    """A command that is suspended, continued, and one that is interrupted."""
    gate = Gate()
    shell.line(f"{wrap}sh -c 'echo rea''dy; read x <{gate.path}; echo finis''hed; exit 6'")
    shell.expect("ready")
    shell.press("\x1a")
    gate.is_suspended()
    gate.open()
    shell.read(0.6)
    is_quiet = "finished" not in shell.text
    shell.line("fg")
    shell.expect("finished")
    seen = [is_quiet, status_of(shell, name)]
    shell.line(f"{wrap}sh -c 'echo rea''dy; exec sleep 30'")
    shell.expect("ready")
    shell.press("\x03")
    return seen + [status_of(shell, name)]


def inner(name, wrap):
    """This shell in the sandbox, with jobs of its own; it can be left, and the one outside goes on."""
    with playing(Shell()) as shell:
        shell.line(f"{wrap}{SHELLS[name]}")
        shell.listens()
        seen = play_jobs(shell, name, "")
        shell.line("exit 9")
        shell.comes_to_front()
        return seen + [shell.value("$?")]


def outer(name, wrap):
    """This shell starts the sandbox as a job."""
    with playing(Terminal(*SHELLS[name].split())) as shell:
        shell.listens()
        shell.line("stty -echo; echo beg''in")
        shell.expect("begin")
        return play_jobs(shell, name, wrap)


def suspend_shell(wrap):
    """An interactive shell is suspended by its own command, and continued by the one outside."""
    with playing(Shell()) as shell:
        shell.line(f"{wrap}{SHELLS['bash']}")
        shell.line("PS1='INNER> '")
        shell.expect("INNER> ")
        shell.line("suspend")
        shell.expect("Stopped")
        outside = shell.value("$?")
        shell.line("fg")
        time.sleep(0.3)
        shell.line("sh -c 'read x; echo \"read <$x>\"'")
        time.sleep(0.2)
        shell.line("words")
        shell.expect("read <words>")
        shell.line("exit 9")
        return outside, shell.value("$?")


def front_again(wrap):
    """bg, then fg while it runs: then it may read the terminal, and keys reach it."""
    with playing(Shell()) as shell:
        gate = Gate()
        shell.line(f"{wrap}sh -c 'echo ready; read x <{gate.path}; read x; echo \"read <$x>\"; exec sleep 30'")
        shell.expect("ready")
        shell.press("\x1a")
        shell.expect("Stopped")
        shell.line("bg")
        time.sleep(0.2)
        shell.line("fg")
        time.sleep(0.2)
        gate.open()
        shell.line("words")
        shell.expect("read <words>")
        shell.press("\x03")
        return shell.value("$?")


def alone(wrap):
    """On a terminal without a shell that could continue it, Ctrl-Z stops nothing."""
    gate = Gate()
    with playing(Terminal("sh", "-c", f"exec {wrap}sh -c 'echo ready; read x <{gate.path}; echo finished; exit 5'")) as terminal:
        terminal.expect("ready")
        terminal.press("\x1a")
        time.sleep(0.2)
        gate.open()
        terminal.expect("finished")
        return terminal.wait()


def outlives(wrap):
    """A job that was stopped, continued in the background and disowned is not in front: it outlives its terminal."""
    word = f"{296 if wrap else 297}.{os.getpid():07d}"

    def sleepers():
        return [pid for pid in with_word(word) if command_line(pid).startswith(b"sleep\0")]

    with playing(Shell()) as shell:
        gate = Gate()
        shell.line(f"{wrap}sh -c 'echo ready; read x <{gate.path}; sleep {word}; :'")
        shell.expect("ready")
        shell.press("\x1a")
        shell.expect("Stopped")
        shell.line("bg; disown -a")
        gate.open()
        end = time.monotonic() + LIMIT
        while not sleepers() and time.monotonic() < end:
            time.sleep(0.02)
        has_run = bool(sleepers())
        os.close(shell.master)
        while is_alive(shell.pid) and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(2.5)  # what has the terminal gets two seconds
        survivors = with_word(word)
        is_left = bool(sleepers())
        for pid in survivors:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return has_run, is_left


def pipeline(wrap):
    """The other commands of a pipeline keep the terminal: a pager reads its keys there; and the job stops and goes on as a whole."""
    with playing(Shell()) as shell:
        gate = Gate()
        shell.line(f"{wrap}sh -c 'echo ready; read x <{gate.path}; echo last' | sh -c 'read x; echo \"$x\"; read y </dev/tty; echo \"key <$y>\"; cat'")
        shell.expect("ready")
        shell.press("\x1a")
        shell.expect("Stopped")
        shell.line("fg")
        time.sleep(0.2)
        shell.line("words")
        shell.expect("key <words>")
        gate.open()
        shell.expect("last")
        return shell.value("$?")


def front_of_pipeline(wrap):
    """The same from the other side: the sandbox reads keys, its input is a pipe."""
    with playing(Shell()) as shell:
        shell.line(f"echo ready | {wrap}sh -c 'cat; read y </dev/tty; echo \"key <$y>\"; exec sleep 30'")
        shell.expect("ready")
        time.sleep(0.2)
        shell.line("words")
        shell.expect("key <words>")
        shell.press("\x03")
        return shell.value("$?")


def suspend_script(wrap):
    """A script that waits for the sandbox stops with it."""
    gate = Gate()
    path = script_file("wait", wrap, f"{wrap}sh -c 'echo ready; read x <{gate.path}; exit 3'\necho \"then $?\"\n")
    with playing(Shell()) as shell:
        shell.line(f"sh {path}")
        shell.expect("ready")  # a shell that is stopped before it has started its command may end with 2, bare too
        shell.press("\x1a")
        shell.expect("Stopped")
        gate.open()
        shell.line("fg")
        return shell.expect(r"then (\d+)").group(1), shell.value("$?")


def killed(wrap):
    """The shell goes on after a kill -9 of what it started, which left the terminal raw."""
    with playing(Shell()) as shell:
        shell.line(f"{wrap}sh -c 'stty raw -echo; echo ready; exec sleep 30'")
        shell.expect("ready")
        time.sleep(0.2)
        job = next(child for child in children(shell.pid) if b"sleep" in command_line(child) or b"run" in command_line(child))
        os.kill(job, signal.SIGKILL)
        return shell.value("$?"), shell.value("$(stty | grep -c raw)")


COMPARED = [
    # scenario, expected from both
    (interrupt_alone, True),
    (keys, ["130", "131"]),
    (script, ["130", "130"]),
    (caught_once, ("5", 1)),
    (suspend, ("148", True, "6")),
    (suspend_ignored, ("0", False)),
    (suspend_itself, "0"),
    (background, "3"),
    (background_read, "0"),
    (size, "4"),
    (names, "0"),
    (shell_inside, ("130", "9", "130")),
    (output, True),
    (typed_ahead, "yes"),
    (suspend_shell, ("147", "9")),
    (front_again, "130"),
    (alone, 5),
    (outlives, (True, True)),
    (pipeline, "0"),
    (front_of_pipeline, "130"),
    (suspend_script, ("3", "0")),
    (killed, ("137", "0")),
]
for name in filter(shutil.which, SHELLS):
    after = "0" if name == "fish" else "6"  # fish's fg has another status
    COMPARED += [(functools.partial(inner, name), [True, after, "130", "9"]), (functools.partial(outer, name), [True, after, "130"])]


# Where berm does better than the bare command: scenario, bare, inside.
IMPROVED = [
    (modes, "1", "0"),
    (group, "0", "1"),
]


def hangup():
    """The terminal goes, and everything with it, even what ignores SIGHUP; but not under nohup."""
    word, kept = f"293.{os.getpid():07d}", f"294.{os.getpid():07d}"
    with playing(Terminal("sh", "-c", f"exec {INSIDE}sh -c 'trap \"\" HUP TERM; echo ready; sleep {word}; sleep {word}'")) as terminal:
        terminal.expect("ready")
        assert with_word(word), "the command is not there"
        script = f"trap '' HUP; exec {INSIDE}sh -c 'echo ready; sleep {kept}'"
        with playing(Terminal("sh", "-c", script)) as other:
            other.expect("ready")
            os.close(other.master)
            os.close(terminal.master)
            end = time.monotonic() + LIMIT
            while with_word(word) and time.monotonic() < end:
                time.sleep(0.1)
            assert not with_word(word), "survived the end of its terminal"
            time.sleep(0.5)  # the other has had as long: two seconds and a half
            survivors = with_word(kept)
            for pid in survivors:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            assert survivors, "nohup did not help"


def hangup_of_a_job():
    """The same where a shell started it, which does not pass the hangup on."""
    word = f"295.{os.getpid():07d}"
    with playing(Shell()) as shell:
        shell.line(f"{INSIDE}sh -c 'trap \"\" HUP TERM; echo ready; sleep {word}; sleep {word}'")
        shell.expect("ready")
        assert with_word(word), "the command is not there"
        os.kill(shell.pid, signal.SIGKILL)
        os.close(shell.master)
        end = time.monotonic() + LIMIT
        while with_word(word) and time.monotonic() < end:
            time.sleep(0.1)
        left = with_word(word)
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        assert not left, "survived the end of its terminal"


def early():
    """Ctrl-C at any moment of the launch is not lost."""
    seen = set()
    for step in range(40):
        with playing(Terminal(BERM, "run", "--", "sleep", "40")) as terminal:
            with contextlib.suppress(OSError):
                while os.readlink(f"/proc/{terminal.pid}/exe") != os.path.realpath(BERM):
                    pass
            time.sleep(step * 0.0005)
            terminal.type("\x03")
            seen.add(terminal.wait())
    assert seen == {130}, f"exit statuses {seen}"


def play(scenario, *arguments):
    """What was seen, or what went wrong."""
    try:
        return scenario(*arguments)
    except (AssertionError, OSError) as problem:
        return repr(problem)


def name_of(scenario):
    if isinstance(scenario, functools.partial):
        return f"{scenario.func.__name__} {scenario.args[0]}"
    return scenario.__name__


def main():
    failures = 0

    def tell(name, problem):
        nonlocal failures
        failures += 1
        print(f"FAIL terminal: {name}: {problem}")

    with concurrent.futures.ProcessPoolExecutor(WORKERS) as pool:
        played = []
        alone = [(scenario, pool.submit(play, scenario)) for scenario in (hangup, hangup_of_a_job, early)]
        for scenario, bare, inside in [(s, e, e) for s, e in COMPARED] + IMPROVED:
            played.append((scenario, "bare", bare, pool.submit(play, scenario, BARE)))
            played.append((scenario, "inside", inside, pool.submit(play, scenario, INSIDE)))
        for scenario, place, wanted, future in played:
            if future.result() != wanted:
                tell(name_of(scenario), f"{place}: wanted {wanted!r}, got {future.result()!r}")
        for scenario, future in alone:
            if future.result():
                tell(scenario.__name__, future.result())
    print(f"{2 * len(COMPARED) + 2 * len(IMPROVED) + len(alone) - failures} scenarios held, {failures} did not")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
