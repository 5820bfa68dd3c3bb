/* SPDX-License-Identifier: Apache-2.0 */
/* Notes and compares. Never decides what a change means: any difference breaks the fact. */
#include "common/cache/dependencies.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#ifdef __APPLE__
#define st_ctim st_ctimespec
#endif

/* A file that changed within this time of being noted could change again without its ctime telling: clocks tick in steps of up to
 * 10 ms, and some file systems keep whole seconds or pairs of them. */
enum { TICK_NS = 20000000, NS_PER_S = 1000000000 };
static const int64_t coarse_tick_ns = INT64_C(2) * NS_PER_S + TICK_NS;

static void look(const char *path, bool is_content, struct fact *fact)
{
	struct stat info;
	*fact = (struct fact){ .path = path, .is_content = is_content };
	/* Whatever the reason it cannot be seen for, a later success is a difference. */
	if (lstat(path, &info) < 0)
		return;
	fact->mode = (uint32_t)info.st_mode;
	fact->uid = (uint32_t)info.st_uid;
	fact->device = (uint64_t)info.st_dev;
	fact->inode = (uint64_t)info.st_ino;
	/* Directories change with every file that is made in them; only what the plan asked of them counts. */
	if (S_ISDIR(info.st_mode) && !is_content)
		return;
	fact->size = (uint64_t)info.st_size;
	fact->changed_s = (int64_t)info.st_ctim.tv_sec;
	fact->changed_ns = (int64_t)info.st_ctim.tv_nsec;
}

static bool is_same(const struct fact *a, const struct fact *b)
{
	return a->mode == b->mode && a->uid == b->uid && a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

static struct fact *find(const struct facts *facts, const char *path)
{
	for (size_t i = facts->count; i-- > 0;)
		if (strcmp(facts->items[i].path, path) == 0)
			return &facts->items[i];
	return NULL;
}

/* Noted before the question is asked: a change in between then shows as a difference, not as a fact. */
static void note(struct facts *facts, const char *path, bool is_content)
{
	struct fact *known = find(facts, path), now;
	look(path, known ? known->is_content : is_content, &now);
	if (!known) {
		now.path = arena_copy(facts->arena, path);
		*arena_push(facts->arena, facts) = now;
		return;
	}
	if (!is_same(known, &now))
		facts->is_unstable = true;
	if (is_content && !known->is_content)
		look(known->path, true, known);
}

static struct facts *self_of(const struct filesystem *fs)
{
	return fs->self;
}

static int record_inspect(const struct filesystem *fs, const char *path, struct file_info *info)
{
	struct facts *facts = self_of(fs);
	note(facts, path, false);
	return facts->host->inspect(facts->host, path, info);
}

static int record_read_link(const struct filesystem *fs, struct arena *arena, const char *path, char **target)
{
	struct facts *facts = self_of(fs);
	note(facts, path, true);
	return facts->host->read_link(facts->host, arena, path, target);
}

static int record_read_small(const struct filesystem *fs, struct arena *arena, const char *path, size_t limit, char **text,
			     size_t *length)
{
	struct facts *facts = self_of(fs);
	note(facts, path, true);
	return facts->host->read_small(facts->host, arena, path, limit, text, length);
}

/* Resolution asks for names, not for trees; what a walk finds is looked for again at every launch. */
static int record_walk(const struct filesystem *fs, const char *root,
		       enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type),
		       void *self, struct error *err)
{
	struct facts *facts = self_of(fs);
	facts->is_unstable = true;
	return facts->host->walk(facts->host, root, visit, self, err);
}

const struct filesystem *facts_record(struct facts *facts, struct arena *arena, const struct filesystem *host)
{
	*facts = (struct facts){ .arena = arena, .host = host };
	facts->recorder = (struct filesystem){
		.inspect = record_inspect,
		.read_link = record_read_link,
		.read_small = record_read_small,
		.walk = record_walk,
		.is_closed = host->is_closed,
		.is_case_insensitive = host->is_case_insensitive,
		.self = facts,
	};
	return &facts->recorder;
}

void facts_note_content(struct facts *facts, const char *path)
{
	note(facts, path, true);
}

static bool is_recent(const struct fact *fact, const struct timespec *now)
{
	int64_t age;
	if (fact->mode == 0 || !fact->is_content)
		return false;
	age = ((int64_t)now->tv_sec - fact->changed_s) * NS_PER_S + now->tv_nsec - fact->changed_ns;
	return age < (fact->changed_ns == 0 ? coarse_tick_ns : TICK_NS);
}

void facts_settle(struct facts *facts)
{
	struct timespec now = { 0 };
	clock_gettime(CLOCK_REALTIME, &now);
	if (facts_broken(facts->items, facts->count))
		facts->is_unstable = true;
	for (size_t i = 0; i < facts->count; i++)
		if (is_recent(&facts->items[i], &now))
			facts->is_unstable = true;
}

const char *facts_broken(const struct fact *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct fact now;
		look(items[i].path, items[i].is_content, &now);
		if (!is_same(&items[i], &now))
			return items[i].path;
	}
	return NULL;
}
