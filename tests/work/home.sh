#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The private home and /tmp, and what programs do with files: temporary files, sockets, locks, databases, watches, links, long paths.
. "$(dirname "$0")/support/lib.sh"
need python3 flock

works_sh "the home and /tmp are where they always are" 'echo "$HOME"; cd; pwd; echo ~; test -w ~ -a -w /tmp -a -w /var/tmp; getent passwd "$(id -u)" | cut -d: -f6; echo "${TMPDIR:-/tmp}"'
expect_equal "one path for all" "$HOME
$HOME
$HOME
$HOME
/tmp" "$out"
works_sh "mktemp" 'a=$(mktemp); b=$(mktemp -d); echo x >"$a"; echo x >"$b/x"; rm -r "$a" "$b"; mktemp -p /var/tmp'
works_sh "modes are kept" 'umask 077; touch ~/secret; stat -c %a ~/secret; mkdir -m 1777 /tmp/sticky; stat -c %a /tmp/sticky; stat -c %a /tmp'
expect_equal "as set" "600
1777
1777" "$out"

# Kept from run to run, and not seen outside.
works_sh "dotfiles" 'echo mine >~/.profile-of-mine; mkdir -p ~/.config/tool ~/.local/bin; printf "#!/bin/sh\necho a tool of mine\n" >~/.local/bin/mine; chmod 755 ~/.local/bin/mine; echo t >/tmp/kept'
works_sh "are there the next time" 'cat ~/.profile-of-mine; ~/.local/bin/mine; cat /tmp/kept'
expect_equal "with their content" "mine
a tool of mine
t" "$out"
expect "but not in the real home" test ! -e "$HOME/.profile-of-mine"
expect "nor in the real /tmp" test ! -e /tmp/kept
works_sh "git config --global" 'git config --global alias.mine status; git config --global --list'
expect_contains "is private" alias.mine=status "$out"
works_sh "a file of 64 MB" 'dd if=/dev/zero of=~/large bs=1M count=64 status=none; stat -c %s ~/large; rm ~/large'

# What the real home holds is not there.
if $has_own_home; then
	works_sh "no key, no token, no start-up file of the real home" 'never cat ~/.ssh/id_ed25519; never cat ~/.npmrc; never cat ~/.bashrc; ls -A ~'
	works "bash starts without the user's .bashrc" bash -ic 'echo "${FROM_BASHRC:-none}"'
	expect_equal "it is not there" none "$out"
fi

cat >files.py <<'END'
import ctypes, fcntl, mmap, os, select, signal, socket, sqlite3, struct, subprocess, sys, tempfile, threading, time

def sockets(directory):
    """A stream server, an abstract one, a datagram pair and a passed descriptor."""
    for address in (os.path.join(directory, "socket"), "\0berm-test-abstract-%d" % os.getpid()):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(address)
            server.listen()
            client = socket.socket(socket.AF_UNIX)
            client.connect(address)
            peer, _ = server.accept()
            read_end, write_end = os.pipe()
            socket.send_fds(client, [b"fd"], [write_end])
            _, descriptors, _, _ = socket.recv_fds(peer, 16, 1)
            os.write(descriptors[0], b"through")
            assert os.read(read_end, 16) == b"through"
    os.unlink(os.path.join(directory, "socket"))
    os.mkfifo(os.path.join(directory, "fifo"))
    threading.Thread(target=lambda: open(os.path.join(directory, "fifo"), "w").write("x")).start()
    assert open(os.path.join(directory, "fifo")).read() == "x"
    os.unlink(os.path.join(directory, "fifo"))

def databases(directory):
    """Several writers, in both journal modes; a locked database is busy for others."""
    for mode in ("delete", "wal"):
        path = os.path.join(directory, f"{mode}.db")
        database = sqlite3.connect(path)
        assert database.execute(f"pragma journal_mode={mode}").fetchone()[0] == mode
        database.execute("create table t (n integer)")
        database.commit()
        code = ("import sqlite3, sys\nd = sqlite3.connect(sys.argv[1], timeout=60)\n"
                "for i in range(25):\n d.execute('insert into t values (?)', (i,))\n d.commit()\n")
        writers = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(3)]
        assert all(w.wait() == 0 for w in writers)
        assert database.execute("select count(*) from t").fetchone()[0] == 75
        database.execute("begin exclusive")
        other = sqlite3.connect(path, timeout=0)
        try:
            other.execute("insert into t values (1)")
            raise SystemExit("a locked database was written")
        except sqlite3.OperationalError as error:
            assert "locked" in str(error), error
        database.rollback()
        other.close()
        database.close()

def locks(directory):
    """flock, POSIX and open-file-description locks exclude another process."""
    path = os.path.join(directory, "lock")
    for lock in ("fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)", "fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)"):
        with open(path, "w") as f:
            eval(lock)
            code = f"import fcntl, sys\nf = open(sys.argv[1], 'w')\ntry:\n {lock}\nexcept OSError:\n sys.exit(3)\n"
            assert subprocess.call([sys.executable, "-c", code, path]) == 3, lock
        assert subprocess.call([sys.executable, "-c", code, path]) == 0, lock

def watches(directory):
    """inotify sees creation, change, renaming and removal."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_CLOEXEC)
    assert watch >= 0 and libc.inotify_add_watch(watch, directory.encode(), 0x3C6) >= 0, os.strerror(ctypes.get_errno())
    path = os.path.join(directory, "watched")
    subprocess.run(["sh", "-c", 'echo x >"$1"; chmod 600 "$1"; mv "$1" "$1.2"; rm "$1.2"', "sh", path], check=True)
    seen, deadline = 0, time.time() + 10
    while seen & 0x3C6 != 0x3C6 - 0 and time.time() < deadline:
        if not select.select([watch], [], [], 0.5)[0]:
            break
        data = os.read(watch, 65536)
        while data:
            _, mask, _, length = struct.unpack_from("iIII", data)
            seen |= mask
            data = data[16 + length:]
    assert seen & 0x3C6 == 0x3C6, hex(seen)

def names(directory):
    """Symlinks, hard links, rename, exchange, long and odd names, deep paths."""
    os.chdir(directory)
    os.symlink("target", "symlink")
    open("target", "w").write("x")
    assert open("symlink").read() == "x"
    os.link("target", "hardlink")
    assert os.stat("target").st_nlink == 2
    os.rename("hardlink", "renamed")
    for name in ("n" * 255, "with blank", "new\nline", "ünïcödé 漢字 🙂", "-dash", "a\\b", b"\xff\xfe"):
        open(name, "w").close()
        os.unlink(name)
    open("Case", "w").write("upper")
    open("case", "w").write("lower")
    assert open("Case").read() == "upper"
    depth = 0
    while depth < 40:
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
        depth += 1
    open("deep", "w").write("deep")  # 8 kB below: only relative names reach it
    os.chdir(directory)
    subprocess.run(["rm", "-rf", "d" * 200], check=True)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.renameat2(-100, b"Case", -100, b"case", 2) == 0 and open("case").read() == "upper"
    for name in ("symlink", "target", "renamed", "Case", "case"):
        os.unlink(name)

def contents(directory):
    """Holes, mappings, preallocation, copying, attributes, O_TMPFILE, times."""
    path = os.path.join(directory, "content")
    with open(path, "w+b") as f:
        f.truncate(1 << 30)
        assert os.fstat(f.fileno()).st_blocks < 1000
        f.truncate(8192)
        os.posix_fallocate(f.fileno(), 0, 8192)
        with mmap.mmap(f.fileno(), 8192) as mapping:
            mapping[0:5] = b"hello"
            mapping.flush()
        os.fsync(f.fileno())
        with open(path + ".2", "wb") as g:
            assert os.copy_file_range(f.fileno(), g.fileno(), 5, 0) == 5
    assert open(path + ".2").read() == "hello"
    os.utime(path, (1, 2))
    assert os.stat(path).st_mtime == 2
    try:
        os.setxattr(path, "user.test", b"v")
        assert os.getxattr(path, "user.test") == b"v"
    except OSError as error:
        assert error.errno == 95, error  # not every file system has them
    with tempfile.TemporaryFile(dir=directory) as f:
        f.write(b"x")
    os.unlink(path)
    os.unlink(path + ".2")

for directory in sys.argv[1:]:
    place = tempfile.mkdtemp(dir=directory)
    for part in (sockets, databases, locks, watches, names, contents):
        try:
            part(place)
        except BaseException as error:
            sys.exit(f"{part.__name__} in {directory}: {error!r}")
    os.chdir("/")
    subprocess.run(["rm", "-rf", place], check=True)
END
# Control: all of this works outside.
expect "control: outside" python3 files.py "$project"
works "in the home" python3 files.py "$HOME"
works "in /tmp" python3 files.py /tmp
works "in the project" python3 files.py "$project"
expect_equal "the project is as it was" files.py "$(ls -A)"

# A hard link of a project file into the private home would carry it past the wall of another project: a different mount, so it fails.
echo content >linked
refused "a hard link from the project into the home" "Invalid cross-device link" ln linked "$HOME/linked"
works_sh "mv between project, home and /tmp copies" 'mv linked ~/; mv ~/linked /tmp/; mv /tmp/linked .; cat linked'
expect_equal "the content is the same" content "$out"
works_sh "flock(1) between two commands" 'flock /tmp/lock sh -c "echo >held; sleep 0.3; echo first >>order" & until [ -e held ]; do sleep 0.02; done; flock /tmp/lock sh -c "echo second >>order"; wait; cat order; rm order held'
expect_equal "in order" "first
second" "$out"

# Two runs at once in one project share the home; a lock works between them.
inside flock -x "$HOME/lock" sh -c 'echo ready >ready; sleep 1; echo first >>order' &
first=$!
until_true test -e ready
works_sh "a second run waits for the lock of the first" 'flock -x ~/lock sh -c "echo second >>order"'
wait "$first"
expect_equal "in order, between runs" "first second" "$(tr '\n' ' ' <order | sed 's/ $//')"

# Empty: new each time.
cat >berm.yml <<'END'
version: 1
home: empty
tmp: empty
END
works_sh "home: empty" 'test ! -e ~/.profile-of-mine -a ! -e ~/.local -a ! -e /tmp/kept; touch ~/x /tmp/x'
works_sh "and again" 'test ! -e ~/x -a ! -e /tmp/x'

finish_work
