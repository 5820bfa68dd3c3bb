/* SPDX-License-Identifier: Apache-2.0 */
/* Handles trees made by a hostile command: directories without permissions, millions of levels,
 * symlinks, mounts. Removes only entries of an open directory that was reached from the top by
 * names alone. */
#include "common/state/remove_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/fs/posix.h"

enum {
	DEPTH_MAX = 48, /* open directories at once; deeper ones are first moved up to the top */
	MEASURE_MAX = 4000000, /* entries; a larger tree is reported as "more than" */
	NAME_TRIES = 1000,
};

static const int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

static bool is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

struct measurement {
	dev_t device;
	struct state_size *size;
};

static void measure_directory(struct measurement *at, int fd, unsigned depth);

static void measure_entry(struct measurement *at, int parent, const char *name, unsigned depth)
{
	struct stat info;
	int fd;

	if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) < 0) {
		at->size->is_partial |= errno != ENOENT;
		return;
	}
	at->size->entries++;
	at->size->bytes += (uint64_t)info.st_blocks * 512 / (S_ISDIR(info.st_mode) || info.st_nlink == 0 ? 1 : info.st_nlink);
	if (!S_ISDIR(info.st_mode))
		return;
	fd = info.st_dev == at->device && depth < DEPTH_MAX ? openat(parent, name, directory_flags) : -1;
	if (fd < 0)
		at->size->is_partial = true;
	else
		measure_directory(at, fd, depth + 1);
}

/* Closes fd. */
static void measure_directory(struct measurement *at, int fd, unsigned depth)
{
	autoclosedir DIR *stream = fdopendir(fd);
	const struct dirent *entry;

	if (!stream) {
		close(fd);
		at->size->is_partial = true;
		return;
	}
	while ((entry = readdir(stream))) {
		if (is_dots(entry->d_name))
			continue;
		if (at->size->entries >= MEASURE_MAX) {
			at->size->is_partial = true;
			return;
		}
		measure_entry(at, fd, entry->d_name, depth);
	}
}

void state_measure(int parent, const char *name, struct state_size *size)
{
	struct measurement at = { .size = size };
	struct stat info;
	int fd = openat(parent, name, directory_flags);

	*size = (struct state_size){ 0 };
	if (fd < 0) {
		size->is_partial = errno != ENOENT;
		return;
	}
	if (fstat(fd, &info) < 0) {
		close(fd);
		size->is_partial = true;
		return;
	}
	at.device = info.st_dev;
	measure_directory(&at, fd, 0);
}

struct removal {
	int top; /* the directory that is being removed */
	dev_t device;
	unsigned moved; /* directories that were moved up so far */
	const char *shown;
	struct error *err; /* the first failure */
};

/* Records the first failure. Removal continues with the other entries. */
static void fail(struct removal *at, int number, const char *name)
{
	if (error_is_set(at->err))
		return;
	error_errno(at->err, number, "cannot remove all of %s: %s", at->shown, name);
}

/* The command may have removed its own user's permissions. No other user can reach this tree, so
 * that nothing can be swapped between the calls. */
static int open_directory(int parent, const char *name)
{
	struct stat info;
	int fd = openat(parent, name, directory_flags);

	if (fd >= 0 || errno != EACCES)
		return fd;
	if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(info.st_mode) ||
	    fchmodat(parent, name, 0700, 0) < 0) {
		errno = EACCES;
		return -1;
	}
	return openat(parent, name, directory_flags);
}

/* Moves a directory to the top, where a later pass finds it. This bounds the number of open
 * directories, not the depth. */
static void move_up(struct removal *at, int parent, const char *name)
{
	char up[32];
	for (int tries = 0; tries < NAME_TRIES; tries++) {
		struct stat taken;
		snprintf(up, sizeof up, ".berm-deep-%u", at->moved++);
		if (fstatat(at->top, up, &taken, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		if (renameat(parent, name, at->top, up) < 0)
			fail(at, errno, name);
		return;
	}
	fail(at, EEXIST, name);
}

static void empty_directory(struct removal *at, int fd, unsigned depth);

static void remove_directory(struct removal *at, int parent, const char *name, unsigned depth)
{
	struct stat info;
	int fd;

	if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return;
	fd = open_directory(parent, name);
	if (fd < 0) {
		fail(at, errno, name);
		return;
	}
	if (fstat(fd, &info) < 0 || info.st_dev != at->device) {
		fail(at, EXDEV, name);
		close(fd);
		return;
	}
	/* Needed to unlink its entries and to move it to another parent. */
	if ((info.st_mode & 0700) != 0700 && fchmod(fd, 0700) < 0)
		fail(at, errno, name);
	if (depth >= DEPTH_MAX) {
		close(fd);
		move_up(at, parent, name);
		return;
	}
	empty_directory(at, fd, depth + 1);
	if (unlinkat(parent, name, AT_REMOVEDIR) < 0)
		fail(at, errno, name);
}

/* Closes fd. */
static void empty_directory(struct removal *at, int fd, unsigned depth)
{
	autoclosedir DIR *stream = fdopendir(fd);
	const struct dirent *entry;

	if (!stream) {
		fail(at, errno, ".");
		close(fd);
		return;
	}
	while ((entry = readdir(stream))) {
		if (is_dots(entry->d_name))
			continue;
		if (filesystem_type_of_entry(fd, entry->d_name, entry->d_type) == FILE_DIRECTORY)
			remove_directory(at, fd, entry->d_name, depth);
		else if (unlinkat(fd, entry->d_name, 0) < 0 && errno != ENOENT)
			fail(at, errno, entry->d_name);
	}
}

int state_remove(int parent, const char *name, const char *shown, struct error *err)
{
	autoclose int top = open_directory(parent, name);
	struct removal at = { .top = top, .shown = shown, .err = err };
	struct stat info;
	unsigned before;

	*err = (struct error){ 0 };
	if (top < 0 || fstat(top, &info) < 0)
		return error_errno(err, errno, "cannot remove %s", shown);
	if ((info.st_mode & 0700) != 0700 && fchmod(top, 0700) < 0)
		return error_errno(err, errno, "cannot remove %s", shown);
	at.device = info.st_dev;
	do {
		int again = openat(top, ".", directory_flags);
		if (again < 0)
			return error_errno(err, errno, "cannot remove %s", shown);
		before = at.moved;
		empty_directory(&at, again, 0);
	} while (at.moved != before && !error_is_set(err));
	if (error_is_set(err))
		return -1;
	if (unlinkat(parent, name, AT_REMOVEDIR) < 0)
		return error_errno(err, errno, "cannot remove %s", shown);
	return 0;
}
