/* SPDX-License-Identifier: Apache-2.0 */
/* Which guarantees this machine can hold, and why not. Changes nothing on the machine, except for
 * `doctor --install-apparmor`.
 *
 * This header: causes and fixes of refused setup steps. A failed stage, its errno and the
 * properties of the host select a cause, and a fix for this distribution or container. `doctor`,
 * `plan` and every refused run use the same table. */
#ifndef BERM_LINUX_PROBE_CAUSES_H
#define BERM_LINUX_PROBE_CAUSES_H

#include "common/base/error.h"
#include "linux/probe/host.h"
#include "linux/stage.h"

/* Returns the name of a stage in `doctor --json`. */
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

/* Returns the first matching cause. Never fails: the last resort is "berm does not know why". */
struct cause cause_of(const struct probe_host *host, enum stage stage, int number);
/* Returns a command or an instruction for this machine; NULL for FIX_NONE. */
const char *fix_for(const struct probe_host *host, enum fix fix);
/* Adds the cause, the fix and a reference to `berm doctor` as hints, if the error has a stage.
 * Reads the host's files, so it is for failures only. */
void cause_explain(struct error *err);

/* The table of causes, for tests. */
struct cause_row {
	enum stage stage;
	int number; /* -1: any */
	bool (*applies)(const struct probe_host *host); /* NULL: always */
	struct cause cause;
};
extern const struct cause_row cause_table[];
extern const size_t cause_table_count;

#endif
