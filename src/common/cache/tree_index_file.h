/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a tree index, in the directory of the cached plan that it belongs to. Failures are
 * not reported: without the index berm is slower, not weaker. A plan that is not cached has no
 * index. */
#ifndef BERM_COMMON_CACHE_TREE_INDEX_FILE_H
#define BERM_COMMON_CACHE_TREE_INDEX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "common/base/arena.h"
#include "common/cache/tree_index.h"

struct tree_index_file {
	struct tree_index index;
	bool is_open; /* there is an index, perhaps an empty one */
	bool is_kept; /* it is no longer open, and tree_index_file_again returns it */
	const char *slot; /* of the plan; NULL: no index can be written */
	void *bytes; /* to be written, or NULL */
	size_t size;
};

/* Opens the index of the plan that was read from, or written to, the file `plan_file` in the
 * directory `plans`, and reads its file. */
void tree_index_file_open(struct tree_index_file *file, int plans, const char *slot, const struct stat *plan_file);
/* Returns the index for a scan, or NULL if there is none. */
struct tree_index *tree_index_file_index(struct tree_index_file *file);
/* Ends the use of the index after the scan. Keeps the bytes to write, if the scan succeeded and
 * they are worth it. */
void tree_index_file_commit(struct tree_index_file *file, bool has_succeeded);
/* Writes and frees those bytes, if there are any. The file appears whole or not at all; safe if
 * several processes do it at the same time. */
void tree_index_file_write(struct tree_index_file *file, struct arena *arena, const char *state_directory);
/* Returns the index as it was read or written, for a search after a scan that succeeded, or
 * NULL. */
struct tree_index *tree_index_file_again(struct tree_index_file *file);
/* Frees everything without writing. */
void tree_index_file_close(struct tree_index_file *file);

#endif
