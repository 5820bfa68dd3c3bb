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
#include <linux/stat.h> /* musl 1.2.3 has no statx */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/guard/caller.h"
#include "linux/guard/rules.h"

enum { LINK_BYTES = 64 };

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
	char link[LINK_BYTES];
	ssize_t length;
	snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
	length = readlink(link, path, PATH_MAX);
	if (length >= PATH_MAX || (length < 0 && errno == ENAMETOOLONG))
		return 0;
	return length > 0 && path[0] == '/' ? length : -1;
}

/* Goes up one directory: writes the name and replaces the fd. Returns 0 or an errno. */
static int ascend(int *directory, struct backwards *path)
{
	struct identity identity;
	char name[NAME_MAX + 1];
	int parent = openat(*directory, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return errno;
	if (!identify(*directory, "", &identity) || !find_name(parent, &identity, name)) {
		close(parent);
		return ENOENT;
	}
	close(*directory);
	*directory = parent;
	return prepend(path, name, strlen(name)) && prepend(path, "/", 1) ? 0 : ENAMETOOLONG;
}

int caller_long_path(int directory, const char *name, char **path)
{
	autofree char *bytes = malloc(GUARD_PATH_BYTES);
	autoclose int at = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	struct backwards backwards = { bytes, GUARD_PATH_BYTES };
	char known[PATH_MAX];
	ssize_t length = 0;
	int failed = 0;

	*path = NULL;
	if (!bytes || at < 0)
		return ENOMEM;
	if (!prepend(&backwards, name, strlen(name) + 1) || !prepend(&backwards, "/", 1))
		return ENAMETOOLONG;
	while (!failed && (length = told(at, known)) == 0)
		failed = ascend(&at, &backwards);
	if (failed || length < 0)
		return failed ? failed : ENOENT;
	if (!prepend(&backwards, known, (size_t)length))
		return ENAMETOOLONG;
	*path = strdup(bytes + backwards.start);
	return *path ? 0 : ENOMEM;
}
