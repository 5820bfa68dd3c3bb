#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm doctor`: text, JSON, exit codes, and no files left.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lib.sh"

# left_over PID: prints the directories of this doctor. Others may run at the same time.
left_over() {
	grep -lx "$1" /{tmp,var/tmp,dev/shm}/berm-doctor.*/.berm-doctor 2>/dev/null
}

# After another doctor ran.
is_clean() {
	"$BERM" doctor >/dev/null 2>&1
	[ -z "$(left_over "$1")" ]
}

# catch_at_work: starts a doctor, in $doctor, and returns while its directory exists. Retries if the
# doctor was too fast.
catch_at_work() {
	local i
	for ((i = 0; i < 100; i++)); do
		"$BERM" doctor >/dev/null 2>&1 &
		doctor=$!
		while is_alive "$doctor"; do
			[ -z "$(left_over "$doctor")" ] || return 0
		done
		wait "$doctor"
	done
	return 1
}

# json EXPRESSION: true of the last --json output, as `d`.
json() {
	python3 -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not ($1))" "$scratch/doctor.json"
}

"$BERM" doctor --json >"$scratch/doctor.json" &
doctor=$!
wait $doctor
expect_equal "exit status here" 0 $?
expect "the default policy holds" json 'd["holds"] and d["exit"] == 0 and d["sandbox_started"] and d["failure"] is None'
expect "schema" json 'd["schema"] == 1 and d["version"] and d["label"] == "run here"'
expect "eleven guarantees" json '[g["name"] for g in d["guarantees"]] == ["writes", "secrets", "planting", "network",
	"processes", "ipc", "environment", "limits", "kernel", "integrity", "audit"]'
expect "members of a guarantee" json 'all(set(g) == {"name", "promise", "required", "level", "holds", "mechanism", "reason",
	"fix", "verified", "label", "attempts"} for g in d["guarantees"])'
expect "each was tried" json 'all(any(a["outcome"] == "stopped" for a in g["attempts"]) for g in d["guarantees"])'
expect "each attempt that was stopped says how" json 'all(a["errno"] > 0 for g in d["guarantees"] if g["name"] != "limits"
	for a in g["attempts"] if a["outcome"] == "stopped")'
expect "what got through is below its level" json 'all(g["level"] != "enforced" for g in d["guarantees"]
	for a in g["attempts"] if a["outcome"] == "reached")'
expect "levels are those of plan" python3 - "$scratch/doctor.json" <("$BERM" plan --json) <<'END'
import json, sys
doctor, plan = (json.load(open(name)) for name in sys.argv[1:])
levels = [{g["name"]: g["level"] for g in page["guarantees"]} for page in (doctor, plan)]
sys.exit(levels[0] != levels[1])
END
expect "the machine" json 'd["machine"]["kernel"].startswith("Linux ") and int(d["machine"]["landlock_abi"]) >= 0 and
	d["machine"]["tier"] == "full"'
expect "mechanisms" json 'all(m["state"] in ("works", "refused", "untried") and (m["state"] != "refused" or
	(m["errno"] > 0 and m["cause"])) for m in d["mechanisms"]) and len(d["mechanisms"]) > 12'
expect_equal "nothing is left" "" "$(left_over $doctor)"

run "$BERM" doctor
expect_equal "text: exit status" 0 "$status"
expect_contains "text: verdict" "The default policy holds here" "$out"
expect_contains "text: a guarantee" "writes       enforced" "$out"
expect_equal "text: at most 80 columns" "" "$(LC_ALL=C.UTF-8 grep -E '^.{81,}' "$scratch/out")"
expect_equal "text: no colours in a pipe" "" "$(grep -c $'\033' "$scratch/out" | grep -v '^0$')"
run "$BERM" doctor -v
expect_contains "verbose names attempts" "stopped: read .env" "$out"
expect_equal "verbose: at most 80 columns" "" "$(LC_ALL=C.UTF-8 grep -E '^.{81,}' "$scratch/out")"

# Colours on a terminal, unless NO_COLOR is set.
expect_equal "colours" 1 "$(TERM=xterm script -qec "$BERM doctor" /dev/null </dev/null | grep -c $'\033\[32menforced' | sed 's/[1-9][0-9]*/1/')"
expect_equal "NO_COLOR" 0 "$(NO_COLOR=1 TERM=xterm script -qec "$BERM doctor" /dev/null </dev/null | grep -c $'\033')"

# The working directory and the caller's policy have no effect: doctor tests the default policy.
mkdir -p "$XDG_CONFIG_HOME/berm"
printf 'version: 1\nnetwork: all\n' >"$XDG_CONFIG_HOME/berm/berm.yml"
expect_status "from / with a policy that opens the network" 0 env -C / "$BERM" doctor
rm -r "$XDG_CONFIG_HOME/berm"
expect_status "standard input closed" 0 bash -c '"$1" doctor <&-' bash "$BERM"

expect_status "no such option" 125 "$BERM" doctor --jsn
expect_contains "the nearest one" "--json" "$err"
expect_status "no arguments" 125 "$BERM" doctor now
expect_status "help" 0 "$BERM" doctor --help
expect_contains "help says the exit codes" "disproved" "$out"
expect_status "a result that cannot be written" 125 bash -c '"$1" doctor --json >/dev/full' bash "$BERM"

# Signals wait until the scratch directory is removed. The next doctor removes what a killed one
# left.
expect "the control: the directory is seen" catch_at_work
kill -TERM $doctor
wait $doctor 2>/dev/null
expect_equal "nothing is left after SIGTERM" "" "$(left_over $doctor)"
expect "the control: the directory is seen again" catch_at_work
kill -KILL $doctor
wait $doctor 2>/dev/null
# Its children hold the lock until they exit.
expect "what a killed one left is removed" until_true is_clean $doctor

# A directory with a similar name belongs to the user.
mine=$(mktemp -d /tmp/berm-doctor.XXXXXX)
touch "$mine/file"
run "$BERM" doctor
expect "a directory that doctor did not make stays" test -e "$mine/file"
rm -r "$mine"

# In a sandbox without namespaces: reported, and nothing runs.
cp "$BERM" "$project/berm"
"$BERM" run -- ./berm doctor --json >"$scratch/doctor.json" 2>/dev/null
expect_equal "inside a sandbox: exit status" 1 $?
expect "inside a sandbox: no claim is disproved" json 'not any(g["verified"] == "disproved" for g in d["guarantees"])'
finish
