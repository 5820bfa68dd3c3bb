# SPDX-License-Identifier: Apache-2.0
"""Random command lines from a small grammar, run bare, by `berm run -- sh -c` and by `berm -c`. Output, errors, status and the files
they leave have to be the same. A seed gives the same lines everywhere."""

import argparse
import concurrent.futures
import os
import random
import shutil
import subprocess
import sys

BERM = os.environ["BERM"]
SECONDS = 120
WORKERS = 4

ODD = [b"", b" ", b"a b", b"'", b'"', b"\\", b"\\n", b"\n", b"a\nb\n", b"\t", b"$HOME", b"`id`", b"$(id)", b"*", b"?", b"[a]", b"~", b"!", b"!!",
       b"-n", b"--", b"-e", b"%s", b"%", b"#", b";", b"&", b"|", b"<", b">", b"\xff", b"\xc3\xa9", b"\xe2\x80\xae", b"\x01\x1b[31m", b"=", b"A=b", b"x" * 3000]
INPUTS = [b"", b"one\ntwo\nthree\n", b"no newline", b"\0\1\2\xff\n" * 50, b"line\n" * 5000]
SIGNALS = [1, 2, 3, 6, 8, 9, 10, 12, 13, 14, 15, 34]


def quote(word):
    return b"'" + word.replace(b"'", b"'\\''") + b"'"


class Grammar:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def number(self, high):
        return b"%d" % self.random.randrange(high)

    def word(self):
        if self.random.random() < 0.5:
            return quote(self.random.choice(ODD))
        return quote(bytes(self.random.choice(b"abcxyz019 ._-/") for _ in range(self.random.randrange(1, 9))))

    def words(self):
        return b" ".join(self.word() for _ in range(self.random.randrange(0, 4)))

    def file(self):
        return self.random.choice([b"f", b"g", b"'a b'", b"d/h"])

    def simple(self):
        return self.random.choice([
            lambda: b"echo " + self.words(),
            lambda: b"printf '%s|' x " + self.words(),
            lambda: b"printf '\\" + self.random.choice([b"101", b"0", b"n", b"377"]) + b"'",
            lambda: b"/usr/bin/printf '%s\\n' x " + self.words(),
            lambda: b"cat",
            lambda: b"cat " + self.file(),
            lambda: b"wc -c",
            lambda: b"head -c " + self.number(9),
            lambda: b"sed 's/o/0/'",
            lambda: b"tr a-z A-Z",
            lambda: b"sort",
            lambda: b"seq " + self.number(30),
            lambda: b"ls -A .",
            lambda: b"true",
            lambda: b"false",
            lambda: b"exit " + self.number(256),
            lambda: b"test -s " + self.file(),
            lambda: b"mkdir -p d",
            lambda: b"rm -f " + self.file(),
            lambda: b"cp f g",
            lambda: b"umask",
            lambda: b"no-such-command " + self.word(),
            lambda: b"./f",
            lambda: b"sh -c 'kill -%d $$'" % self.random.choice(SIGNALS),
            lambda: b"X=" + self.word() + b" printenv X",
            lambda: b"env -i A=" + self.word() + b" /usr/bin/env",
            lambda: b"Y=" + self.word() + b"; echo \"<$Y>\"",
            lambda: b"echo $#",
            lambda: b"set -- " + self.words() + b"; echo \"$#\"",
            lambda: b"echo $((" + self.number(99) + b" * " + self.number(99) + b"))",
            lambda: b"dd if=/dev/zero bs=1000 count=" + self.number(9) + b" 2>/dev/null",
            lambda: b"echo x >&" + self.random.choice([b"1", b"2", b"7"]),
        ])()

    def source(self):
        return self.random.choice([
            lambda: b"echo " + self.words(),
            lambda: b"printf '%s\\n' x " + self.words(),
            lambda: b"seq " + self.number(2000),
            lambda: b"dd if=/dev/zero bs=1000 count=" + self.number(900) + b" 2>/dev/null",
            lambda: b"yes 2>/dev/null | head -n " + self.number(9000),
            lambda: b"{ exit " + self.number(9) + b"; }",
        ])()

    def line(self, depth=3):
        if depth == 0 or self.random.random() < 0.25:
            return self.simple()
        one, other = (lambda: self.line(depth - 1)), (lambda: self.line(depth - 1))
        return self.random.choice([
            # Both ends of a pipe run at once: one of them has to be quiet and leave files alone, or a line would not even agree with itself.
            lambda: self.source() + b" | " + one(),
            lambda: self.source() + b" | tr a-z A-Z 2>/dev/null | " + one(),
            lambda: one() + b" | wc -l 2>/dev/null",
            lambda: one() + b"; " + other(),
            lambda: one() + b" && " + other(),
            lambda: one() + b" || " + other(),
            lambda: b"(" + one() + b")",
            lambda: b"{ " + one() + b"; }",
            lambda: b"! " + one(),
            lambda: b"{ " + one() + b"; } >" + self.file(),
            lambda: b"{ " + one() + b"; } >>" + self.file(),
            lambda: b"{ " + one() + b"; } 2>&1",
            lambda: b"{ " + one() + b"; } 2>/dev/null",
            lambda: b"{ " + one() + b"; } >&-",
            lambda: b"{ " + one() + b"; } <&-",
            lambda: b"{ " + one() + b"; } <" + self.file(),
            lambda: b"{ cat <<'END'\n" + self.random.choice([b"text", b"$HOME `id`", b"\xff"]) + b"\nEND\n} && " + one(),
            lambda: b"cat <<END\n$((1 + 1)) $Y\nEND\n" + one(),
            # A background process group, always waited for: leftover processes differ by design.
            lambda: b"{ { " + one() + b"; } & wait $!; echo \"waited $?\"; }",
            lambda: b"echo \"got <$(" + one() + b")>\"",
            lambda: b"if " + one() + b"; then echo yes; else echo no; fi",
            lambda: b"for i in 1 2; do " + one() + b"; done",
            lambda: b"{ " + one() + b"; } | while read -r l; do printf '%s.' \"$l\"; done 2>/dev/null",
            lambda: b"case " + self.word() + b" in a*) " + one() + b" ;; *) echo other ;; esac",
            lambda: b"(trap 'echo end' EXIT; " + one() + b")",
            lambda: b"f() { " + one() + b"; }; f " + self.words(),
            lambda: b"mkdir -p d && cd d && { " + one() + b"; }",
        ])()


    def top(self):
        """Signals to the shell itself only here: in a subshell they would end the shell and leave the subshell, which berm does not."""
        line, chance = self.line(), self.random.random()
        if chance < 0.1:
            return b"trap 'echo caught' USR1; kill -USR1 $$; " + line
        if chance < 0.25:
            return line + b"\nkill -%d $$\necho survived" % self.random.choice(SIGNALS)
        return line


def left_behind(directory):
    """Every file with its content, for comparison."""
    found = []
    for root, directories, files in os.walk(directory):
        for name in directories + files:
            path = os.path.join(root, name)
            content = open(path, "rb").read() if os.path.isfile(path) else b""
            found.append((os.path.relpath(path, directory), os.stat(path).st_mode, content))
    return sorted(found)


def run(argv, directory, data):
    """Status as a shell gives it, output, errors, files."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    with open(os.path.join(directory, "f"), "w", encoding="ascii") as file:
        file.write("first\nsecond\n")
    try:
        done = subprocess.run(argv, cwd=directory, input=data, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "time is over", b"", b"", []
    status = 128 - done.returncode if done.returncode < 0 else done.returncode
    return status, done.stdout, done.stderr, left_behind(directory)


def compare(case):
    """None, or what differs."""
    line, data, number = case
    directory = os.path.join(os.getcwd(), f"worker{os.getpid()}", "here")
    bare = run([b"/bin/sh", b"-c", line], directory, data)
    for name, argv in (("berm run", [BERM, "run", "--", "/bin/sh", "-c", line]), ("berm -c", [BERM, "-c", line])):
        inside = run(argv, directory, data)
        if inside != bare:
            return f"line {number}, {name}: {line!r}\n  with input {data[:40]!r}\n  bare   {bare[:3]!r:.600}\n  inside {inside[:3]!r:.600}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lines", type=int, default=300)
    options = parser.parse_args()

    grammar = Grammar(options.seed)
    cases = [(grammar.top(), grammar.random.choice(INPUTS), number) for number in range(options.lines)]
    with concurrent.futures.ProcessPoolExecutor(WORKERS) as pool:
        differences = [difference for difference in pool.map(compare, cases) if difference]
    for difference in differences[:20]:
        print("FAIL", difference)
    print(f"{options.lines - len(differences)} of {options.lines} command lines agree (seed {options.seed})")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
