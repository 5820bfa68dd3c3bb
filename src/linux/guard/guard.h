/* SPDX-License-Identifier: Apache-2.0 */
/* The room guard: creations in the project are checked by name and place, and performed by init's
 * deputy. It fails closed.
 *
 * Theory. Two Landlock layers make it exact. Init has the first, which is the policy. The command
 * has one more (landlock_apply_no_creation), which allows it to create, rename or link nowhere in
 * the project. So only the deputy, a thread of init, makes a name there, whatever the filter misses
 * and however the command races: a call that the kernel performs itself ends with EACCES. The
 * deputy reads a call's path once, opens the directory, judges the directory's path and the name
 * (guard/rules.h) and makes that very name in that very directory.
 *
 * The deputy never opens what exists: the caller's own kernel call does that, so that it blocks,
 * truncates and follows by the caller's rights. It is not dumpable and in a parent domain of the
 * command: nothing inside can read, trace or signal it. When it dies, init dies with it. */
#ifndef BERM_LINUX_GUARD_GUARD_H
#define BERM_LINUX_GUARD_GUARD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/base/error.h"
#include "common/plan/plan.h"
#include "linux/guard/rules.h"
#include "linux/guard/trees.h"

/* True if the guard can be had: Linux 6.6, Landlock ABI 2, the tier full, no nesting. */
bool guard_fits_plan(const struct plan *plan, int landlock_abi);

enum { GUARD_REFUSED_MAX = 8, GUARD_SHOWN_BYTES = 256 };
/* Names that were refused, for the end of the run. */
struct guard_refused {
	struct {
		char path[GUARD_SHOWN_BYTES];
		const struct rule *rule;
	} items[GUARD_REFUSED_MAX];
	size_t count; /* of items */
	size_t total;
};

struct guard {
	struct guard_rules rules;
	struct guard_trees trees;
	mode_t umask; /* that the command begins with: guard_prepare sets that of this process */
	int listener;
	/* Of a session, else NULL: called by the deputy when no process of the command is left. It
	 * may free the guard. */
	void (*ended)(struct guard *guard);
	pthread_mutex_t lock; /* of refused */
	struct guard_refused refused;
};

/* Builds the rules and finds the trees. Called by init in the finished view, before the command is
 * started; guard must outlive the process. */
void guard_prepare(struct guard *guard, const struct plan *plan);
/* Starts the deputy's threads, which take the listener, after the command has started. */
int guard_start(struct guard *guard, int listener, struct error *err);
/* True if this process runs under a guard that answers: it asks by a call that the kernel refuses
 * with another errno. */
bool guard_is_around(void);
/* Copies the refusals so far. */
void guard_take_refused(struct guard *guard, struct guard_refused *refused);

/* Serves one notification of the tier landlock: changes of metadata. False if the listener has
 * ended. */
bool guard_serve_metadata(const struct plan *plan, int listener);
/* For the tests: true if the command may change metadata at `path`, which is the kernel's name of
 * an open file. */
bool guard_metadata_is_writable(const struct plan *plan, const char *path);

#endif
