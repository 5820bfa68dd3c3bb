/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring and removing a directory that a sandboxed command filled as it pleased. Everything is reached from an open directory by
 * one name without following symlinks; neither ever goes up, to another file system, or deeper than a fixed number of levels. */
#ifndef BERM_COMMON_STATE_REMOVE_TREE_H
#define BERM_COMMON_STATE_REMOVE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"

struct state_size {
	uint64_t bytes; /* on the disk; what has several names counts by its share */
	uint64_t entries;
	bool is_partial; /* some of it could not be looked at */
};

/* What lies in directory `name` of `parent`; nothing if it is absent. */
void state_measure(int parent, const char *name, struct state_size *size);
/* Removes directory `name` of `parent` with all it holds. -1 with the first thing that could not be removed. */
int state_remove(int parent, const char *name, const char *shown, struct error *err);

#endif
