#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Job control through a pty: terminal.py COMMAND... stands for `berm run --` or for nothing.

Starts an interactive sh and types into it as a user would. Prints one line per check: the name, and
ok or what was on the screen. Used by script/macos-live; runs on Linux too.
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

SECONDS = float(os.environ.get("SECONDS_TO_WAIT", "20"))
prefix = " ".join("'" + word.replace("'", "'\\''") + "'" for word in sys.argv[1:])


class Screen:
    def __init__(self):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(PS1="READY$ ", TERM="xterm", ENV="")
            os.execv("/bin/sh", ["sh", "-i"])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 31, 87, 0, 0))
        self.text = ""

    def type(self, text):
        self.text = ""
        os.write(self.fd, text.encode())

    def wait(self, *expected):
        """True once each text has appeared, in this order."""
        end = time.time() + SECONDS
        while True:
            position = 0
            for part in expected:
                position = self.text.find(part, position)
                if position < 0:
                    break
                position += len(part)
            if position >= 0:
                return True
            left = end - time.time()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                return False
            try:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                return False


def report(name, is_ok, screen):
    print(name + ":", "ok" if is_ok else repr(screen.text[-200:]), flush=True)
    return is_ok


def main():
    screen = Screen()
    if not screen.wait("READY$ "):
        return not report("shell", False, screen)
    # A shell that stops in vfork waits for its child, so the command that is stopped forks nothing.
    # The texts are spelled so that their echo on the terminal does not match.
    results = []
    screen.type(f"{prefix} sh -c 'stty size; stty raw; stty sane; echo si''ze'\n")
    results.append(report("window size, raw mode", screen.wait("31 87", "size", "READY$ "), screen))
    screen.type(f"{prefix} sh -c 'echo sta''rted; exec sleep 300'; echo af''ter\n")
    is_ok = screen.wait("started")
    screen.type("\x1a")
    is_ok = is_ok and screen.wait("READY$ ")
    screen.type("jobs; echo li''sted\n")
    is_ok = is_ok and screen.wait("topped", "listed")
    screen.type("fg\n")
    is_ok = is_ok and screen.wait("sleep 300")
    time.sleep(1)
    screen.type("\x03")
    results.append(report("^Z, fg, ^C", is_ok and screen.wait("READY$ "), screen))
    screen.type("echo al''ive\n")
    results.append(report("the shell has its terminal back", screen.wait("alive", "READY$ "), screen))
    screen.type("exit\n")
    return not all(results)


if __name__ == "__main__":
    sys.exit(main())
