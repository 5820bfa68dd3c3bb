/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that the run left without permission to list them. Their content could not be judged,
 * while a program of the host that knows a name in one still reads it. The owner gets the
 * permission back, which the owner could take at any time. Directories that were closed at launch
 * were hidden from the run and stay as they are. */
#include "common/sweep/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/fs/path.h"

static const char reason[] = "it could not be listed, so that what is new in it could not be judged";

/* The list grows while it is worked off: below a directory that is opened may be further ones. */
struct closed {
	struct look *look;
	pthread_mutex_t lock; /* the walk has several threads */
	const char **items;
	size_t count;
};

static void push(struct closed *closed, const char *path)
{
	pthread_mutex_lock(&closed->lock);
	*(const char **)arena_push(closed->look->arena, closed) = arena_copy(closed->look->arena, path);
	pthread_mutex_unlock(&closed->lock);
}

static enum walk_step visit(void *self, const char *directory, const char *name, enum file_type type)
{
	char path[PATH_MAX];
	if (!path_join_into(path, sizeof path, directory, name))
		return WALK_SKIP;
	if (type == FILE_UNKNOWN)
		push(self, path);
	return type == FILE_DIRECTORY ? WALK_DESCEND : WALK_SKIP;
}

/* Gives the owner all rights to the directory, and to those above it that are in the way. False if
 * it is not the user's own, or no directory. */
static bool open_up(const struct look *look, const char *path)
{
	autoclose int parent = quarantine_open_parent(path);
	const char *above = path_parent(look->arena, path);
	struct stat info;
	if (parent < 0 && errno == EACCES && plan_is_below_writable(look->plan, above) && open_up(look, above))
		parent = quarantine_open_parent(path);
	if (parent < 0 || fstatat(parent, path_base_name(path), &info, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(info.st_mode) ||
	    info.st_uid != geteuid())
		return false;
	return fchmodat(parent, path_base_name(path), (info.st_mode & 07777) | S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0;
}

bool closed_open(struct look *look)
{
	struct closed closed = { .look = look };
	const struct filesystem *fs = look->plan->context.fs;
	struct error ignored = { 0 };
	bool has_opened = false;

	if (look->is_preview) {
		for (size_t i = 0; i < look->found.closed.count; i++)
			if (!facts_have(look->arena, look->baseline, FACT_CLOSED, look->found.closed.items[i].path, NULL))
				act_note(look, SWEEP_QUARANTINE, look->found.closed.items[i].path, reason);
		return false;
	}
	pthread_mutex_init(&closed.lock, NULL);
	for (size_t i = 0; i < look->found.closed.count; i++)
		push(&closed, look->found.closed.items[i].path);
	for (size_t i = 0; i < closed.count; i++) {
		const char *path = closed.items[i];
		if (facts_have(look->arena, look->baseline, FACT_CLOSED, path, NULL) || !open_up(look, path))
			continue;
		act_note(look, SWEEP_OPENED, path, reason);
		has_opened = true;
		(void)fs->walk(fs, path, visit, &closed, &ignored); /* the search is repeated */
	}
	pthread_mutex_destroy(&closed.lock);
	return has_opened;
}
