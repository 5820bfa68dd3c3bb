#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm doctor` on hosts that refuse something (tests/refuse): it names the cause, and its claims
# equal the results of another program's attempts. `berm run` refuses exactly when doctor reports
# it. `none` is the control.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lib.sh"

modes=(none docker mounts chroot=1 landlock=38 no-namespaces)
if [ -n "${CI:-}${BERM_LONG:-}" ]; then
	modes+=(docker+notify chroot=1+setns=1 landlock=95 landlock-abi=5 notify covered-proc)
fi
if [ "${BERM_LONG:-}" = 1 ]; then
	modes+=(clone3=1 clone3=13 clone3=22 landlock-abi=1 landlock-abi=3)
fi
python refusals.py "$BERM" "$BERM_BUILD_DIR/tests/refuse/refuse" "$scratch" "${modes[@]}"

# disproved MODE NAME...: a kernel that reports success and does nothing. berm's claims are then
# untrue, and doctor must notice.
disproved() {
	local mode=$1
	shift
	IFS=+ read -ra words <<<"$mode"
	expect_status "$mode" 2 "$BERM_BUILD_DIR/tests/refuse/refuse" "${words[@]}" -- "$BERM" doctor --json
	cp "$scratch/out" "$scratch/$mode.json"
	for name in "$@"; do
		expect "$mode: $name is disproved" python3 -c "import json, sys
d = json.load(open(sys.argv[1]))
sys.exit([g['name'] for g in d['guarantees'] if g['verified'] == 'disproved' and not g['holds']].count(sys.argv[2]) != 1)" \
			"$scratch/$mode.json" "$name"
	done
}
disproved lie-landlock writes processes
# With a listener berm loads its filter in another way, about which this kernel does not lie.
disproved lie-seccomp+notify kernel
# A kernel that reports a listener and has none: nothing could be tested.
expect_status "lie-listener" 2 "$BERM_BUILD_DIR/tests/refuse/refuse" lie-listener -- "$BERM" doctor --json

# The network namespace is created after the map: what worked before the refusal is not reported as
# untried.
# shellcheck disable=SC2016 # for the inner shell
unshare -U --map-current-user --keep-caps -- sh -c 'echo 0 >/proc/sys/user/max_net_namespaces && exec "$1" doctor --json' sh "$BERM" \
	>"$scratch/network.json"
expect_equal "no network namespace" "namespaces refused 28, uid_map works 0, loopback untried 0" "$(python3 -c "import json, sys
print(', '.join('%s %s %s' % (m['name'], m['state'], m['errno']) for m in json.load(open(sys.argv[1]))['mechanisms'][:3]))" \
	"$scratch/network.json")"
finish
