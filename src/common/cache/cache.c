/* SPDX-License-Identifier: Apache-2.0 */
/* Combines the parts of the cache: the plan's file, its dependencies, the tree index. */
#include "common/cache/cache.h"

bool cache_load(struct launch_cache *cache, struct arena *arena, enum tier tier, struct plan *plan)
{
	cache->is_loaded = false;
	if (!cache->words)
		return false;
	plan_cache_key(arena, cache->words, tier, &cache->key);
	cache->is_loaded = !cache->is_stale && plan_cache_load(arena, &cache->key, plan, &cache->loaded);
	return cache->is_loaded;
}

bool cache_verify(struct launch_cache *cache, struct arena *arena)
{
	if (cache->is_loaded && !cache->is_stale)
		cache->is_stale = !plan_cache_verify(arena, &cache->loaded);
	return !cache->is_loaded || !cache->is_stale;
}

const char *cache_reason(const struct launch_cache *cache)
{
	return cache->loaded.reason;
}

const struct filesystem *cache_record(struct launch_cache *cache, struct arena *arena)
{
	return cache->words ? dependencies_record(&cache->dependencies, arena, filesystem_host()) : NULL;
}

void cache_note_content(struct launch_cache *cache, const char *path)
{
	if (cache->words)
		dependencies_note_content(&cache->dependencies, path);
}

const struct filesystem *cache_stop_recording(struct launch_cache *cache)
{
	struct timespec now = { 0 };
	if (!cache->words)
		return NULL;
	clock_gettime(CLOCK_REALTIME, &now);
	dependencies_settle(&cache->dependencies, &now);
	return cache->dependencies.host;
}

void cache_save(struct launch_cache *cache, struct arena *arena, const struct plan *plan, const void *prepared, size_t size)
{
	const struct plan_prepared saved = { prepared, size };
	if (cache->words && cache->key.home)
		plan_cache_save(arena, &cache->key, plan, &cache->dependencies, &saved, &cache->loaded.index);
}

const void *cache_prepared(const struct launch_cache *cache, size_t *size)
{
	*size = cache->loaded.blob_size;
	return cache->loaded.blob;
}

struct tree_index *cache_index(struct launch_cache *cache)
{
	return tree_index_file_index(&cache->loaded.index);
}

size_t cache_index_size(const struct launch_cache *cache)
{
	return cache->loaded.index.index.record_count;
}

void cache_commit_index(struct launch_cache *cache, bool has_succeeded)
{
	tree_index_file_commit(&cache->loaded.index, has_succeeded);
}

struct tree_index *cache_index_again(struct launch_cache *cache)
{
	return tree_index_file_again(&cache->loaded.index);
}

void cache_write_index(struct launch_cache *cache, struct arena *arena, const char *state_directory)
{
	tree_index_file_write(&cache->loaded.index, arena, state_directory);
}

void cache_restart(struct launch_cache *cache, bool is_same_tier)
{
	tree_index_file_close(&cache->loaded.index);
	*cache = (struct launch_cache){ .words = cache->words, .is_stale = cache->is_stale && is_same_tier };
}

void cache_close(struct launch_cache *cache)
{
	tree_index_file_close(&cache->loaded.index);
}
