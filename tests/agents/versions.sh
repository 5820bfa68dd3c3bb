#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Agents that need an account: their packages install, and their programs start in the sandbox.
. "$(dirname "$0")/support/loopback.sh"
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/agents.sh"
make_home
missing=()
for row in cline:cline copilot:copilot continue:cn; do
	if ! (agent "${row%:*}") >"$scratch/reason" 2>&1; then
		missing+=("$(head -n 1 "$scratch/reason")")
		continue
	fi
	agent "${row%:*}"
	run "$modules/.bin/${row#*:}" --version
	expect_equal "${row%:*}: starts bare" 0 "$status"
	bare=$out
	run "$BERM" run --allow-read="$modules" -- "$modules/.bin/${row#*:}" --version
	expect_equal "${row%:*}: the same version inside" "$bare" "$out"
done
if [ "${#missing[@]}" -gt 0 ]; then
	printf '%s\n' "${missing[@]}"
	[ "$bad" -eq 0 ] && exit 77
fi
finish
