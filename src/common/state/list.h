/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and removes the state that berm keeps between runs. A directory that fails the checks of
 * state.h is reported as a problem and left alone. */
#ifndef BERM_COMMON_STATE_LIST_H
#define BERM_COMMON_STATE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/state/remove_tree.h"

enum state_kind { STATE_CLASS, STATE_COPY, STATE_UNDO };

/* One grant class of one project, one of its copies, or what `berm undo` needs. */
struct state_entry {
	enum state_kind kind;
	const char *project_key;
	const char *project; /* its path; NULL: unknown */
	const char *name; /* of its directory; NULL if the problem is the project's directory */
	/* The name, or "copy NAME"; NULL if the problem is the project's directory. */
	const char *grant_class;
	struct state_size home, tmp; /* of a copy and of undo: all in `home` */
	int64_t last_use; /* seconds since 1970 */
	bool is_in_use;
	bool is_leftover; /* of a running or interrupted reset */
	const char *orphan; /* why no run will use it again, or NULL */
	const char *problem; /* why it was not read, or NULL */
};

struct state_entries {
	struct state_entry *items;
	size_t count;
};

/* Lists one project by its key, or all projects if project_key is NULL, sorted by project and
 * class. Sizes are measured only with has_sizes. */
int state_list(struct arena *arena, const char *state_directory, const char *project_key, bool has_sizes,
	       struct state_entries *entries, struct error *err);

struct state_reset {
	size_t removed, in_use;
	struct error failure; /* the first entry that could not be removed */
};
/* Removes what state_list lists except classes that a run is using. A run that starts meanwhile
 * gets new, empty directories. */
int state_reset(struct arena *arena, const char *state_directory, const char *project_key, struct state_reset *result,
		struct error *err);
/* Removes one listed entry, unless a run is using it, and adds the outcome to *result. */
int state_remove_entry(struct arena *arena, const char *state_directory, const struct state_entry *entry,
		       struct state_reset *result, struct error *err);

#endif
