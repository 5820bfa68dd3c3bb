#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# inside.sh chroot|root|user TREE COMMAND...: runs a command in a tree, with an environment of its own. `chroot` is what
# scripts do that repair systems or build packages; `root` and `user` make the tree the real root of a mount namespace, as on
# a machine of its own. Nothing is mounted outside the new namespace.
set -e
if [ -z "$INSIDE_IS_PRIVATE" ]; then
	exec env -i INSIDE_IS_PRIVATE=1 PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 XDG_STATE_HOME=/tmp/state \
		unshare --mount --propagation private --pid --fork --kill-child "$0" "$@"
fi
unset INSIDE_IS_PRIVATE
way=$1 tree=$2
shift 2
mount -t proc proc "$tree/proc"
mount -t tmpfs -o mode=1777 tmpfs "$tree/tmp"
mkdir -m 777 "$tree/tmp/project"
chmod 777 "$tree/tmp/project"
if [ "$way" = chroot ]; then
	exec chroot "$tree" sh -c 'cd /tmp/project && exec "$@"' sh "$@"
fi
mount --rbind "$tree" "$tree"
cd "$tree"
pivot_root . mnt
cd /tmp/project
umount --lazy /mnt
if [ "$way" = user ]; then
	exec setpriv --reuid=someone --regid=someone --init-groups "$@"
fi
exec "$@"
