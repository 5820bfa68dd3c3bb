/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that are longer than the kernel tells. The walk goes up by "..", and finds the name of each
 * directory in its parent, until a directory has a path that the kernel tells.
 *
 * Directories can be renamed during the walk, so the result may be a path that never existed as a
 * whole. The rules stay exact: a directory that a host looks into cannot be renamed, nor another
 * moved to its path, so the part of the path that they depend on does not change. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef STATX_TYPE
#include <linux/stat.h> /* musl 1.2.3 has no statx */
#endif

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "linux/guard/caller.h"
#include "linux/guard/rules.h"

/* Identifies a directory: no two have the same inode, and one that is mounted twice has two
 * mounts. */
struct identity {
	uint64_t inode, mount;
	uint32_t major, minor;
};

static bool identify(int directory, const char *name, struct identity *identity)
{
	struct statx info;
	const unsigned wanted = STATX_TYPE | STATX_INO | STATX_MNT_ID;
	if (syscall(SYS_statx, directory, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, wanted, &info) < 0 ||
	    (info.stx_mask & wanted) != wanted || !S_ISDIR(info.stx_mode))
		return false;
	*identity = (struct identity){ info.stx_ino, info.stx_mnt_id, info.stx_dev_major, info.stx_dev_minor };
	return true;
}

static bool is_same(const struct identity *left, const struct identity *right)
{
	return left->inode == right->inode && left->mount == right->mount && left->major == right->major &&
	       left->minor == right->minor;
}

/* A mount point is listed with the inode below the mount: so first the entries with the inode, then
 * all others. */
static bool find_name(int parent, const struct identity *child, char name[NAME_MAX + 1])
{
	autoclosedir DIR *entries = NULL;
	int list = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (list >= 0 && !(entries = fdopendir(list)))
		close(list);
	for (int pass = 0; entries && pass < 2; pass++) {
		const struct dirent *entry;
		struct identity identity;
		rewinddir(entries);
		while ((entry = readdir(entries))) {
			if ((entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) || strcmp(entry->d_name, ".") == 0 ||
			    strcmp(entry->d_name, "..") == 0 || (entry->d_ino == child->inode) != (pass == 0) ||
			    !identify(parent, entry->d_name, &identity) || !is_same(&identity, child))
				continue;
			strcpy(name, entry->d_name);
			return true;
		}
	}
	return false;
}

/* Paths of directories that were found lately, so that a walk ends at the nearest of them: without
 * them every name in a tree of thousands of directories would take a walk through all. The fd keeps
 * the inode from being used again. A path that is no longer true does no harm, for the reason
 * above; the time bounds it for renames by the host. */
enum { RECENT = 4, RECENT_MS = 100 };
static struct recent {
	int directory; /* 0: none */
	struct identity identity;
	char *path;
	int64_t at;
} recents[RECENT];
static size_t next_recent;
static pthread_mutex_t recent_lock = PTHREAD_MUTEX_INITIALIZER;

/* Copies the path. Returns its length, or 0 if it is not known. */
static size_t recall(const struct identity *identity, char path[GUARD_PATH_BYTES])
{
	int64_t now = clock_ms();
	size_t length = 0;
	pthread_mutex_lock(&recent_lock);
	for (size_t i = 0; i < RECENT && !length; i++)
		if (recents[i].directory && now - recents[i].at < RECENT_MS && is_same(&recents[i].identity, identity)) {
			length = strlen(recents[i].path);
			memcpy(path, recents[i].path, length);
		}
	pthread_mutex_unlock(&recent_lock);
	return length;
}

static void remember(int directory, const struct identity *identity, const char *path, size_t length)
{
	struct recent entry = { fcntl(directory, F_DUPFD_CLOEXEC, 1), *identity, strndup(path, length), clock_ms() };
	struct recent old = entry;
	if (entry.directory > 0 && entry.path) {
		pthread_mutex_lock(&recent_lock);
		old = recents[next_recent];
		recents[next_recent] = entry;
		next_recent = (next_recent + 1) % RECENT;
		pthread_mutex_unlock(&recent_lock);
	}
	if (old.directory > 0)
		close(old.directory);
	free(old.path);
}

/* A path that is written from its end. */
struct backwards {
	char *bytes; /* GUARD_PATH_BYTES */
	size_t start;
};

static bool prepend(struct backwards *path, const char *text, size_t length)
{
	if (length > path->start)
		return false;
	path->start -= length;
	memcpy(path->bytes + path->start, text, length);
	return true;
}

/* Returns the length of the path that the kernel tells; 0 if it is too long for it, or -1. */
static ssize_t told(int directory, char path[PATH_MAX])
{
	ssize_t length = caller_path_of(directory, path, PATH_MAX);
	if (length >= PATH_MAX || (length < 0 && errno == ENAMETOOLONG))
		return 0;
	return length > 0 && path[0] == '/' ? length : -1;
}

/* Goes up one directory: writes the name and replaces the fd. Returns 0 or an errno. */
static int ascend(int *directory, const struct identity *identity, struct backwards *path)
{
	char name[NAME_MAX + 1];
	int parent = openat(*directory, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return errno;
	if (!find_name(parent, identity, name)) {
		close(parent);
		return ENOENT;
	}
	close(*directory);
	*directory = parent;
	return prepend(path, name, strlen(name)) && prepend(path, "/", 1) ? 0 : ENAMETOOLONG;
}

/* Finds the path of the directory, which it replaces by one above. Returns 0 or an errno. */
static int walk_up(int *directory, struct backwards *path)
{
	autofree char *known = malloc(GUARD_PATH_BYTES);
	struct identity identity;
	if (!known)
		return ENOMEM;
	for (;;) {
		ssize_t length = told(*directory, known);
		int failed;
		if (length < 0 || (length == 0 && !identify(*directory, "", &identity)))
			return ENOENT;
		if (length == 0)
			length = (ssize_t)recall(&identity, known);
		if (length > 0)
			return prepend(path, known, (size_t)length) ? 0 : ENAMETOOLONG;
		failed = ascend(directory, &identity, path);
		if (failed)
			return failed;
	}
}

int caller_long_path(int directory, const char *name, char **path)
{
	autofree char *bytes = malloc(GUARD_PATH_BYTES);
	autoclose int at = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	struct backwards backwards = { bytes, GUARD_PATH_BYTES };
	size_t name_bytes = strlen(name) + 2; /* with slash and NUL */
	struct identity identity;
	int failed;

	*path = NULL;
	if (!bytes || at < 0)
		return ENOMEM;
	if (!prepend(&backwards, name, name_bytes - 1) || !prepend(&backwards, "/", 1))
		return ENAMETOOLONG;
	failed = walk_up(&at, &backwards);
	if (failed)
		return failed;
	*path = strdup(bytes + backwards.start);
	if (*path && identify(directory, "", &identity))
		remember(directory, &identity, *path, strlen(*path) + 1 - name_bytes);
	return *path ? 0 : ENOMEM;
}
