/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a launch, for `stage` of struct error. probe/causes.h maps a failed step to a cause
 * and a fix. */
#ifndef BERM_LINUX_STAGE_H
#define BERM_LINUX_STAGE_H

/* In the order of a launch. The steps after STAGE_FILTER are not part of every launch. */
enum stage {
	STAGE_NONE,
	/* clone3 with all namespaces but the network namespace, which is made after the map. */
	STAGE_NAMESPACES,
	STAGE_MAP, /* setgroups, uid_map, gid_map */
	STAGE_LOOPBACK,
	STAGE_LOCK, /* mount_setattr over the host's tree */
	STAGE_ROOT, /* a new tmpfs, mounted over the root */
	STAGE_BIND, /* open_tree and move_mount of a host path */
	STAGE_PROC,
	STAGE_ENTER, /* chroot, or setns where that is refused */
	STAGE_LANDLOCK,
	STAGE_FILTER, /* seccomp */
	STAGE_LISTENER, /* seccomp with a notification listener */
	STAGE_ADDFD,
	STAGE_ADDFD_SEND,
	/* Notifications for which only a fatal signal interrupts the waiting caller. */
	STAGE_KILLABLE,
	STAGE_CGROUP, /* a control group below berm's */
	STAGE_OVERLAY,
	STAGE_FUSE,
	STAGE_GETFD, /* pidfd_getfd from a child */
	STAGE_COUNT
};

#endif
