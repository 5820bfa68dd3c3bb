# SPDX-License-Identifier: Apache-2.0
"""typed.py SHELL DONE LINE: a shell on a new terminal, into which LINE is typed as an editor does, before any
prompt. Prints what the terminal showed until the file DONE is there, and one prompt later."""

import os
import pty
import select
import sys
import time

LIMIT = 60.0  # only a failure takes that long


def main():
    shell, done, line = sys.argv[1:]
    pid, master = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        os.execv(shell, [shell])
    shown = b""
    end = time.monotonic() + LIMIT
    os.write(master, line.encode() + b"\r")
    while time.monotonic() < end and not (os.path.exists(done) and shown.rstrip().endswith((b"$", b"#"))):
        if select.select([master], [], [], 0.05)[0]:
            try:
                shown += os.read(master, 65536)
            except OSError:
                break
    os.close(master)  # hangs up
    os.waitpid(pid, 0)
    sys.stdout.write(shown.decode(errors="replace"))


main()
