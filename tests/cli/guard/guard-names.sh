#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every name of the table of names that programs of the host obey (docs/planting.md), absent at launch, made in every everyday way: echo, mkdir,
# mv, ln, ln -s, cp -r, an exchange, an unnamed file that is linked, tar, python. A process of the host polls for all of them all the time
# and sees none. Without berm it sees each. BERM_LONG=1: ten rounds.
. "$(dirname "$0")/../support/lib.sh"

if ! "$BERM" run --strict -- true 2>"$scratch/err"; then
	echo "the guard cannot be had here: $(head -n 1 "$scratch/err")"
	exit 77
fi
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
rounds=${BERM_LONG:+10}
rounds=${rounds:-1}

# The names, from the one table: a star becomes a letter, and what may be anywhere is looked for in the root. Names of submodules that do
# not exist yet are looked at after the run.
awk '/^<!-- protect -->/ { on = 1 } /^### / { on = 0 } on && /^\|/ { split($0, cell, "|"); print cell[2] }' "$BERM_SOURCE_DIR/docs/planting.md" |
	grep -o '`[^`]*`' | tr -d '`' | grep -v '/modules/' | sed -e 's,^\*\*/,,' -e 's,/\*\*/,/x/,g' -e 's,\*,x,g' | sort -u >"$scratch/names"
count=$(wc -l <"$scratch/names")
expect "the table has many names: $count" test "$count" -gt 120
for name in .git/commondir .git/hooks .git/config.worktree .git/info/attributes .claude .mcp.json berm.yml .vscode .envrc .github/hooks; do
	expect "it has $name" grep -qxF "$name" "$scratch/names"
done

cat >"$scratch/make.py" <<'END_OF_PROGRAM'
import ctypes, os, shutil, subprocess, sys, tarfile
libc = ctypes.CDLL(None, use_errno=True)
names = [line.rstrip("\n") for line in open(sys.argv[1])]
ways = {}
def way(function): ways[function.__name__] = function; return function
def holder(path):
    if os.path.dirname(path): os.makedirs(os.path.dirname(path), exist_ok=True)
def fresh(name, is_directory=False):
    shutil.rmtree("work", ignore_errors=True)
    os.makedirs("work")
    path = "work/" + name
    holder(path)
    if is_directory: os.mkdir(path); path += "/file"
    with open(path, "w") as file: file.write("x\n")
    return "work/" + name
@way
def echo(name): subprocess.run(["/bin/sh", "-c", 'echo x >"$0"', name], stderr=subprocess.DEVNULL)
@way
def mkdir(name): os.mkdir(name)
@way
def mv(name): os.rename(fresh("file"), name)
@way
def mv_directory(name): os.rename(fresh("file", True), name)
@way
def ln(name): os.link(fresh("file"), name)
@way
def ln_s(name): os.symlink(fresh("file"), name)
@way
def ln_s_directory(name): os.symlink(fresh("file", True), name)
@way
def cp_r(name):
    fresh(name, True)
    subprocess.run(["cp", "-r", "work/.", "."], stderr=subprocess.DEVNULL)
@way
def exchange(name):
    source = fresh("file")
    top = name.split("/")[0] if "/" in name and not name.startswith(".git/") else name
    if top != name:
        shutil.rmtree("work"); os.makedirs("work/" + os.path.dirname(name)); open("work/" + name, "w").close()
        os.makedirs(top, exist_ok=True); source = "work/" + top
    else: open("other", "w").close(); libc.renameat2(-100, b"other", -100, name.encode(), 0)
    libc.renameat2(-100, source.encode(), -100, top.encode(), 2)
@way
def unnamed(name):
    fd = os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o644)
    libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, name.encode(), 0x400)
    os.close(fd)
@way
def tar(name):
    fresh(name)
    subprocess.run(["tar", "cf", "work.tar", "-C", "work", "."], stderr=subprocess.DEVNULL)
    subprocess.run(["tar", "xf", "work.tar"], stderr=subprocess.DEVNULL)
@way
def python(name):
    with open(name, "w") as file: file.write("x\n")
for round in range(int(sys.argv[2])):
    for name in names:
        for label, make in ways.items():
            try:
                holder(name)
                make(name)
            except OSError: pass
            if os.path.lexists(name): print("made", name, label)
            if os.path.isdir(name) and not os.path.islink(name): shutil.rmtree(name, ignore_errors=True)
            elif os.path.lexists(name):
                try: os.unlink(name)
                except OSError: pass
print("END")
END_OF_PROGRAM

# The poll of the host: writes each name that it sees once, until the file `over` is there.
cat >"$scratch/poll.py" <<'END_OF_PROGRAM'
import os, sys
names = [line.rstrip("\n") for line in open(sys.argv[1])]
seen = set(); rounds = 0
open(sys.argv[2] + ".started", "w").close()
while not os.path.exists(sys.argv[2] + ".over"):
    rounds += 1
    for name in names:
        if os.path.lexists(name): seen.add(name)
with open(sys.argv[2], "w") as out: out.write("rounds %d\n" % rounds + "".join(sorted("seen %s\n" % name for name in seen)))
END_OF_PROGRAM

# watch LABEL COMMAND...: runs the command while the host polls. Both have written LABEL.made and LABEL.seen afterwards.
watch() {
	local label=$1 poller
	shift
	rm -f "$scratch/$label.seen"*
	python3 "$scratch/poll.py" "$scratch/names" "$scratch/$label.seen" &
	poller=$!
	until_true test -e "$scratch/$label.seen.started"
	"$@" >"$scratch/$label.made" 2>"$scratch/$label.err"
	: >"$scratch/$label.seen.over"
	wait "$poller"
}

renew() {
	cd "$scratch" && rm -rf project && mkdir project && cd project && git init -q . && rm -rf .git/hooks .git/info/attributes .git/config && mkdir src || exit 1
	cp "$scratch/names" src/names
	cp "$scratch/make.py" src/make.py
}
sees_all() {
	local name missing=0
	while read -r name; do
		grep -qxF "made $name python" "$scratch/bare.made" || grep -qF "made $name " "$scratch/bare.made" || { echo "never made: $name"; missing=1; }
	done <"$scratch/names"
	return $missing
}

renew
watch bare python3 src/make.py src/names 1
expect "control: bare, it ends" grep -qx END "$scratch/bare.made"
expect "control: bare, each name is made: $(sees_all | head -n 3 | tr '\n' ' ')" sees_all
for label in echo mkdir mv mv_directory ln ln_s ln_s_directory cp_r exchange unnamed tar python; do
	expect "control: bare, $label makes names" test "$(grep -c " $label\$" "$scratch/bare.made")" -gt 100
done
expect "control: bare, the host sees names" test "$(grep -c '^seen' "$scratch/bare.seen")" -gt 50

renew
watch strict "$BERM" run --strict -- /usr/bin/python3 src/make.py src/names "$rounds"
expect "inside, it ends: $(head -c 300 "$scratch/strict.err")" grep -qx END "$scratch/strict.made"
expect_equal "inside, none is made" "" "$(grep '^made' "$scratch/strict.made" | head -n 5)"
expect_equal "the host sees none" "" "$(grep '^seen' "$scratch/strict.seen" | head -n 5)"
expect "the host has looked" test "$(sed -n 's/^rounds //p' "$scratch/strict.seen")" -gt 10
left=$(while read -r name; do [ ! -e "$name" ] && [ ! -L "$name" ] || echo "$name"; done <"$scratch/names")
expect_equal "none is left" "" "$left"
finish
