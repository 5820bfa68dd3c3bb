/* SPDX-License-Identifier: Apache-2.0 */
/* The room confine: restrictions that a process puts on itself, by Landlock, seccomp and
 * capabilities. It never lifts one.
 *
 * Order. Landlock and the filter need no_new_privs (credentials_freeze). Landlock forbids mounts,
 * so it follows the view; capabilities are dropped after it. The filter comes last, because it
 * refuses the calls of the steps before it.
 *
 * Landlock enforces the plan a second time, behind the mounts. Rights by ABI come from one table.
 * Rights that a kernel does not know are left out; landlock_describe names them. */
#ifndef BERM_LINUX_CONFINE_LANDLOCK_H
#define BERM_LINUX_CONFINE_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/plan/plan.h"

/* Returns the ABI; 0 if the kernel has no Landlock or it is not enabled. */
int landlock_abi(void);
/* Returns the errno with which the kernel refuses Landlock; 0 if it has Landlock. */
int landlock_refusal(void);

/* From this ABI on files can be renamed and linked into another directory. Before (5.13 to 5.18)
 * Landlock refuses that everywhere with EXDEV: as a second layer behind mounts it breaks more than
 * it protects. */
enum { LANDLOCK_ABI_USEFUL = 2, LANDLOCK_ABI_NEWEST = 11 };

struct landlock_handled {
	uint64_t filesystem, network, scoped;
};
/* Returns all rights that the kernel knows at this ABI. */
struct landlock_handled landlock_known_at(int abi);
/* Returns the rights that a ruleset handles at this ABI. has_network: the policy names
 * destinations, so TCP is handled too. UDP is not: only TCP sockets are ever passed in from
 * outside, and rules by port cannot distinguish the sandbox's own loopback from other addresses. */
struct landlock_handled landlock_handled_at(int abi, bool has_network);
/* Returns one clause that names what this ABI cannot enforce, for `doctor` and `plan`; "" if
 * nothing is missing. */
const char *landlock_describe(int abi);

/* A path that is reachable inside besides the plan's grants: /dev, /proc, /tmp, the home. */
struct landlock_extra {
	const char *path;
	bool is_writable;
	bool is_device; /* grants ioctl on device nodes */
	bool is_list_only; /* grants listing of directories but not reading of files: for `/` itself */
	bool is_socket; /* grants connecting to it, nothing else */
	bool is_exact; /* a symlink on the way grants nothing */
};

/* For a helper process outside: allows reading files below these directories, nothing else of the
 * file system, and no bind() of a TCP port. */
int landlock_apply_reader(const char *const *directories, size_t count, int abi, struct error *err);

/* Restricts the calling thread; no_new_privs must be set. Paths are opened inside the finished
 * view; absent ones are skipped. Grants only what the plan or `extra` names. ABI 0 is
 * an error: nothing would be restricted. */
int landlock_apply(const struct plan *plan, const struct landlock_extra *extra, size_t extra_count, int abi, struct error *err);

/* The same for the landlock tier, in which only Landlock protects the file system. Masked paths in
 * a read-only tree are excluded by granting their siblings one by one. TCP is handled unless the
 * policy allows the whole network. Needs a scanned plan. */
int landlock_apply_tier(const struct plan *plan, const struct landlock_extra *extra, size_t extra_count, int abi,
			struct error *err);
/* Adds a layer that forbids to create, rename and link except below these directories, and keeps
 * signals from reaching processes outside it, init among them. Regular files may be made below the
 * open directories `trees` too. With has_signals signals reach other commands of a session; the
 * kernel drops those to init, which is pid 1. Sockets may be bound: a host does not read one. For
 * the command whose creations init's deputy performs (linux/guard). */
int landlock_apply_no_creation(const char *const *directories, size_t count, const int *trees, size_t tree_count,
			       bool has_signals, int abi, struct error *err);
/* Adds a layer that grants these paths and nothing else, and keeps signals and abstract sockets
 * from reaching processes outside it. The network is left alone. */
int landlock_apply_paths(const struct landlock_extra *paths, size_t count, int abi, struct error *err);
/* Adds a layer that only keeps signals from reaching processes outside it. Does nothing if the
 * kernel cannot. */
int landlock_scope_signals(int abi, struct error *err);
/* The first ABI that restricts truncation; signals and abstract sockets; pathname sockets. */
enum { LANDLOCK_ABI_TRUNCATE = 3, LANDLOCK_ABI_SCOPES = 6, LANDLOCK_ABI_UNIX = 9 };

#endif
