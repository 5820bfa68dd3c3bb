/* SPDX-License-Identifier: Apache-2.0 */
/* A hidden file may have other names: hard links that no pattern matches. They are found by
 * comparing inodes, for which every file must be inspected. This is done only if a hidden file has
 * more than one name. */
#include "common/scan/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct twin {
	uint64_t device, inode, links, found;
	const struct plan_match *match;
};

struct link_search {
	const struct plan *plan;
	struct scan_results *results;
	const struct plan_matches *masked;
	struct twins {
		struct twin *items;
		size_t count;
	} twins;
	struct names {
		struct plan_match *items;
		size_t count;
	} names; /* found */
	pthread_mutex_t lock;
};

int scan_compare_paths(const char *left, const char *right)
{
	while (*left && *left == *right) {
		left++;
		right++;
	}
	if (*left == *right)
		return 0;
	if (!*left || !*right)
		return *left ? 1 : -1;
	if (*left == '/' || *right == '/')
		return *left == '/' ? -1 : 1;
	return (unsigned char)*left < (unsigned char)*right ? -1 : 1;
}

const struct plan_match *scan_find_above(const struct plan_matches *matches, const char *path)
{
	size_t low = 0, high = matches->count;
	/* Only the last match that does not come after path can contain it. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (scan_compare_paths(matches->items[middle].path, path) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && path_is_within(path, matches->items[low - 1].path) ? &matches->items[low - 1] : NULL;
}

static int compare_twins(const void *left, const void *right)
{
	const struct twin *a = left, *b = right;
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->match < b->match ? -1 : a->match > b->match;
}

static void collect_twins(struct link_search *search)
{
	const struct filesystem *fs = search->plan->context.fs;
	for (size_t i = 0; i < search->masked->count; i++) {
		const struct plan_match *match = &search->masked->items[i];
		struct file_info info;
		struct twin *twin;
		if (match->type != FILE_REGULAR || fs->inspect(fs, match->path, &info) < 0 || info.links < 2)
			continue;
		twin = arena_push(search->plan->arena, &search->twins);
		*twin = (struct twin){ info.device, info.inode, info.links, 0, match };
	}
	if (search->twins.count > 0)
		qsort(search->twins.items, search->twins.count, sizeof *search->twins.items, compare_twins);
}

/* Returns the first twin with this device and inode, or NULL. */
static struct twin *find_twin(const struct link_search *search, const struct file_info *info)
{
	size_t low = 0, high = search->twins.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct twin *twin = &search->twins.items[middle];
		if (twin->inode < info->inode || (twin->inode == info->inode && twin->device < info->device))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == search->twins.count || search->twins.items[low].inode != info->inode ||
	    search->twins.items[low].device != info->device)
		return NULL;
	return &search->twins.items[low];
}

static void compare_file(struct link_search *search, const char *path)
{
	const struct filesystem *fs = search->plan->context.fs;
	struct file_info info;
	struct plan_match *name;
	struct twin *twin;

	if (fs->inspect(fs, path, &info) < 0 || info.type != FILE_REGULAR || info.links < 2)
		return;
	pthread_mutex_lock(&search->lock);
	twin = find_twin(search, &info);
	if (twin) {
		twin->found++;
		if (!scan_find_above(search->masked, path)) {
			name = arena_push(search->plan->arena, &search->names);
			*name = (struct plan_match){ arena_copy(search->plan->arena, path), FILE_REGULAR, twin->match->rule };
		}
	}
	pthread_mutex_unlock(&search->lock);
}

/* files.prune does not count here: by its inode the file certainly is a hidden one. */
static enum walk_step visit(void *self, const char *directory, const char *name, enum file_type type)
{
	struct link_search *search = self;
	char path[SCAN_PATH_BYTES];

	if (type != FILE_REGULAR && type != FILE_DIRECTORY)
		return WALK_SKIP;
	if (!path_join_into(path, sizeof path, directory, name))
		return WALK_SKIP;
	if (type == FILE_REGULAR)
		compare_file(search, path);
	return WALK_DESCEND;
}

/* False for a grant inside another, which is walked with the outer one. */
static bool is_outermost(const struct plan *plan, const struct plan_grant *grant)
{
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *other = &plan->grants.items[i];
		if (other != grant && other->kind != GRANT_SYSTEM && path_is_within(grant->path, other->path))
			return false;
	}
	return true;
}

static int search_grants(struct link_search *search, struct error *err)
{
	const struct plan *plan = search->plan;
	const struct filesystem *fs = plan->context.fs;
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		if (grant->kind == GRANT_SYSTEM || !is_outermost(plan, grant))
			continue;
		if (grant->type == FILE_REGULAR)
			compare_file(search, grant->path);
		else if (fs->walk(fs, grant->path, visit, search, err) < 0)
			return -1;
	}
	return 0;
}

static int compare_matches(const void *left, const void *right)
{
	return scan_compare_paths(((const struct plan_match *)left)->path, ((const struct plan_match *)right)->path);
}

static void note_twins(struct link_search *search)
{
	const struct plan *plan = search->plan;
	for (size_t i = 0; i < search->twins.count; i++) {
		const struct twin *twin = &search->twins.items[i];
		struct plan_note *note;
		/* Of several hidden names of one file only the first has the count. */
		if (i > 0 && twin[-1].inode == twin->inode && twin[-1].device == twin->device)
			continue;
		note = arena_push(plan->arena, &search->results->notes);
		note->kind = NOTE_HARD_LINK;
		note->rule = twin->match->rule;
		note->text = arena_printf(plan->arena, "%s has %llu names; %llu of them are in granted paths, and hidden",
					  twin->match->path, (unsigned long long)twin->links, (unsigned long long)twin->found);
	}
}

int scan_hard_links(const struct plan *plan, struct scan_results *results, struct error *err)
{
	struct plan_matches before = results->masked, all = { 0 };
	struct link_search search = { .plan = plan, .results = results, .masked = &before };
	int result;

	collect_twins(&search);
	if (search.twins.count == 0)
		return 0;
	pthread_mutex_init(&search.lock, NULL);
	result = search_grants(&search, err);
	pthread_mutex_destroy(&search.lock);
	if (result < 0)
		return -1;
	note_twins(&search);
	for (size_t i = 0; i < before.count; i++)
		*(struct plan_match *)arena_push(plan->arena, &all) = before.items[i];
	for (size_t i = 0; i < search.names.count; i++)
		*(struct plan_match *)arena_push(plan->arena, &all) = search.names.items[i];
	if (all.count > 0) /* qsort must not get NULL, even for no items */
		qsort(all.items, all.count, sizeof *all.items, compare_matches);
	results->masked = all;
	return 0;
}
