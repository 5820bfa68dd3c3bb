#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks by name, each a few lines, each in a process of its own. Arguments are NAME=TARGET; for each one line says whether it "worked",
was "refused" and why, or "broke", which is a mistake here. Run bare first, as the control, and then behind the wall."""
import ctypes
import os
import resource
import signal
import socket
import sys

libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    """A function of the C library that returns -1 and errno."""
    result = getattr(libc, name)(*arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def read(path):
    with open(path, "rb") as file:
        file.read(1)


def append(path):
    with open(path, "ab") as file:
        file.write(b"x")


def truncate_by_opening(path):
    os.close(os.open(path, os.O_RDONLY | os.O_TRUNC))


def setmode_by_descriptor(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fchmod(descriptor, 0o640)


def setmode_through_link(path):
    os.symlink(path, "link-out-%d" % os.getpid())
    try:
        os.chmod("link-out-%d" % os.getpid(), 0o640)
    finally:
        os.unlink("link-out-%d" % os.getpid())


def setmode_relative(path):
    os.chdir(os.path.dirname(path))
    os.chmod("../" + os.path.basename(os.path.dirname(path)) + "/" + os.path.basename(path), 0o640)


def setmode_by_directory(path):
    directory = os.open(os.path.dirname(path), os.O_PATH)
    os.chmod(os.path.basename(path), 0o640, dir_fd=directory)


def link_in(path):
    os.link(path, "linked-in")
    os.unlink("linked-in")


def flags(path):
    """chattr +A through a descriptor that is open for reading (set to what it is already)."""
    import array
    import fcntl
    descriptor = os.open(path, os.O_RDONLY)
    value = array.array("i", [0])
    fcntl.ioctl(descriptor, 0x80086601, value)
    fcntl.ioctl(descriptor, 0x40086602, value)


def connect(port, kind=socket.SOCK_STREAM, family=socket.AF_INET):
    with socket.socket(family, kind) as peer:
        peer.settimeout(5)
        peer.connect(("127.0.0.1" if family == socket.AF_INET else "::1", int(port)))
        peer.send(b"x")


def connect_unix(name):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(5)
        peer.connect("\0" + name[1:] if name[0] == "@" else name)


def shared_memory(key):
    call("shmat", call("shmget", int(key), 4096, 0), None, 0)


def queue(name):
    rt = ctypes.CDLL("librt.so.1", use_errno=True)
    if rt.mq_open(name.encode(), os.O_RDONLY) == -1:
        raise OSError(ctypes.get_errno(), name)


def trace(pid):
    call("ptrace", 16, int(pid), 0, 0)
    os.waitpid(int(pid), 0)
    call("ptrace", 17, int(pid), 0, 0)


def io_priority(pid):
    """ioprio_set(IOPRIO_WHO_PROCESS, pid, best effort 7)"""
    number = {"x86_64": 251, "aarch64": 30}[os.uname().machine]
    call("syscall", number, 1, int(pid), (2 << 13) | 7)


attacks = {
    "read": read,
    "list": os.listdir,
    "key": read,
    "append": append,
    "create": lambda path: os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)),
    "mkdir": os.mkdir,
    "truncate": lambda path: os.truncate(path, 0),
    "truncate-by-opening": truncate_by_opening,
    "remove": os.unlink,
    "rename-away": lambda path: os.rename(path, "renamed-in"),
    "link-in": link_in,
    "chmod": lambda path: os.chmod(path, 0o640),
    "fchmod": setmode_by_descriptor,
    "chmod-link": setmode_through_link,
    "chmod-relative": setmode_relative,
    "chmod-at": setmode_by_directory,
    "chown": lambda path: os.chown(path, os.getuid(), os.getgid()),
    "utime": lambda path: os.utime(path, (1, 1)),
    "setxattr": lambda path: os.setxattr(path, "user.berm", b"1"),
    "removexattr": lambda path: os.removexattr(path, "user.berm"),
    "flags": flags,
    "tcp": connect,
    "tcp6": lambda port: connect(port, family=socket.AF_INET6),
    "udp": lambda port: connect(port, kind=socket.SOCK_DGRAM),
    "abstract": connect_unix,
    "unix": connect_unix,
    "shm": shared_memory,
    "mq": queue,
    "signal": lambda pid: os.kill(int(pid), signal.SIGUSR1),
    "signal-pidfd": lambda pid: signal.pidfd_send_signal(os.pidfd_open(int(pid)), signal.SIGUSR1),
    "renice": lambda pid: os.setpriority(os.PRIO_PROCESS, int(pid), 5),
    "affinity": lambda pid: os.sched_setaffinity(int(pid), os.sched_getaffinity(0)),
    "ionice": io_priority,
    "rlimit": lambda pid: resource.prlimit(int(pid), resource.RLIMIT_CORE, (0, 0)),
    "environ": lambda pid: read(f"/proc/{pid}/environ"),
    "mem": lambda pid: read(f"/proc/{pid}/maps"),
    "ptrace": trace,
}



def attempt(name, target):
    try:
        attacks[name](target)
        return "worked"
    except OSError as error:
        return f"refused: {error}"
    except Exception as error:  # pylint: disable=broad-except
        return f"broke: {error!r}"


for argument in sys.argv[1:]:
    name, target = argument.split("=", 1)
    child = os.fork()
    if child == 0:
        print(name, attempt(name, target), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
