#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# support/home.sh never writes the host's password database, even if its mount is taken away: here the host's file is another
# copy, in a separate mount namespace.
if [ -z "${BERM_SCRATCH_HOST:-}" ]; then
	options=(--mount)
	[ "$(id -u)" -eq 0 ] || options+=(--user --map-current-user --keep-caps)
	if ! unshare "${options[@]}" true; then
		echo "a mount namespace of its own is needed"
		exit 77
	fi
	BERM_SCRATCH_HOST=$(mktemp) || exit 1
	export BERM_SCRATCH_HOST
	cat /etc/passwd >"$BERM_SCRATCH_HOST"
	chmod 644 "$BERM_SCRATCH_HOST"
	BERM_HOME_PASSWD=$(mktemp) || exit 1
	export BERM_HOME_PASSWD
	cat /etc/passwd >"$BERM_HOME_PASSWD"
	BERM_HOME_INODE=$(stat -c %i "$BERM_HOME_PASSWD")
	export BERM_HOME_INODE
	trap 'rm -f "$BERM_SCRATCH_HOST" "$BERM_HOME_PASSWD"' EXIT
	# shellcheck disable=SC2016 # for the inner shell
	unshare "${options[@]}" bash -c 'mount --bind "$BERM_SCRATCH_HOST" /etc/passwd && mount --bind "$BERM_HOME_PASSWD" /etc/passwd &&
		bash "$@"' bash "$0" "$@"
	exit
fi
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"

before=$(cat "$BERM_SCRATCH_HOST")
set_home "$scratch/first"
expect "the control: the copy is written" grep -q ":$scratch/first:" /etc/passwd
expect_equal "and the host's file is not" "$before" "$(cat "$BERM_SCRATCH_HOST")"
umount /etc/passwd
expect "the control: the host's file can be written now" sh -c ': >>/etc/passwd'
run bash -c '. "$1"; scratch=$2; set_home "$2/second"' bash "$support/home.sh" "$scratch"
expect_equal "without the mount nothing is written" "$before" "$(cat "$BERM_SCRATCH_HOST")"
expect_equal "and the test fails" 1 "$status"
expect_contains "with the reason" "took away" "$out"
finish
