/* SPDX-License-Identifier: Apache-2.0 */
/* Visits directories from the index: one fstatat() per directory, no listing, no allocation for an
 * unchanged tree. A directory that has changed is queued for listing. */
#include "linux/walk/internal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/cleanup.h"

enum {
	DEPTH_MAX = 128, /* deeper directories are queued */
	HELPER_EVERY = 512, /* directories that are worth another thread: init needs a CPU too */
	SHARE_EVERY = 32, /* sharing costs as much as ten directories */
};

/* A visited directory: the length of its path, and the records of its children that are left. */
struct level {
	uint32_t next, end;
	size_t length;
};

struct descent {
	struct worker *worker;
	struct pending **found;
	unsigned visited, depth;
	struct level levels[DEPTH_MAX];
	char path[PATH_MAX]; /* of the innermost level's child */
};

static bool is_unchanged(const struct walk *walk, const struct tree_index_stamp *stamp, const char *path)
{
	struct stat now;
	return stamp->inode != 0 &&
	       fstatat(walk->root_fd, walk_relative_path(walk, path), &now, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
	       S_ISDIR(now.st_mode) && now.st_dev == walk->device && now.st_ino == stamp->inode &&
	       now.st_ctim.tv_sec == stamp->changed_s && now.st_ctim.tv_nsec == stamp->changed_ns;
}

/* Visits the kept entries of one record. False if the directory has changed since it was listed. */
static bool visit_unchanged(struct worker *worker, uint32_t number, const char *path)
{
	const struct tree_index *index = worker->walk->index;
	const struct tree_index_record *record = &index->records[number];
	const char *text = tree_index_name(index, number);

	if (!is_unchanged(worker->walk, &record->stamp, path))
		return false;
	for (uint32_t i = 0; i < record->stamp.entries; i++) {
		text += strlen(text) + 1;
		walk_visit_one(worker, NULL, path, text + 1, (enum file_type)text[0]);
	}
	worker->directories += record->stamp.directories;
	worker->files += record->stamp.files;
	worker->kept++;
	return true;
}

/* Out of memory: fails the walk rather than miss an entry. */
static void require(struct descent *descent, bool is_added)
{
	if (is_added)
		return;
	walk_fail(descent->worker->walk, ENOMEM, descent->path);
	descent->depth = 0;
}

/* Gives idle threads the directories to list, and half of the children that are left of the
 * outermost directory. */
static void share(struct descent *descent)
{
	struct walk *walk = descent->worker->walk;
	for (unsigned i = 0; i < descent->depth; i++) {
		struct level *level = &descent->levels[i];
		uint32_t left = level->end - level->next;
		uint32_t half = i + 1 < descent->depth ? left - left / 2 : left / 2;
		if (half == 0)
			continue;
		level->end -= half;
		require(descent, walk_add_children(descent->found, descent->path, level->length, level->end, half));
		break;
	}
	walk_share(walk, *descent->found);
	*descent->found = NULL;
}

static void enter(struct descent *descent, uint32_t number, size_t length)
{
	const struct tree_index_record *record = &descent->worker->walk->index->records[number];
	if (record->children == 0)
		return;
	if (descent->depth == DEPTH_MAX) {
		require(descent,
			walk_add_children(descent->found, descent->path, length, record->first_child, record->children));
		return;
	}
	descent->levels[descent->depth++] =
		(struct level){ .next = record->first_child, .end = record->first_child + record->children, .length = length };
}

static void visit_child(struct descent *descent, size_t length, uint32_t number)
{
	const char *name = tree_index_name(descent->worker->walk->index, number);
	size_t name_length = strlen(name), start = length + (descent->path[length - 1] != '/');

	if (start + name_length >= sizeof descent->path) {
		require(descent, walk_add_pending(descent->found, descent->path, length, name, number));
		return;
	}
	descent->path[start - 1] = '/';
	memcpy(descent->path + start, name, name_length + 1);
	if (visit_unchanged(descent->worker, number, descent->path))
		enter(descent, number, start + name_length);
	else
		require(descent, walk_add_pending(descent->found, descent->path, length, name, number));
}

void walk_visit_indexed_children(struct worker *worker, const struct pending *directory, uint32_t first, uint32_t count,
				 struct pending **found)
{
	const struct walk *walk = worker->walk;
	uninitialised struct descent descent;

	if (directory->length >= sizeof descent.path) {
		walk_fail(worker->walk, ENAMETOOLONG, directory->path);
		return;
	}
	descent.worker = worker;
	descent.found = found;
	descent.visited = 0;
	descent.depth = 1;
	descent.levels[0] = (struct level){ .next = first, .end = first + count, .length = directory->length };
	memcpy(descent.path, directory->path, directory->length + 1);
	while (descent.depth > 0) {
		struct level *level = &descent.levels[descent.depth - 1];
		if (level->next == level->end) {
			descent.depth--;
			continue;
		}
		visit_child(&descent, level->length, level->next++);
		if (++descent.visited % SHARE_EVERY == 0 && atomic_load_explicit(&walk->idle, memory_order_relaxed) > 0)
			share(&descent);
		if (descent.visited % HELPER_EVERY == 0 && descent.visited + HELPER_EVERY < walk->index->record_count)
			walk_start_helper(worker);
	}
}

bool walk_visit_indexed(struct worker *worker, const struct pending *directory, struct pending **found)
{
	const struct tree_index_record *record = &worker->walk->index->records[directory->record];
	if (!visit_unchanged(worker, directory->record, directory->path))
		return false;
	if (directory->slot)
		directory->slot->known = directory->record;
	if (record->children > 0)
		walk_visit_indexed_children(worker, directory, record->first_child, record->children, found);
	return true;
}
