/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the project that have other names outside of it (the stores of pnpm, uv and bun):
 * writing such a file in place changes it there too. Mounts cannot tell the names apart, so `berm
 * plan` reports them. Inspects every file, which a launch does not. */
#include "common/scan/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_MAX = 1 << 20 };

/* One name of a file that has several. */
struct shared {
	uint64_t device, inode, links;
	const char *path;
};

struct outside {
	struct plan *plan;
	pthread_mutex_t lock;
	struct shared *items;
	size_t count;
};

static enum walk_step visit(void *self, const char *directory, const char *name, enum file_type type)
{
	struct outside *outside = self;
	const struct filesystem *fs = outside->plan->context.fs;
	char path[SCAN_PATH_BYTES];
	struct file_info info;

	if (type != FILE_REGULAR || !path_join_into(path, sizeof path, directory, name))
		return WALK_DESCEND;
	if (fs->inspect(fs, path, &info) < 0 || info.type != FILE_REGULAR || info.links < 2)
		return WALK_SKIP;
	pthread_mutex_lock(&outside->lock);
	if (outside->count < SHARED_MAX)
		*arena_push(outside->plan->arena, outside) =
			(struct shared){ info.device, info.inode, info.links, arena_copy(outside->plan->arena, path) };
	pthread_mutex_unlock(&outside->lock);
	return WALK_SKIP;
}

static int compare(const void *left, const void *right)
{
	const struct shared *a = left, *b = right;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* Returns the number of files that have fewer names in the project than in total, and the first of
 * them in *example. */
static size_t count_outside(const struct outside *outside, const char **example)
{
	size_t files = 0;
	for (size_t i = 0, next; i < outside->count; i = next) {
		const struct shared *first = &outside->items[i];
		for (next = i + 1; next < outside->count && outside->items[next].inode == first->inode &&
				   outside->items[next].device == first->device;)
			next++;
		if (next - i >= first->links)
			continue;
		if (!*example || strcmp(first->path, *example) < 0)
			*example = first->path;
		files++;
	}
	return files;
}

int plan_note_outside_links(struct plan *plan, struct error *err)
{
	const struct filesystem *fs = plan->context.fs;
	struct outside outside = { .plan = plan };
	struct plan_note *note;
	const char *example = NULL;
	size_t files;
	int status = 0;

	pthread_mutex_init(&outside.lock, NULL);
	for (size_t i = 0; i < plan->grants.count && status == 0; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE && plan->grants.items[i].type == FILE_DIRECTORY)
			status = fs->walk(fs, plan->grants.items[i].path, visit, &outside, err);
	pthread_mutex_destroy(&outside.lock);
	if (status < 0 || outside.count == 0)
		return status;
	qsort(outside.items, outside.count, sizeof *outside.items, compare);
	files = count_outside(&outside, &example);
	if (files == 0)
		return 0;
	note = arena_push(plan->arena, &plan->notes);
	note->kind = NOTE_HARD_LINK;
	note->text = arena_printf(
		plan->arena,
		"%zu file%s another name outside of the writable paths (%s): a write in place changes that one too", files,
		files == 1 ? " has" : "s have", example);
	return 0;
}
