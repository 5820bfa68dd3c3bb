/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock over the same plan: a second wall behind the mounts. Rights by ABI come from one table; what a kernel does not know is
 * left out and said by landlock_describe. Applied last, inside, after every mount is in place. */
#ifndef BERM_LINUX_CONFINE_LANDLOCK_H
#define BERM_LINUX_CONFINE_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/plan/plan.h"

/* 0 if the kernel has no Landlock (or it is not enabled). */
int landlock_abi(void);
/* Why: the errno of that question; 0 if there is Landlock. */
int landlock_refusal(void);

/* From this ABI on files can be renamed and linked into another directory. Before (5.13 to 5.18) Landlock refuses that everywhere,
 * with EXDEV: as a second wall behind mounts it costs more than it gives there. */
enum { LANDLOCK_ABI_USEFUL = 2, LANDLOCK_ABI_NEWEST = 11 };

struct landlock_handled {
	uint64_t filesystem, network, scoped;
};
/* Everything that the kernel knows at this ABI. */
struct landlock_handled landlock_known_at(int abi);
/* What a ruleset handles at this ABI (table up to 11). has_network: the policy names destinations, so TCP is handled too. UDP is
 * not: only TCP sockets are ever handed in from outside, and rules by port cannot tell the sandbox's own loopback from elsewhere. */
struct landlock_handled landlock_handled_at(int abi, bool has_network);
/* What this ABI cannot hold, as one clause for `doctor` and `plan`; "" if nothing is missing. */
const char *landlock_describe(int abi);

/* A directory or file that is reachable inside besides the plan's grants: /dev, /proc, /tmp, the home. */
struct landlock_extra {
	const char *path;
	bool is_writable;
	bool is_device; /* ioctl on device nodes is granted */
	bool is_list_only; /* directories may be listed, files not read: `/` itself */
};

/* For a helper process outside: reads files below these directories, and nothing else of the file system; binds no port. */
int landlock_apply_reader(const char *const *directories, size_t count, int abi, struct error *err);

/* Restricts the calling thread (no_new_privs must be set). Paths are opened inside the finished view; those that are absent are
 * skipped. Nothing is granted that the plan or `extra` does not name. ABI 0 is an error: nothing would be restricted. */
int landlock_apply(const struct plan *plan, const struct landlock_extra *extra, size_t extra_count, int abi, struct error *err);

/* The tier without mounts: Landlock is the only wall of the file system. What the plan hides in a tree that is only readable is left
 * out, entry by entry; TCP is handled unless the policy allows all of the network. Needs a scanned plan. */
int landlock_apply_alone(const struct plan *plan, const struct landlock_extra *extra, size_t extra_count, int abi,
			 struct error *err);
/* A further layer that only says: signals reach nothing outside of it. Does nothing where the kernel cannot. */
int landlock_scope_signals(int abi, struct error *err);
/* From this ABI on Landlock keeps signals and abstract sockets inside. */
enum { LANDLOCK_ABI_SCOPES = 6, LANDLOCK_ABI_TRUNCATE = 3, LANDLOCK_ABI_UNIX = 9 };

#endif
