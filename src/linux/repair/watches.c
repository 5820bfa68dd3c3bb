/* SPDX-License-Identifier: Apache-2.0 */
/* The table of watched directories. A directory that was renamed is added again under its new path:
 * the kernel returns the same descriptor for the same directory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"
#include "linux/repair/internal.h"

enum {
	WATCHES_FALLBACK = 4096, /* if the kernel's limit is not known */
	/* Descriptors are not reused: with more, the table would grow without bound. */
	WATCHES_EVER = 16 << 20,
};

static const uint32_t watched_events = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_ONLYDIR | IN_DONT_FOLLOW;

/* Half of the user's watches: editors and build tools need them too. */
static size_t read_limit(void)
{
	autofclose FILE *file = fopen("/proc/sys/fs/inotify/max_user_watches", "re");
	char line[32] = "";
	uint64_t limit;
	if (!file || !fgets(line, sizeof line, file))
		return WATCHES_FALLBACK;
	line[strcspn(line, "\n")] = '\0';
	return text_parse_u64(line, SIZE_MAX, &limit) ? (size_t)limit / 2 : WATCHES_FALLBACK;
}

int watches_open(struct watches *watches)
{
	*watches = (struct watches){ .limit = read_limit() };
	watches->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	return watches->inotify < 0 ? -1 : 0;
}

static bool make_room(struct watches *watches, size_t wd)
{
	size_t room = watches->room ? watches->room : 64;
	char **paths;
	if (wd < watches->room)
		return true;
	if (wd >= WATCHES_EVER)
		return false;
	while (room <= wd)
		room *= 2;
	paths = realloc(watches->paths, room * sizeof *paths);
	if (!paths)
		return false;
	memset(paths + watches->room, 0, (room - watches->room) * sizeof *paths);
	watches->paths = paths;
	watches->room = room;
	return true;
}

/* Watches a name in the working directory. */
static bool add_here(struct watches *watches, const char *name, uint32_t events, const char *path)
{
	char *copy;
	int wd;
	if (watches->count >= watches->limit) {
		watches->is_full = true;
		errno = ENOSPC;
		return false;
	}
	wd = inotify_add_watch(watches->inotify, name, events);
	if (wd < 0) {
		watches->is_full |= errno == ENOSPC || errno == ENOMEM;
		return false;
	}
	copy = make_room(watches, (size_t)wd) ? strdup(path) : NULL;
	if (!copy) {
		inotify_rm_watch(watches->inotify, wd);
		watches->is_full = true;
		errno = ENOMEM;
		return false;
	}
	watches->count += watches->paths[wd] == NULL;
	free(watches->paths[wd]);
	watches->paths[wd] = copy;
	return true;
}

/* The fd cannot be named: the view's /proc has no entry for this process. */
bool watches_add(struct watches *watches, int fd, const char *path, bool has_deletions)
{
	if (watches->inotify < 0 || fchdir(fd) < 0)
		return false;
	return add_here(watches, ".", watched_events | (has_deletions ? IN_DELETE : 0u), path);
}

bool watches_add_file(struct watches *watches, int directory, const char *name, const char *path)
{
	if (watches->inotify < 0 || fchdir(directory) < 0)
		return false;
	return add_here(watches, name, IN_MODIFY | IN_DONT_FOLLOW, path);
}

const char *watches_path(const struct watches *watches, int wd)
{
	return wd >= 0 && (size_t)wd < watches->room ? watches->paths[wd] : NULL;
}

void watches_forget(struct watches *watches, int wd)
{
	if (!watches_path(watches, wd))
		return;
	free(watches->paths[wd]);
	watches->paths[wd] = NULL;
	watches->count--;
}
