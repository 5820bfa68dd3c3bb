/* SPDX-License-Identifier: Apache-2.0 */
/* How hosts say no: the step of the set-up that failed and its errno, together with what the machine tells about itself, become a cause
 * in words and the fix for this distribution or container. One table, read by `doctor`, `plan` and every refused run. */
#ifndef BERM_LINUX_PROBE_CAUSES_H
#define BERM_LINUX_PROBE_CAUSES_H

#include "common/base/error.h"
#include "linux/probe/host.h"

/* The steps, in the order of a launch; `stage` of struct error. What follows STAGE_FILTER is not part of every launch. */
enum stage {
	STAGE_NONE,
	STAGE_NAMESPACES, /* clone3 with all namespaces but that of the network, which is made after the map */
	STAGE_MAP, /* setgroups, uid_map, gid_map */
	STAGE_LOOPBACK,
	STAGE_LOCK, /* mount_setattr over the host's tree */
	STAGE_ROOT, /* a new tmpfs, attached over the root */
	STAGE_BIND, /* open_tree, move_mount of something of the host */
	STAGE_PROC,
	STAGE_LANDLOCK,
	STAGE_FILTER, /* seccomp */
	STAGE_LISTENER, /* seccomp with a notification listener */
	STAGE_ADDFD,
	STAGE_ADDFD_SEND,
	STAGE_KILLABLE, /* waits for the supervisor that only a fatal signal interrupts */
	STAGE_CGROUP, /* a group of its own below ours */
	STAGE_OVERLAY,
	STAGE_FUSE,
	STAGE_GETFD, /* pidfd_getfd from a child */
	STAGE_COUNT
};

/* The name in `doctor --json`. */
const char *stage_name(enum stage stage);

enum fix {
	FIX_NONE,
	FIX_APPARMOR,
	FIX_PROFILE,
	FIX_USERNS_CLONE,
	FIX_MAX_USERNS,
	FIX_SELINUX,
	FIX_CONTAINER,
	FIX_CONTAINER_PROC,
	FIX_OUTSIDE,
	FIX_GVISOR,
	FIX_WSL,
	FIX_LSM,
	FIX_KERNEL_59,
	FIX_KERNEL_512,
	FIX_KERNEL_519,
	FIX_KERNEL_612,
	FIX_PROCESSES,
	FIX_DELEGATE,
	FIX_DEV_FUSE,
	FIX_COUNT
};

struct cause {
	const char *text; /* one clause */
	enum fix fix;
};

/* Never fails: what the table does not know is told as such. */
struct cause cause_of(const struct probe_host *host, enum stage stage, int number);
/* What to do about it on this machine; NULL for FIX_NONE. */
const char *fix_for(const struct probe_host *host, enum fix fix);
/* Adds the cause, the fix and where to read more to a failed launch whose error has a stage. Looks at the machine: for failures only. */
void cause_explain(struct error *err);

/* For the tests: every row, in order. False after the last. */
struct cause_row {
	enum stage stage;
	int number; /* -1: any */
	bool (*applies)(const struct probe_host *host); /* NULL: always */
	struct cause cause;
};
extern const struct cause_row cause_table[];
extern const size_t cause_table_count;

#endif
