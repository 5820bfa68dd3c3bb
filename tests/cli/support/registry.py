# SPDX-License-Identifier: Apache-2.0
"""A registry on loopback with one tiny package for each package manager.

registry.py DIRECTORY: serves on a free port of 127.0.0.1, which it writes to DIRECTORY/port. A gem comes from DIRECTORY/gems, where
the test has built it. Requests go to DIRECTORY/requests. Ends with the test."""
import base64
import ctypes
import hashlib
import http.server
import io
import json
import os
import signal
import sys
import tarfile
import zipfile

directory = sys.argv[1]
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def make_tar(files):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            entry.mode = 0o644
            tar.addfile(entry, io.BytesIO(text.encode()))
    return archive.getvalue()


def make_zip(files):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        for name, text in files.items():
            out.writestr(name, text)
    return archive.getvalue()


NPM = make_tar({"package/package.json": '{"name":"tinypkg","version":"1.0.0"}', "package/index.js": "module.exports = 42\n"})
WHEEL = "tinypkg-1.0.0-py3-none-any.whl"
PIP = make_zip(
    {
        "tinypkg.py": "value = 42\n",
        "tinypkg-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tinypkg\nVersion: 1.0.0\n",
        "tinypkg-1.0.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "tinypkg-1.0.0.dist-info/RECORD": "",
    }
)
CRATE = make_tar(
    {
        "tinycrate-1.0.0/Cargo.toml": '[package]\nname = "tinycrate"\nversion = "1.0.0"\nedition = "2018"\n',
        "tinycrate-1.0.0/src/lib.rs": "pub fn value() -> i32 { 42 }\n",
    }
)
GO_MOD = "module tiny.test/tinymod\n\ngo 1.18\n"
GO = make_zip(
    {
        "tiny.test/tinymod@v1.0.0/go.mod": GO_MOD,
        "tiny.test/tinymod@v1.0.0/tiny.go": "package tinymod\n\nfunc Value() int { return 42 }\n",
    }
)
PHP = make_zip({"composer.json": '{"name": "acme/tiny"}', "tiny.php": "<?php function tiny() { return 42; }\n"})


def npm_about(base):
    dist = {
        "tarball": base + "/npm/tinypkg/-/tinypkg-1.0.0.tgz",
        "shasum": hashlib.sha1(NPM).hexdigest(),
        "integrity": "sha512-" + base64.b64encode(hashlib.sha512(NPM).digest()).decode(),
    }
    return {
        "name": "tinypkg",
        "dist-tags": {"latest": "1.0.0"},
        "time": {"1.0.0": "2020-01-01T00:00:00.000Z"},
        "versions": {"1.0.0": {"name": "tinypkg", "version": "1.0.0", "dist": dist}},
    }


def crate_line():
    about = {"name": "tinycrate", "vers": "1.0.0", "deps": [], "features": {}, "yanked": False}
    about["cksum"] = hashlib.sha256(CRATE).hexdigest()
    return json.dumps(about) + "\n"


def composer_about(base):
    package = {
        "name": "acme/tiny",
        "version": "1.0.0",
        "dist": {"type": "zip", "url": base + "/composer/tiny.zip", "shasum": hashlib.sha1(PHP).hexdigest()},
        "autoload": {"files": ["tiny.php"]},
    }
    return {"packages": {"acme/tiny": {"1.0.0": package}}}


def gem():
    with open(os.path.join(directory, "gems", "tinygem-1.0.0.gem"), "rb") as file:
        return file.read()


def gem_info():
    return "---\n1.0.0 |checksum:%s\n" % hashlib.sha256(gem()).hexdigest()


def gem_versions():
    return "created_at: 2020-01-01T00:00:00Z\n---\ntinygem 1.0.0 %s\n" % hashlib.md5(gem_info().encode()).hexdigest()


# By path; a text is encoded, a function is called with the address of this server.
ANSWERS = {
    "/npm/tinypkg": lambda base: json.dumps(npm_about(base)),
    "/npm/tinypkg/-/tinypkg-1.0.0.tgz": lambda base: NPM,
    "/simple/tinypkg/": lambda base: '<a href="%s">%s</a>\n' % (WHEEL, WHEEL),
    "/simple/tinypkg/" + WHEEL: lambda base: PIP,
    "/cargo/index/config.json": lambda base: json.dumps({"dl": base + "/cargo/dl", "api": base}),
    "/cargo/index/ti/ny/tinycrate": lambda base: crate_line(),
    "/cargo/dl/tinycrate/1.0.0/download": lambda base: CRATE,
    "/go/tiny.test/tinymod/@v/list": lambda base: "v1.0.0\n",
    "/go/tiny.test/tinymod/@v/v1.0.0.info": lambda base: '{"Version": "v1.0.0", "Time": "2020-01-01T00:00:00Z"}',
    "/go/tiny.test/tinymod/@latest": lambda base: '{"Version": "v1.0.0", "Time": "2020-01-01T00:00:00Z"}',
    "/go/tiny.test/tinymod/@v/v1.0.0.mod": lambda base: GO_MOD,
    "/go/tiny.test/tinymod/@v/v1.0.0.zip": lambda base: GO,
    "/ruby/versions": lambda base: gem_versions(),
    "/ruby/names": lambda base: "---\ntinygem\n",
    "/ruby/info/tinygem": lambda base: gem_info(),
    "/ruby/gems/tinygem-1.0.0.gem": lambda base: gem(),
    "/composer/packages.json": lambda base: json.dumps(composer_about(base)),
    "/composer/tiny.zip": lambda base: PHP,
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        with open(os.path.join(directory, "requests"), "a") as file:
            file.write(self.path + "\n")
        make = ANSWERS.get(self.path.split("?")[0])
        body = make("http://" + self.headers["Host"]) if make else b"absent"
        body = body.encode() if isinstance(body, str) else body
        self.send_response(200 if make else 404)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "text/html" if self.path.startswith("/simple/") else "application/octet-stream")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(os.path.join(directory, "port.new"), "w") as file:
    file.write(str(server.server_address[1]))
os.rename(os.path.join(directory, "port.new"), os.path.join(directory, "port"))
server.serve_forever()
