# SPDX-License-Identifier: Apache-2.0
"""A socket in the place of a bus that is none: not_a_bus.py SOCKET MODE READY. READY is made when it listens. Modes: `mute` says nothing,
`prattle` a line that does not end, `reject` lets nobody in; the others let in, and then `leave` hangs up, `garbage` answers in bytes,
`huge` claims a message of 4 GB, `spoilt` sends one whose field has a type that does not exist."""
import pathlib
import socket
import struct
import sys
import time

path, mode, ready = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(9)
pathlib.Path(ready).touch()
order = "<" if sys.byteorder == "little" else ">"
mark = b"l" if sys.byteorder == "little" else b"B"


def head(fields, body):
    return mark + bytes([2, 0, 1]) + struct.pack(order + "III", body, 1, fields)


answers = {
    "garbage": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "huge": head(16, 0xFFFFFFF0) + bytes(64),
    "spoilt": head(8, 0) + b"\x05\x01!\x00\x01\x00\x00\x00",
}
while True:
    connection, _ = listener.accept()
    try:
        if mode == "mute":
            time.sleep(60)
        if mode == "prattle":
            connection.sendall(b"x" * 2000)
            time.sleep(60)
        connection.recv(1000)
        if mode == "reject":
            connection.sendall(b"REJECTED EXTERNAL\r\n")
            time.sleep(60)
        connection.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n")
        connection.recv(1000)
        if mode != "leave":
            connection.sendall(answers[mode])
            time.sleep(60)
    except OSError:
        pass
    connection.close()
