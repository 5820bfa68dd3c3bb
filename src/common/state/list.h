/* SPDX-License-Identifier: Apache-2.0 */
/* What berm keeps between runs: listing it and throwing it away. The same suspicion as in state.h applies: what is not exactly a
 * directory of our own, closed to others, is named as a problem and left alone. */
#ifndef BERM_COMMON_STATE_LIST_H
#define BERM_COMMON_STATE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/state/remove_tree.h"

/* One grant class of one project. */
struct state_entry {
	const char *project_key;
	const char *project; /* its path, or NULL if that is not known */
	const char *grant_class; /* "offline", "grants-..."; NULL if the project's directory itself is the problem */
	struct state_size home, tmp;
	int64_t last_use; /* seconds since 1970 */
	bool is_in_use;
	bool is_leftover; /* of a reset under way, or one that was interrupted */
	const char *problem; /* why it was not looked into, or NULL */
};

struct state_entries {
	struct state_entry *items;
	size_t count;
};

/* Of one project (its key), or of all with NULL. Sorted by project and class. Sizes are measured with has_sizes only. */
int state_list(struct arena *arena, const char *state_directory, const char *project_key, bool has_sizes,
	       struct state_entries *entries, struct error *err);

struct state_reset {
	size_t removed, in_use;
	struct error failure; /* the first thing that could not be removed; the rest was */
};
/* Removes what state_list lists, but what a run is using. A run that starts meanwhile gets new, empty directories. */
int state_reset(struct arena *arena, const char *state_directory, const char *project_key, struct state_reset *result,
		struct error *err);

#endif
