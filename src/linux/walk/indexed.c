/* SPDX-License-Identifier: Apache-2.0 */
/* What an earlier walk found, told again where it still holds: one look at each directory, by one path that grows and shrinks, with nothing allocated. What
 * does not hold any more waits to be listed. */
#include "linux/walk/internal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/cleanup.h"

enum {
	DEPTH_MAX = 128, /* what lies deeper waits for its turn */
	HELPER_EVERY = 512, /* directories that make another thread worth its while: init needs a processor too */
	SHARE_EVERY = 32, /* giving work away costs as much as ten directories */
};

/* A directory that was told of, whose path is so long, and those of its children that were not yet looked at. */
struct level {
	uint32_t next, end;
	size_t length;
};

struct descent {
	struct worker *worker;
	struct pending **found;
	unsigned looked, depth;
	struct level levels[DEPTH_MAX];
	char path[PATH_MAX]; /* of the innermost level's child */
};

static bool is_unchanged(const struct walk *walk, const struct walk_stamp *stamp, const char *path)
{
	struct stat now;
	return stamp->inode != 0 &&
	       fstatat(walk->root_fd, walk_relative_path(walk, path), &now, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
	       S_ISDIR(now.st_mode) && now.st_dev == walk->device && now.st_ino == stamp->inode &&
	       now.st_ctim.tv_sec == stamp->changed_s && now.st_ctim.tv_nsec == stamp->changed_ns;
}

/* What a listing would have told; false if it might tell something else by now. */
static bool tell(struct worker *worker, uint32_t number, const char *path)
{
	const struct walk_memory *memory = worker->walk->memory;
	const struct walk_record *record = &memory->records[number];
	const char *text = walk_memory_name(memory, number);

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

/* What cannot be kept in mind would be missed. */
static void must_have(struct descent *descent, bool is_kept)
{
	if (is_kept)
		return;
	walk_fail(descent->worker->walk, ENOMEM, descent->path);
	descent->depth = 0;
}

/* For threads that have nothing to do: what waits to be listed, and half of what is left of the outermost directory that has something left. */
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
		must_have(descent, walk_add_children(descent->found, descent->path, level->length, level->end, half));
		break;
	}
	walk_offer(walk, *descent->found);
	*descent->found = NULL;
}

static void enter(struct descent *descent, uint32_t number, size_t length)
{
	const struct walk_record *record = &descent->worker->walk->memory->records[number];
	if (record->children == 0)
		return;
	if (descent->depth == DEPTH_MAX) {
		must_have(descent,
			  walk_add_children(descent->found, descent->path, length, record->first_child, record->children));
		return;
	}
	descent->levels[descent->depth++] =
		(struct level){ .next = record->first_child, .end = record->first_child + record->children, .length = length };
}

static void look_at(struct descent *descent, size_t length, uint32_t number)
{
	const char *name = walk_memory_name(descent->worker->walk->memory, number);
	size_t name_length = strlen(name), start = length + (descent->path[length - 1] != '/');

	if (start + name_length >= sizeof descent->path) {
		must_have(descent, walk_add_pending(descent->found, descent->path, length, name, number));
		return;
	}
	descent->path[start - 1] = '/';
	memcpy(descent->path + start, name, name_length + 1);
	if (tell(descent->worker, number, descent->path))
		enter(descent, number, start + name_length);
	else
		must_have(descent, walk_add_pending(descent->found, descent->path, length, name, number));
}

void walk_tell_children(struct worker *worker, const struct pending *directory, uint32_t first, uint32_t count,
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
	descent.looked = 0;
	descent.depth = 1;
	descent.levels[0] = (struct level){ .next = first, .end = first + count, .length = directory->length };
	memcpy(descent.path, directory->path, directory->length + 1);
	while (descent.depth > 0) {
		struct level *level = &descent.levels[descent.depth - 1];
		if (level->next == level->end) {
			descent.depth--;
			continue;
		}
		look_at(&descent, level->length, level->next++);
		if (++descent.looked % SHARE_EVERY == 0 && atomic_load_explicit(&walk->hungry, memory_order_relaxed) > 0)
			share(&descent);
		if (descent.looked % HELPER_EVERY == 0 && descent.looked + HELPER_EVERY < walk->memory->record_count)
			walk_call_helper(worker);
	}
}

bool walk_tell_known(struct worker *worker, const struct pending *directory, struct pending **found)
{
	const struct walk_record *record = &worker->walk->memory->records[directory->known];
	if (!tell(worker, directory->known, directory->path))
		return false;
	if (directory->slot)
		directory->slot->known = directory->known;
	if (record->children > 0)
		walk_tell_children(worker, directory, record->first_child, record->children, found);
	return true;
}
