# SPDX-License-Identifier: Apache-2.0
"""Attempts of our own, to compare with what `berm doctor` found: run bare and inside, it prints {name: reached}. Names are
those of doctor; how they are made is not."""
import ctypes, json, os, signal, socket, subprocess, sys

world = json.loads(sys.argv[1])
found = {}


def attempt(name, action):
    try:
        found[name] = bool(action())
    except (OSError, subprocess.SubprocessError):
        found[name] = False


def append(path):
    with open(path, "a") as file:
        file.write("# planted\n")
    return True


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(20)
        client.connect(address)
    return True


def see(pid):
    with open(f"/proc/{pid}/cmdline") as file:
        return world["token"] in file.read()


def secret(path):
    with open(path) as file:
        return world["token"] in file.read()


def renamed():
    os.rename(f"{project}/.env.{here}", f"{project}/moved-{here}")
    return secret(f"{project}/moved-{here}")


def reopen():
    os.close(os.open("/proc/self/fd/0", os.O_WRONLY))
    return True


def namespace():
    return subprocess.run(["/usr/bin/unshare", "--user", "true"], capture_output=True).returncode == 0


project, outside, readable, here = world["project"], world["outside"], world["readable"], world["here"]
attempt("write-outside", lambda: append(f"{outside}/made-{here}"))
attempt("write-visible", lambda: append(f"{readable}/file"))
attempt("reopen-input", reopen)
attempt("read-denied", lambda: secret(f"{project}/.env"))
attempt("read-renamed", renamed)
attempt("plant-hook", lambda: append(f"{project}/.git/hooks/pre-commit"))
attempt("plant-config", lambda: append(f"{project}/.git/config"))
attempt("connect-tcp", lambda: connect(socket.AF_INET, ("127.0.0.1", world["tcp"])))
attempt("see-process", lambda: see(world["victim"]))
attempt("connect-unix", lambda: connect(socket.AF_UNIX, f"{outside}/socket"))
attempt("connect-abstract", lambda: connect(socket.AF_UNIX, "\0" + world["token"]))
attempt("variable", lambda: os.environ.get("ATTEMPTS_TOKEN") == world["token"])
attempt("change-policy", lambda: append(f"{project}/berm.yml"))
attempt("namespace", namespace)
attempt("privileges", lambda: ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 0)
# Whether the victims noticed is for the host to say.
attempt("signal-process", lambda: os.kill(world["victim"], signal.SIGURG))
attempt("signal-group", lambda: os.kill(0, signal.SIGWINCH))
print(json.dumps(found))
