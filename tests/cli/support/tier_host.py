#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The host's side: a process of the same user that can be signalled, traced and connected to. Writes what it offers to DIRECTORY/offer as
shell variables, and appends one word to DIRECTORY/heard for everything that reaches it. Ends with SIGTERM and takes everything away."""
import ctypes
import os
import selectors
import signal
import socket
import sys

directory = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
rt = ctypes.CDLL("librt.so.1", use_errno=True)
KEY, QUEUE = 0x62000000 + os.getpid(), b"/berm-tier-%d" % os.getpid()


def heard(word):
    with open(directory + "/heard", "a") as file:
        file.write(word + "\n")


def leave(*_):
    libc.shmctl(memory, 0, None)
    rt.mq_unlink(QUEUE)
    os._exit(0)


libc.prctl(0x59616D61, ctypes.c_ulong(-1 & (2**64 - 1)), 0, 0, 0)  # Yama: every process of this user may trace it
memory = libc.shmget(KEY, 4096, 0o600 | 0o1000)
rt.mq_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]
queue = rt.mq_open(QUEUE, os.O_RDWR | os.O_CREAT, 0o600, None)
signal.signal(signal.SIGUSR1, lambda *_: heard("signal"))
# SIGUSR2 asks for DIRECTORY/all-heard once everything that had arrived by then is noted.
asked = []
signal.signal(signal.SIGUSR2, lambda *_: asked.append(True))
awake, waker = socket.socketpair()
waker.setblocking(False)
signal.set_wakeup_fd(waker.fileno())
signal.signal(signal.SIGTERM, leave)

offer = {"host_pid": os.getpid(), "host_shm": KEY, "host_mq": QUEUE.decode(), "host_has_mq": int(queue >= 0)}
selector = selectors.DefaultSelector()


def listen(name, family, kind, address):
    server = socket.socket(family, kind)
    try:
        server.bind(address)
    except OSError:
        offer[name] = ""
        return
    if kind == socket.SOCK_STREAM:
        server.listen()
    offer[name] = server.getsockname()[1] if family != socket.AF_UNIX else address.replace("\0", "@")
    selector.register(server, selectors.EVENT_READ, name)


listen("host_tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
listen("host_tcp6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0))
listen("host_udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
listen("host_abstract", socket.AF_UNIX, socket.SOCK_STREAM, "\0berm-tier-%d" % os.getpid())
listen("host_unix", socket.AF_UNIX, socket.SOCK_STREAM, directory + "/unix")

with open(directory + "/offer.new", "w") as file:
    for name, value in offer.items():
        file.write(f"{name}={value}\n")
os.rename(directory + "/offer.new", directory + "/offer")
selector.register(awake, selectors.EVENT_READ)
while True:
    was_asked = bool(asked)
    ready = selector.select(0 if was_asked else None)
    if was_asked and not ready:
        asked.clear()
        with open(directory + "/all-heard", "w"):
            pass
    for key, _ in ready:
        if key.fileobj is awake:
            awake.recv(100)
            continue
        if key.fileobj.type == socket.SOCK_STREAM:
            key.fileobj.accept()[0].close()
        else:
            key.fileobj.recv(100)
        heard(key.data)
