# SPDX-License-Identifier: Apache-2.0
"""refusals.py BERM REFUSE SCRATCH MODE...: on a host that refuses MODE (see tests/refuse/refuse.c), does `berm doctor --json` say what
attempts of another program find, and does `berm run` refuse exactly when doctor says so?"""
import json, os, signal, socket, subprocess, sys

berm, refuse, scratch, modes = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
here = os.path.dirname(os.path.abspath(__file__))
bad = 0


def expect(holds, what):
    global bad
    if not holds:
        bad += 1
        print("FAIL", mode, what)


def run(*words, **options):
    return subprocess.run([refuse, *mode.split("+"), "--", *words], capture_output=True, text=True, timeout=300, **options)


# Calls that the shim makes fail on every machine: the mechanism and its errno. None: it has to work.
REFUSED = {
    "none": {"namespaces": None, "landlock": None, "notify": None},
    "docker": {"namespaces": 1, "landlock": None, "notify": None},
    "docker+notify": {"namespaces": 1, "landlock": None, "notify": 16},
    "mounts": {"namespaces": None, "mount_setattr": 1},
    "chroot=1": {"namespaces": None, "enter_root": None},
    "chroot=1+setns=1": {"namespaces": None, "mount_setattr": None, "enter_root": 1},
    "clone3=1": {"namespaces": 1},
    "clone3=13": {"namespaces": 13},
    "clone3=22": {"namespaces": 22},
    "landlock=38": {"landlock": 38, "namespaces": None},
    "landlock=95": {"landlock": 95, "namespaces": None},
    "landlock-abi=1": {"landlock": None, "notify": 16},
    "landlock-abi=3": {"landlock": None, "notify": 16},
    "landlock-abi=5": {"landlock": None, "notify": 16},
    "notify": {"notify": 16, "landlock": None, "namespaces": None},
    "covered-proc": {"namespaces": None, "procfs": 1},
    "no-namespaces": {"namespaces": 28, "landlock": None},
}


class Victims:
    """Sockets and a process of the host; knows whether they were found."""

    def __init__(self, token, outside):
        self.sockets = []
        self.tcp = self.listen(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
        self.listen(socket.AF_UNIX, outside + "/socket")
        self.listen(socket.AF_UNIX, "\0" + token)
        program = (
            "import signal, sys, time\n"
            "for number in (signal.SIGURG, signal.SIGWINCH, signal.SIGRTMIN):\n"
            "    signal.signal(number, lambda got, frame: print(int(got), flush=True))\n"
            "print('ready', flush=True)\n"
            "while True: time.sleep(1)\n"
        )
        # In the process group of the attempts.
        self.process = subprocess.Popen(["python3", "-c", program, token], stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def listen(self, family, address):
        server = socket.socket(family, socket.SOCK_STREAM)
        server.bind(address)
        server.listen(16)
        self.sockets.append(server)
        return server

    def signalled(self):
        # Handlers run in the order of their numbers: the last one is ours.
        self.process.send_signal(signal.SIGRTMIN)
        got = []
        while str(int(signal.SIGRTMIN)) not in got:
            got.append(self.process.stdout.readline().decode().strip())
        return {"signal-process": str(int(signal.SIGURG)) in got, "signal-group": str(int(signal.SIGWINCH)) in got}

    def end(self):
        self.process.kill()
        self.process.wait()
        for server in self.sockets:
            server.close()


def make(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def attempts(options, number):
    """What our own attempts find, bare and inside; inside is None if berm refused."""
    base = f"{scratch}/refusals-{number}"
    token = f"token{number}{os.getpid()}"
    project, outside, readable = base + "/project", base + "/outside", base + "/readable"
    for name in ("berm.yml", ".git/HEAD", ".git/config", ".git/hooks/pre-commit", ".git/objects/x", ".git/refs/x"):
        make(f"{project}/{name}", "version: 1\n" if name == "berm.yml" else "")
    make(f"{project}/.git/HEAD", "ref: refs/heads/main\n")
    for name in (".env", ".env.bare", ".env.inside"):
        make(f"{project}/{name}", token)
    make(outside + "/input", "input\n")
    make(readable + "/file", "file\n")
    with open(here + "/attempts.py") as file:
        make(project + "/attempts.py", file.read())
    victims = Victims(token, outside)
    found = {}
    for side in ("bare", "inside"):
        world = {"project": project, "outside": outside, "readable": readable, "token": token, "here": side,
                 "tcp": victims.tcp, "victim": victims.process.pid}
        words = ["python3", project + "/attempts.py", json.dumps(world)]
        if side == "inside":
            words = [berm, "run", *options, f"--allow-read={readable}", "--", *words]
        with open(outside + "/input") as standard_input:
            result = run(*words, cwd=project, stdin=standard_input, env={**os.environ, "ATTEMPTS_TOKEN": token})
        found[side] = json.loads(result.stdout) if result.returncode == 0 else None
        if found[side] is not None:
            found[side].update(victims.signalled())
        elif side == "inside":
            expect(result.returncode == 125 and not result.stdout, f"berm run: {result.returncode} {result.stdout}")
            expect("berm doctor" in result.stderr, f"a refusal does not point to doctor: {result.stderr}")
        else:
            expect(False, f"the attempts do not run bare: {result.stderr}")
    victims.end()
    return found


def compare(number):
    result = run(berm, "doctor", "--json", cwd="/")
    doctor = json.loads(result.stdout)
    mechanisms = {item["name"]: item for item in doctor["mechanisms"]}
    for name, error in REFUSED[mode].items():
        expect(mechanisms[name]["errno"] == (error or 0) and (mechanisms[name]["state"] == "works") == (error is None),
               f"{name}: {mechanisms[name]}")
        expect(error is None or mechanisms[name]["cause"], f"{name} has no cause")
    expect(result.returncode == doctor["exit"], f"exit {result.returncode}, told {doctor['exit']}")
    for guarantee in doctor["guarantees"]:
        expect(guarantee["verified"] not in ("disproved", "unverified"), f"{guarantee['name']} is {guarantee['verified']}")

    # The setting that would allow namespaces is named where they are missing, and an empty project agrees with the headline.
    if mode.startswith("docker"):
        cause = next(item for item in doctor["mechanisms"] if item["state"] == "refused")
        planting = next(item for item in doctor["guarantees"] if item["name"] == "planting")
        expect(planting["fix"] == cause["fix"] or not cause["fix"], f"the fix of planting is not that of {cause}: {planting['fix']}")
        empty = run(berm, "run", "--project", scratch + "/empty", "--", "true", cwd=scratch + "/empty")
        told = "and runs others" in run(berm, "doctor", cwd="/").stdout
        expect(told == (empty.returncode == 0), f"headline {told}, an empty project: {empty.returncode} {empty.stderr}")

    # Refused exactly when doctor reports a refusal.
    plain = run(berm, "run", "--project", scratch + "/project", "--", "true", cwd=scratch + "/project")
    expect((plain.returncode == 0) == (doctor["exit"] == 0), f"doctor {doctor['exit']}, run {plain.returncode}: {plain.stderr}")
    weaker = [item["name"] for item in doctor["guarantees"] if not item["holds"]]
    for name in weaker if doctor["sandbox_started"] else []:
        expect(plain.returncode == 125 and name in plain.stderr, f"{name} is not named by the refusal: {plain.stderr}")
    options = [f"--accept-weaker={name}" for name in weaker]
    found = attempts(options, number)
    expect((found["inside"] is not None) == doctor["sandbox_started"], f"sandbox_started is {doctor['sandbox_started']}")
    if found["inside"] is None:
        return
    if weaker:
        # Said every time, each by name.
        again = run(berm, "run", *options, "--project", scratch + "/project", "--", "true", cwd=scratch + "/project")
        for name in weaker:
            expect(f"weaker, as accepted: {name}" in again.stderr, f"{name} is not said to be weaker: {again.stderr}")
    outcomes = {item["name"]: (item["outcome"], guarantee) for guarantee in doctor["guarantees"] for item in guarantee["attempts"]}
    compared = 0
    for name, reached in found["inside"].items():
        outcome, guarantee = outcomes[name]
        if not found["bare"][name] or outcome not in ("stopped", "reached"):
            continue
        compared += 1
        expect(reached == (outcome == "reached"), f"{name}: doctor says {outcome}, another attempt {'got through' if reached else 'was stopped'}")
        expect(not reached or guarantee["level"] != "enforced", f"{name} got through although {guarantee['name']} is enforced")
    expect(compared >= 10, f"only {compared} attempts could be compared")


# As in doctor's own project: in the tier landlock the existing files decide.
for name, text in ((".env", "x"), (".git/HEAD", "ref: refs/heads/main\n"), (".git/config", ""), (".git/hooks/pre-commit", ""), (".git/objects/x", ""),
                   (".git/refs/x", ""), ("berm.yml", "version: 1\n")):
    make(f"{scratch}/project/{name}", text)
os.makedirs(scratch + "/empty")
for index, mode in enumerate(modes):
    compare(index)
sys.exit(1 if bad else 0)
