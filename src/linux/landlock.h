/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock over the same plan: a second wall behind the mounts. Rights by ABI come from one table; what a kernel does not know is
 * left out and said by landlock_describe. Applied last, inside, after every mount is in place. */
#ifndef BERM_LINUX_LANDLOCK_H
#define BERM_LINUX_LANDLOCK_H

#include <stdint.h>

#include "common/error.h"
#include "common/plan.h"

/* 0 if the kernel has no Landlock (or it is not enabled). */
int landlock_abi(void);

struct landlock_handled {
	uint64_t filesystem, network, scoped;
};
/* What a ruleset handles at this ABI (table up to 11). has_network: the policy names destinations, so TCP is handled too. */
struct landlock_handled landlock_handled_at(int abi, bool has_network);

/* A directory or file that is reachable inside besides the plan's grants: /dev, /proc, /tmp, the home. */
struct landlock_extra {
	const char *path;
	bool is_writable;
	bool is_device; /* ioctl on device nodes is granted */
};

/* Restricts the calling thread (no_new_privs must be set). Paths are opened inside the finished view; those that are absent are
 * skipped. Nothing is granted that the plan or `extra` does not name. */
int landlock_apply(const struct plan *plan, const struct landlock_extra *extra, size_t extra_count, int abi, struct error *err);

#endif
