#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The kernel's switches, mounted in the project (a chroot in use): root without capabilities still owns them.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../support/lib.sh"

if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
	echo 'needs root and a mount namespace of its own'
	exit 77
fi

mkdir -p 'a chroot/sys/kernel' 'a chroot/data'
open_switch='exec 9<>"a chroot/sys/kernel/profiling" || exec 9<>"a chroot/sys/kernel/mm/ksm/run"'

# in_mounts COMMAND...: with a tmpfs and a part of the kernel's /sys in the project, in a mount namespace that ends with it.
in_mounts() {
	unshare -m sh -c 'mount -t tmpfs none "a chroot/data" && mount --bind /sys/kernel "a chroot/sys/kernel" && exec "$@"' sh "$@"
}

expect_status 'the control: root opens a switch of the kernel' 0 in_mounts bash -c "$open_switch"
expect_status 'with it in the project nothing runs' 125 in_mounts "$BERM" run -- bash -c "$open_switch"
expect_contains 'and the message names it' 'a chroot/sys/kernel is a sysfs' "$err"
# The whole of it has more symlinks than a project may have: refused for one reason or the other.
expect_status 'nor with all of /sys' 125 \
	unshare -m sh -c 'mount -t sysfs none "a chroot/sys" && exec "$@"' sh "$BERM" run -- bash -c "$open_switch"
expect_status 'files that are mounted there are no trouble' 0 \
	unshare -m sh -c 'mount -t tmpfs none "a chroot/data" && exec "$0" run -- touch "a chroot/data/x"' "$BERM"

finish
