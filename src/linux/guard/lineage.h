/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the Landlock rules that a caller has put on itself. The deputy is outside of these rules
 * and must not make what they forbid. A process that restricts itself gets a layer: a thread of
 * init with the same rules, which performs its creations and those of its descendants.
 *
 * Landlock cannot be asked about a process. So init gives the process a mark before it restricts
 * itself: its limit of file locks, which the kernel has ignored since 2.4.25. Children inherit
 * it, also when their parent ends, and the filter refuses to change it. A process with a mark
 * that is not known here is not served: its own call is continued, and Landlock refuses it. All
 * threads of a process have one mark, and count as if each had the rules of all.
 *
 * A process that shares its fds with the one that restricts itself could exchange the ruleset
 * after the look at it. It is not restricted at that moment, so it gains nothing. */
#ifndef BERM_LINUX_GUARD_LINEAGE_H
#define BERM_LINUX_GUARD_LINEAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "linux/guard/perform.h"

enum { LINEAGE_LAYERS = 32 };

struct lineage_layer {
	uint64_t mark; /* 0: free */
	struct performer performer;
};

struct lineage {
	uint64_t plain; /* the limit of processes without a mark */
	uint64_t next; /* the next mark: each is lower, because a limit can only be lowered */
	atomic_bool is_marked; /* a process has a mark: before, asking for it would be wasted */
	bool is_lost; /* a process could not be marked: no caller is served any more */
	struct lineage_layer layers[LINEAGE_LAYERS];
};

/* Called before the command makes its first call that is notified. */
void lineage_begin(struct lineage *lineage);
/* Finds the thread that performs the caller's creations: NULL for the calling one. False if the
 * caller must not be served. */
bool lineage_find(struct lineage *lineage, pid_t caller, struct performer **performer);
/* Ends the threads of all layers: no process is left. */
void lineage_end(struct lineage *lineage);
/* Called before a call that restricts the caller is performed. ruleset: the caller's fd. */
void lineage_restrict(struct lineage *lineage, pid_t caller, int ruleset);

#endif
