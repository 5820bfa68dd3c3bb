# SPDX-License-Identifier: Apache-2.0
"""The other end of a network of the test's own: a name server and web servers in a network namespace without any way out.

internet.py DIRECTORY: waits for DIRECTORY/go, serves, writes DIRECTORY/ready. Names that were asked for go to DIRECTORY/names,
requests to DIRECTORY/requests (address, host, first line), connections to DIRECTORY/arrivals."""
import ctypes
import hashlib
import http.server
import io
import json
import os
import signal
import socket
import socketserver
import ssl
import struct
import sys
import tarfile
import threading
import time
import zipfile

directory = sys.argv[1]
site = os.path.join(directory, "site")
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: ends with the test

PUBLIC = "11.22.33.44"
PUBLIC_V6 = "2a00:1::44"
NAMES = {
    "allowed.test": [PUBLIC],
    "denied.test": [PUBLIC],
    "registry.test": [PUBLIC],
    "sub.wild.test": [PUBLIC],
    "six.test": [PUBLIC_V6],
    "private.test": ["10.1.2.3"],
    "meta.test": ["169.254.169.254"],
    "meta6.test": ["fd00:ec2::254"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "nat64.test": ["64:ff9b::7f00:1"],
    "loop.test": ["127.0.0.1"],
    "zero.test": ["0.0.0.0"],
    "own.test": ["11.22.33.1"],
    "mixed.test": [PUBLIC, "127.0.0.1"],
    "big.test": [PUBLIC] * 40,
    "gone.test": ["11.22.33.99"],  # no such machine
}
rebinding = {}  # what each question was answered: one that is asked again is answered again


def note(name, line):
    with open(os.path.join(directory, name), "a") as file:
        file.write(line + "\n")


def addresses_of(name, asked):
    if name == "rebind.test":  # public for the first query of each address family, then the loopback
        return rebinding.setdefault(asked, [PUBLIC] if len(rebinding) < 2 else ["127.0.0.1"])
    return NAMES.get(name)


def answer(query, is_tcp):
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    name = ".".join(labels).lower()
    kind = struct.unpack(">H", query[at + 1 : at + 3])[0]
    question = query[12 : at + 5]
    note("names", name)
    if name == "slow.test":
        return None
    records, count = b"", 0
    owner = b"\xc0\x0c"
    if name == "alias.test":
        target = b"\x07allowed\x04test\x00"
        records += owner + struct.pack(">HHIH", 5, 1, 60, len(target)) + target
        count, name, owner = 1, "allowed.test", target
    found = addresses_of(name, query[:2])
    if found is None:
        return query[:2] + b"\x81\x83" + b"\0\1\0\0\0\0\0\0" + question
    for text in found:
        is_v6 = ":" in text
        if (kind == 28) != is_v6 or kind not in (1, 28):
            continue
        data = socket.inet_pton(socket.AF_INET6 if is_v6 else socket.AF_INET, text)
        records += owner + struct.pack(">HHIH", kind, 1, 60, len(data)) + data
        count += 1
    if len(records) > 400 and not is_tcp:
        return query[:2] + b"\x83\x80" + b"\0\1\0\0\0\0\0\0" + question
    return query[:2] + b"\x81\x80" + struct.pack(">HHHH", 1, count, 0, 0) + question + records


def serve_names(address):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 53))
    while True:
        query, peer = server.recvfrom(2048)
        reply = answer(query, False)
        if reply:
            server.sendto(reply, peer)


def serve_names_tcp(address):
    server = socket.create_server((address, 53))
    while True:
        connection, _ = server.accept()
        size = struct.unpack(">H", connection.recv(2))[0]
        reply = answer(connection.recv(size), True)
        # In two parts, so that a reader that takes one for all is caught.
        connection.sendall(struct.pack(">H", len(reply)) + reply[:5])
        time.sleep(0.05)
        connection.sendall(reply[5:])
        connection.close()


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=site)

    def log_message(self, *_):
        pass

    def parse_request(self):
        if not super().parse_request():
            return False
        note("requests", "%s %s %s" % (self.connection.getsockname()[0], self.headers.get("Host"), self.requestline))
        for name in ("Proxy-Authorization", "Proxy-Connection"):
            if self.headers.get(name):
                note("leaks", name)
        return True

    def do_POST(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while True:
                size = int(self.rfile.readline(), 16)
                body += self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    break
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.reply(hashlib.sha256(body).hexdigest().encode())

    def do_GET(self):
        if self.path == "/host":
            self.reply(self.headers["Host"].encode())
        elif self.path == "/slow":
            time.sleep(1)
            self.reply(b"late")
        else:
            super().do_GET()

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64
    allow_reuse_address = True

    def __init__(self, address):
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, Handler)

    def server_bind(self):
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, *_):
        pass

    def get_request(self):
        connection, peer = super().get_request()
        note("arrivals", "%s %s" % self.server_address[:2])
        return connection, peer


def make_packages():
    """A package for npm and one for pip, and what their indexes say of them."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, text in (("package.json", '{"name":"tinypkg","version":"1.0.0"}'), ("index.js", "module.exports = 42\n")):
            entry = tarfile.TarInfo("package/" + name)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    data = archive.getvalue()
    os.makedirs(os.path.join(site, "simple", "tinypkg"))
    with open(os.path.join(site, "tinypkg-1.0.0.tgz"), "wb") as file:
        file.write(data)
    for host in ("registry.test", "denied.test"):
        about = {
            "name": "tinypkg",
            "dist-tags": {"latest": "1.0.0"},
            "versions": {
                "1.0.0": {
                    "name": "tinypkg",
                    "version": "1.0.0",
                    "dist": {
                        "tarball": "http://%s/tinypkg-1.0.0.tgz" % host,
                        "shasum": hashlib.sha1(data).hexdigest(),
                    },
                }
            },
        }
        os.makedirs(os.path.join(site, "npm-" + host.split(".")[0]))
        with open(os.path.join(site, "npm-" + host.split(".")[0], "tinypkg"), "w") as file:
            json.dump(about, file)
    wheel = "tinypkg-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(site, "simple", "tinypkg", wheel), "w") as archive:
        archive.writestr("tinypkg.py", "value = 42\n")
        archive.writestr("tinypkg-1.0.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tinypkg\nVersion: 1.0.0\n")
        archive.writestr("tinypkg-1.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tinypkg-1.0.0.dist-info/RECORD", "")
    with open(os.path.join(site, "simple", "tinypkg", "index.html"), "w") as file:
        file.write('<a href="%s">%s</a>\n' % (wheel, wheel))
    with open(os.path.join(site, "hello"), "w") as file:
        file.write("hello\n")
    with open(os.path.join(site, "large"), "wb") as file:
        file.write(bytes(range(256)) * 32768)


def in_background(function, *arguments):
    threading.Thread(target=function, args=arguments, daemon=True).start()


def main():
    make_packages()
    while not os.path.exists(os.path.join(directory, "go")):
        time.sleep(0.01)
    in_background(serve_names, "11.22.33.53")
    in_background(serve_names_tcp, "11.22.33.53")
    for address in ("11.22.33.44", "10.1.2.3", "169.254.169.254", "2a00:1::44", "fd00:ec2::254"):
        in_background(Server((address, 80)).serve_forever)
    secure = Server((PUBLIC, 443))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(directory, "certificate"), os.path.join(directory, "key"))
    secure.socket = context.wrap_socket(secure.socket, server_side=True)
    in_background(secure.serve_forever)
    open(os.path.join(directory, "ready"), "w").close()
    signal.pause()


main()
