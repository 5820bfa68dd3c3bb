/* SPDX-License-Identifier: Apache-2.0 */
/* The launch cache: the plan of an earlier launch and an index of the project's directories. Losing
 * it costs time, never safety: a cached plan is used only after everything it was made from was
 * checked again, and a damaged file is ignored.
 *
 * Order of calls: cache_load; if that fails cache_record, make the plan, cache_save. Then
 * cache_index, scan, cache_commit_index. Then cache_verify, before anything runs;
 * cache_write_index, while the command runs; cache_close. */
#ifndef BERM_COMMON_CACHE_CACHE_H
#define BERM_COMMON_CACHE_CACHE_H

#include "common/cache/dependencies.h"
#include "common/cache/plan_cache.h"

struct launch_cache {
	/* The options as the user wrote them. With the user, the directory and the binary they are
	 * the key. NULL: no cache is used. */
	char *const *words;
	struct plan_key key;
	struct plan_loaded loaded;
	struct dependencies dependencies; /* of a plan that is being made */
	bool is_loaded; /* the plan came from the cache */
	bool is_stale; /* the cached plan is outdated: cache_load fails from then on */
};

/* Decodes the cached plan for this tier. False, with cache_reason(), if there is none. The plan is
 * valid only if cache_verify() returns true before anything runs; not even a refusal may be based
 * on it before that. */
bool cache_load(struct launch_cache *cache, struct arena *arena, enum tier tier, struct plan *plan);
/* True if the plan is valid: not from the cache, or everything it was made from is unchanged. */
bool cache_verify(struct launch_cache *cache, struct arena *arena);
/* Returns a clause that explains why cache_load or cache_verify returned false. */
const char *cache_reason(const struct launch_cache *cache);

/* Returns a file system that records every answer as a dependency of the plan, or NULL if no cache
 * is used. */
const struct filesystem *cache_record(struct launch_cache *cache, struct arena *arena);
/* Records a file whose content is about to be read by other means than that file system. */
void cache_note_content(struct launch_cache *cache, const char *path);
/* Ends the recording. Returns the file system that was recorded, or NULL if no cache is used. */
const struct filesystem *cache_stop_recording(struct launch_cache *cache);
/* Stores the recorded plan with the bytes that the backend prepared for it. Best effort. */
void cache_save(struct launch_cache *cache, struct arena *arena, const struct plan *plan, const void *prepared, size_t size);
/* Returns the prepared bytes of a loaded plan. */
const void *cache_prepared(const struct launch_cache *cache, size_t *size);

/* Returns the index for a scan, which uses and updates it, or NULL if there is none. */
struct tree_index *cache_index(struct launch_cache *cache);
/* Returns the number of directories in the index. */
size_t cache_index_size(const struct launch_cache *cache);
/* Ends the use of the index after a scan. A failed scan changes nothing in it. */
void cache_commit_index(struct launch_cache *cache, bool has_succeeded);
/* Returns the index for a search after the run, which does not update it, or NULL. */
struct tree_index *cache_index_again(struct launch_cache *cache);
/* Writes the committed index, if it is worth it. Best effort. */
void cache_write_index(struct launch_cache *cache, struct arena *arena, const char *state_directory);

/* Resets everything but the words, for another attempt in this tier or another. A stale plan stays
 * stale in its tier. */
void cache_restart(struct launch_cache *cache, bool is_same_tier);
/* Frees the index. */
void cache_close(struct launch_cache *cache);

#endif
