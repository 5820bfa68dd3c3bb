# SPDX-License-Identifier: Apache-2.0
"""Random argument vectors through real launches: vectors.py COUNT SEED. Each goes to one of berm's ways of being a shell; what printf says
inside has to be the bytes that went in. Any byte but NUL: quotes, `!`, newlines, empty strings, what is no UTF-8."""

import os
import random
import subprocess
import sys

BERM = os.environ["BERM"]
SHIMS = os.environ["BERM_SHIMS"]
LINE = b'printf "%s\\0" "$#" "$@"'
SPECIAL = b"'\"\\!$`*?[]{}()<>|&;#~=%^ \t\n\r\x1b\x7f\x01-"
WAYS = [
    [BERM, "run", "--", "/bin/sh", "-c", LINE, "sh"],
    [BERM, "-c", LINE, "sh"],
    [SHIMS + "/sh", "-c", LINE, "sh"],
    [SHIMS + "/dash", "-c", LINE, "sh"],
    [SHIMS + "/bash", "-c", LINE, "bash"],
    [SHIMS + "/bash", "-euo", "pipefail", "-c", LINE, "bash"],
    [os.path.dirname(BERM) + "/berm-sh", "-c", LINE, "sh"],
    [SHIMS + "/bash", "vector.sh"],
]


def argument(rng):
    kind = rng.randrange(6)
    length = rng.choice((0, 1, 2, 3, 8, 30, 200))
    if kind == 0:
        return b""
    if kind <= 2:
        return bytes(rng.choice(SPECIAL) for _ in range(length))
    if kind == 3:
        return rng.choice((b"--", b"-c", b"--allow-read=/", b"--policy=x", b"--help", b"-", b"=", b"--berm"))
    return bytes(rng.randrange(1, 256) for _ in range(length))


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    with open("vector.sh", "wb") as script:
        script.write(LINE + b"\n")
    failed = 0
    for number in range(count):
        vector = [argument(rng) for _ in range(rng.randrange(0, 12))]
        way = WAYS[number % len(WAYS)]
        wanted = b"".join(part + b"\0" for part in [str(len(vector)).encode(), *vector])
        # printf prints one empty string for no arguments at all: there is always the count.
        done = subprocess.run([*way, *vector], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0 or done.stdout != wanted or done.stderr:
            failed += 1
            print(f"seed {seed}, vector {number}, {way[0]}: {vector!r}\n  came as {done.stdout!r} {done.stderr!r}")
    print(f"{count - failed} of {count} vectors arrived (seed {seed})")
    sys.exit(1 if failed or count == 0 else 0)


main()
