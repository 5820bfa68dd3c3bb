#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A user without an entry in the password database (a uid in a container; with the static program also one from LDAP): berm has no
# home to protect and refuses, whatever $HOME is.
. "$(dirname "$0")/../support/lib.sh"

# as UID COMMAND...: this user, under another number.
as() {
	local uid=$1
	shift
	unshare --user --map-user="$uid" -- "$@"
}
as 54321 true 2>/dev/null || { echo "a user namespace is needed"; exit 77; }
unknown=54321
while getent passwd "$unknown" >/dev/null; do
	unknown=$((unknown + 1))
done
expect_output "the control: another number" "$unknown" as "$unknown" id -u
for command in run plan check; do
	words=(-- touch ran)
	[ $command != plan ] || words=()
	[ $command != check ] || words=(read /etc/passwd)
	expect_status "$command: refused" 125 as "$unknown" env HOME="$project" "$BERM" "$command" "${words[@]}"
	expect_contains "$command: in words" "user $unknown has no entry in the password database" "$err"
done
expect "nothing ran" test ! -e ran
finish
