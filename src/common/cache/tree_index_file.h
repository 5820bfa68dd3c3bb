/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a walk's memory (the index of what is hidden), beside the stored plan that it belongs to. Never an error: without it berm is slower, not
 * weaker. A plan that is not stored has none. */
#ifndef BERM_COMMON_CACHE_TREE_INDEX_FILE_H
#define BERM_COMMON_CACHE_TREE_INDEX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "common/base/arena.h"
#include "common/cache/tree_index.h"

struct walk_store {
	struct walk_memory memory;
	bool is_open; /* there is a memory, perhaps an empty one */
	const char *slot; /* of the plan; NULL: nothing can be kept */
	void *bytes; /* to be written, or NULL */
	size_t size;
};

/* Binds the memory to the plan that was read from, or written to, the file `plan_file` in the directory `plans`, and reads what is
 * kept for it. */
void walk_store_open(struct walk_store *store, int plans, const char *slot, const struct stat *plan_file);
/* For plan_scan_again; NULL if there is none. */
struct walk_memory *walk_store_memory(struct walk_store *store);
/* After the scan: nothing is remembered any more but, if it is worth it, the bytes to be written. */
void walk_store_settle(struct walk_store *store, bool has_succeeded);
/* Writes them, if there are any, and drops them. Whole or not at all; safe when several do it at once. */
void walk_store_write(struct walk_store *store, struct arena *arena, const char *state_directory);
/* Without writing. */
void walk_store_close(struct walk_store *store);

#endif
