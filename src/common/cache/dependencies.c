/* SPDX-License-Identifier: Apache-2.0 */
/* Records and compares. Never decides the meaning of a change: any difference breaks the
 * dependency. */
#include "common/cache/dependencies.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/base/file_time.h"
#include "common/fs/path.h"

/* A file that changed within this time before it was recorded could change again without another
 * ctime: clocks tick in steps of up to 10 ms, and some file systems store times in steps of one or
 * two seconds. */
enum { TICK_NS = 20000000, NS_PER_S = 1000000000 };
static const int64_t coarse_tick_ns = INT64_C(2) * NS_PER_S + TICK_NS;

static void read_attributes(const char *path, bool is_content, struct dependency *dependency)
{
	struct stat info;
	*dependency = (struct dependency){ .path = path, .is_content = is_content };
	/* Whatever the error was, a later success is a difference. */
	if (lstat(path, &info) < 0)
		return;
	dependency->mode = (uint32_t)info.st_mode;
	dependency->uid = (uint32_t)info.st_uid;
	dependency->device = (uint64_t)info.st_dev;
	dependency->inode = (uint64_t)info.st_ino;
	if (S_ISDIR(info.st_mode)) {
		dependency->listed_s = (int64_t)info.st_ctim.tv_sec;
		dependency->listed_ns = (int64_t)info.st_ctim.tv_nsec;
	}
	/* A directory changes with every file that is made in it: its size and ctime count only
	 * with is_content. */
	if (S_ISDIR(info.st_mode) && !is_content)
		return;
	dependency->size = (uint64_t)info.st_size;
	dependency->changed_s = (int64_t)info.st_ctim.tv_sec;
	dependency->changed_ns = (int64_t)info.st_ctim.tv_nsec;
}

static bool is_same(const struct dependency *a, const struct dependency *b)
{
	return a->mode == b->mode && a->uid == b->uid && a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

static struct dependency *find(const struct dependencies *dependencies, const char *path)
{
	for (size_t i = dependencies->count; i-- > 0;)
		if (strcmp(dependencies->items[i].path, path) == 0)
			return &dependencies->items[i];
	return NULL;
}

/* Called before the query, so that a change in between is a difference and not recorded as the
 * dependency. */
static void note(struct dependencies *dependencies, const char *path, bool is_content)
{
	struct dependency *known = find(dependencies, path), now;
	read_attributes(path, known ? known->is_content : is_content, &now);
	if (!known) {
		now.path = arena_copy(dependencies->arena, path);
		*arena_push(dependencies->arena, dependencies) = now;
		return;
	}
	if (!is_same(known, &now))
		dependencies->is_unstable = true;
	if (is_content && !known->is_content)
		read_attributes(known->path, true, known);
}

static struct dependencies *recording(const struct filesystem *fs)
{
	return fs->self;
}

static int record_inspect(const struct filesystem *fs, const char *path, struct file_info *info)
{
	struct dependencies *dependencies = recording(fs);
	note(dependencies, path, false);
	return dependencies->host->inspect(dependencies->host, path, info);
}

static int record_read_link(const struct filesystem *fs, struct arena *arena, const char *path, char **target)
{
	struct dependencies *dependencies = recording(fs);
	note(dependencies, path, true);
	return dependencies->host->read_link(dependencies->host, arena, path, target);
}

static int record_read_small(const struct filesystem *fs, struct arena *arena, const char *path, size_t limit, char **text,
			     size_t *length)
{
	struct dependencies *dependencies = recording(fs);
	note(dependencies, path, true);
	return dependencies->host->read_small(dependencies->host, arena, path, limit, text, length);
}

/* Making a plan needs no walk. The results of one are not recorded, so such a plan must not be
 * cached. */
static int record_walk(const struct filesystem *fs, const char *root,
		       enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type),
		       void *self, struct error *err)
{
	struct dependencies *dependencies = recording(fs);
	dependencies->is_unstable = true;
	return dependencies->host->walk(dependencies->host, root, visit, self, err);
}

const struct filesystem *dependencies_record(struct dependencies *dependencies, struct arena *arena,
					     const struct filesystem *host)
{
	*dependencies = (struct dependencies){ .arena = arena, .host = host };
	dependencies->recorder = (struct filesystem){
		.inspect = record_inspect,
		.read_link = record_read_link,
		.read_small = record_read_small,
		.walk = record_walk,
		.is_closed = host->is_closed,
		.is_case_insensitive = host->is_case_insensitive,
		.self = dependencies,
	};
	return &dependencies->recorder;
}

void dependencies_note_content(struct dependencies *dependencies, const char *path)
{
	note(dependencies, path, true);
}

/* True if a change at that time may be followed by another with the same ctime. */
static bool is_recent(int64_t changed_s, int64_t changed_ns, const struct timespec *now)
{
	int64_t age = ((int64_t)now->tv_sec - changed_s) * NS_PER_S + now->tv_nsec - changed_ns;
	return age < (changed_ns == 0 ? coarse_tick_ns : TICK_NS);
}

static bool is_absent(const char *path)
{
	struct stat info;
	return lstat(path, &info) < 0 && errno == ENOENT;
}

/* Finds the dependency that proves the absence of an absent one: its directory, or a directory
 * around it that is absent itself. */
static uint32_t find_prover(const struct dependencies *dependencies, size_t number)
{
	const char *around = dependencies->items[number].path;
	for (bool is_direct = true; strcmp(around, "/") != 0; is_direct = false) {
		around = path_parent(dependencies->arena, around);
		for (size_t i = 0; i < number; i++) {
			const struct dependency *item = &dependencies->items[i];
			if (strcmp(item->path, around) == 0)
				return item->mode == 0 || (is_direct && item->listed_s != 0) ? (uint32_t)i + 1 : 0;
		}
	}
	return 0;
}

/* True if the directory's ctime changes with every name in it. */
static bool shows_names(const struct filesystem *host, const char *directory)
{
	return host->may_omit_names && !host->may_omit_names(host, directory);
}

/* Notes which directories prove the absence of names in them. Their ctimes are read before the
 * names are looked up. */
static void find_provers(struct dependencies *dependencies, const struct timespec *now)
{
	for (size_t i = 0; i < dependencies->count; i++) {
		struct dependency *item = &dependencies->items[i], current;
		read_attributes(item->path, item->is_content, &current);
		item->listed_s = item->listed_ns = 0;
		if (current.listed_s != 0 && is_same(item, &current) && !is_recent(current.listed_s, current.listed_ns, now) &&
		    shows_names(dependencies->host, item->path)) {
			item->listed_s = current.listed_s;
			item->listed_ns = current.listed_ns;
		}
	}
	for (size_t i = 0; i < dependencies->count; i++)
		if (dependencies->items[i].mode == 0 && is_absent(dependencies->items[i].path))
			dependencies->items[i].prover = find_prover(dependencies, i);
}

void dependencies_settle(struct dependencies *dependencies, const struct timespec *now)
{
	find_provers(dependencies, now);
	for (size_t i = 0; i < dependencies->count; i++) {
		const struct dependency *item = &dependencies->items[i];
		if (item->mode != 0 && item->is_content && is_recent(item->changed_s, item->changed_ns, now))
			dependencies->is_unstable = true;
	}
	if (dependencies_broken(dependencies->items, dependencies->count))
		dependencies->is_unstable = true;
}

/* True if an earlier dependency proves that this one is absent. */
static bool is_proven(const struct dependency *items, size_t number)
{
	uint32_t prover = items[number].prover;
	return prover > 0 && prover <= number && items[prover - 1].is_vouching;
}

const char *dependencies_broken(struct dependency *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct dependency now;
		items[i].is_vouching = true;
		if (items[i].mode == 0 && is_proven(items, i))
			continue;
		read_attributes(items[i].path, items[i].is_content, &now);
		if (!is_same(&items[i], &now))
			return items[i].path;
		if (items[i].mode != 0)
			items[i].is_vouching = items[i].listed_s != 0 && items[i].listed_s == now.listed_s &&
					       items[i].listed_ns == now.listed_ns;
	}
	return NULL;
}
