#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# copies.sh BERM [RUNS]: what a copy costs. Launches of /bin/true with and without --copy, in turn, and diff, apply and undo of 1,000
# changed files in a project of 10,000. Wall time in ms (least, median) and processor time of all processes (least). Nothing is judged.
set -euo pipefail
berm=$(realpath "${1:?the program, of a release build}")
runs=${2:-60}
scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/berm-bench.XXXXXX")
trap 'chmod -R u+rwX "$scratch"; rm -rf "$scratch"' EXIT
mkdir -p "$scratch/state" "$scratch/config" "$scratch/project"
chmod 700 "$scratch/state"
cd "$scratch/project"
echo "version: 1" >berm.yml
for d in $(seq 100); do
	mkdir "d$d"
	for f in $(seq 100); do echo "content $d $f" >"d$d/f$f"; done
done
XDG_STATE_HOME=$scratch/state XDG_CONFIG_HOME=$scratch/config BERM=$berm RUNS=$runs python3 - <<'PYTHON'
import os, resource, statistics, subprocess, time

berm, runs = os.environ["BERM"], int(os.environ["RUNS"])
quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

def once(arguments):
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    status = subprocess.call([berm] + arguments, **quiet)
    wall = time.perf_counter() - begin
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    if status != 0:
        raise SystemExit("berm %s: status %d" % (" ".join(arguments), status))
    return wall * 1000, (now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime) * 1000

def show(name, results):
    walls, work = [r[0] for r in results], [r[1] for r in results]
    print("%-44s wall %8.2f %8.2f   processor %8.2f %8.2f" % (name, min(walls), statistics.median(walls), min(work), statistics.median(work)))

kinds = {
    "true": ["run", "--", "/bin/true"],
    "true in a copy that goes on": ["run", "--copy", "--", "/bin/true"],
    "true in a new copy, --undo": ["run", "--undo", "--", "/bin/true"],
}
results = {name: [] for name in kinds}
for i in range(runs + 3):
    for name, arguments in kinds.items():
        result = once(arguments)
        if i >= 3:
            results[name].append(result)
for name in kinds:
    show(name, results[name])
change = ["run", "--copy", "--", "sh", "-c", "for d in $(seq 100); do for f in 1 2 3 4 5 6 7 8 9 10; do echo new $1 >d$d/f$f; done; done", "sh"]
steps = {"1,000 changes in a copy": [], "diff --name-only": [], "apply": [], "undo": []}
for i in range(6):
    steps["1,000 changes in a copy"].append(once(change + [str(i)]))
    steps["diff --name-only"].append(once(["diff", "--name-only"]))
    steps["apply"].append(once(["apply"]))
    steps["undo"].append(once(["undo"]))
    subprocess.call([berm, "discard", "--all", "--yes"], **quiet)
for name, values in steps.items():
    show(name, values)
PYTHON
echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
