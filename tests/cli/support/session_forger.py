# SPDX-License-Identifier: Apache-2.0
"""Sends forged requests to a session: session_forger.py SOCKET RECORD MARK. MARK is a file that a command would make."""
import array
import os
import random
import socket
import struct
import sys

path, record, mark = sys.argv[1:4]
fields = dict(line.split(" ", 1) for line in open(record).read().split("\n") if " " in line)
token, identity = fields["token"].encode(), fields["identity"].encode()
CALLER = "IiiiQQ16Q16QQ"
HEAD = "8sII64s64s4x" if False else "=8sII64s64s"


def head(length, kind=1, key=token, plan=identity, counts=(1, 0, 1), results=1):
    caller = struct.pack("=IiiiQQ16Q16QQ", 0o22, 0, 0, 0, 0, 0, *([2**64 - 1] * 32), 0)
    return struct.pack(HEAD, b"bermjoi1", kind, length, key, plan) + caller + struct.pack("=IIII", *counts, results)


def send(packets, fds=(0, 1, 2)):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(5)
    fd = os.open(os.path.dirname(path), os.O_PATH)
    s.connect(f"/proc/self/fd/{fd}/{os.path.basename(path)}")
    try:
        for i, packet in enumerate(packets):
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds and i == 0 else []
            s.sendmsg([packet], rights)
        while s.recv(65536):
            pass
    except (BrokenPipeError, ConnectionResetError):
        pass
    s.close()
    os.close(fd)


body = b"/\0touch\0/usr/bin/touch\0r"
size = len(head(0))
good = head(size + len(body)) + body
send([good])  # its scan results are damaged
send([good[: size - 1]])
send([head(size + len(body), key=b"0" * 64) + body])
send([head(size + len(body), plan=b"0" * 64) + body])
send([head(size + len(body), kind=9) + body])
send([head(2**32 - 1) + body])
send([head(size + len(body) - 1) + body])
send([head(size + len(body), counts=(2**31, 2**31, 2**31)) + body])
send([head(size + len(body), counts=(0, 0, 1)) + body])
send([head(size + len(body), results=2**32 - 1) + body])
send([good], fds=())
send([good], fds=(0,))
send([good], fds=tuple([0] * 30))
send([b""])
send([b"x" * 100])
directory = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
send([good], fds=(directory, 1, 2))
generator = random.Random(1)
for _ in range(100):
    bytes_ = bytearray(good)
    for _ in range(generator.randrange(1, 8)):
        bytes_[generator.randrange(len(bytes_))] = generator.randrange(256)
    if bytes_[12:16] == good[12:16] or generator.random() < 0.5:
        bytes_[12:16] = good[12:16]
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    fd = os.open(os.path.dirname(path), os.O_PATH)
    s.connect(f"/proc/self/fd/{fd}/{os.path.basename(path)}")
    s.sendmsg([bytes(bytes_)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", (0, 1, 2)))])
    s.close()
    os.close(fd)
