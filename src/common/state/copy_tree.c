/* SPDX-License-Identifier: Apache-2.0 */
/* The tree may be hostile: its size and depth are bounded, and every entry is reached by one name
 * from an open directory. */
#include "common/state/copy_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#ifndef __APPLE__
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/file_time.h"
#include "common/base/text.h"

enum {
	BYTES_MAX = 256 << 20,
	ENTRIES_MAX = 100000,
	DEPTH_MAX = 48,
	BUFFER = 1 << 16,
};

struct copying {
	uint64_t bytes, entries;
};

int rename_exclusively(int source, const char *from, int target, const char *to)
{
#ifdef __APPLE__
	return renameatx_np(source, from, target, to, RENAME_EXCL);
#else
	enum { NO_REPLACE = 1 }; /* RENAME_NOREPLACE: musl 1.2.3 has neither it nor the function */
	return (int)syscall(SYS_renameat2, source, from, target, to, NO_REPLACE);
#endif
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int copy_bytes(struct copying *at, int from, int to, const struct stat *info)
{
	static char buffer[BUFFER];
	uint64_t total = 0;
	struct stat after;
	ssize_t length;

	while ((length = text_read(from, buffer, sizeof buffer)) > 0) {
		total += (uint64_t)length;
		at->bytes += (uint64_t)length;
		if (at->bytes > BYTES_MAX) {
			errno = EFBIG;
			return -1;
		}
		if (text_write(to, buffer, (size_t)length) < 0)
			return -1;
	}
	if (length < 0 || fstat(from, &after) < 0)
		return -1;
	if (total != (uint64_t)info->st_size || !is_same(info, &after)) {
		errno = EAGAIN;
		return -1;
	}
	return 0;
}

static int finish(int fd, const struct stat *info)
{
	const struct timespec times[2] = { info->st_mtim, info->st_mtim };
	if (fchmod(fd, info->st_mode & 0777) < 0 || futimens(fd, times) < 0)
		return -1;
	return fsync(fd) < 0 && errno != EINVAL ? -1 : 0;
}

static int copy_file(struct copying *at, int source, const char *from, int target, const char *to)
{
	autoclose int in = openat(source, from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	autoclose int out = -1;
	struct stat info;

	if (in < 0 || fstat(in, &info) < 0)
		return -1;
	if (!S_ISREG(info.st_mode)) {
		errno = EAGAIN;
		return -1;
	}
	out = openat(target, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return -1;
	return copy_bytes(at, in, out, &info) < 0 ? -1 : finish(out, &info);
}

static int copy_link(int source, const char *from, int target, const char *to)
{
	char link[PATH_MAX];
	ssize_t length = readlinkat(source, from, link, sizeof link - 1);
	if (length < 0)
		return -1;
	link[length] = '\0';
	return symlinkat(link, target, to);
}

static int copy_entry(struct copying *at, int source, const char *from, int target, const char *to, unsigned depth);

static int copy_entries(struct copying *at, DIR *stream, int source, int target, unsigned depth)
{
	const struct dirent *entry;
	for (errno = 0; (entry = readdir(stream)); errno = 0)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    copy_entry(at, source, entry->d_name, target, entry->d_name, depth + 1) < 0)
			return -1;
	return errno ? -1 : 0;
}

static int copy_directory(struct copying *at, int source, const char *from, int target, const char *to, unsigned depth)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	autoclosedir DIR *stream = NULL;
	autoclose int out = -1;
	struct stat info;
	int in = openat(source, from, flags);

	if (in >= 0 && !(stream = fdopendir(in)))
		close(in);
	if (!stream || fstat(in, &info) < 0 || mkdirat(target, to, 0700) < 0)
		return -1;
	out = openat(target, to, flags);
	if (out < 0 || copy_entries(at, stream, in, out, depth) < 0)
		return -1;
	return finish(out, &info);
}

static int copy_entry(struct copying *at, int source, const char *from, int target, const char *to, unsigned depth)
{
	struct stat info;
	if (fstatat(source, from, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (++at->entries > ENTRIES_MAX || depth > DEPTH_MAX) {
		errno = EFBIG;
		return -1;
	}
	if (S_ISREG(info.st_mode))
		return copy_file(at, source, from, target, to);
	if (S_ISDIR(info.st_mode))
		return copy_directory(at, source, from, target, to, depth);
	if (S_ISLNK(info.st_mode))
		return copy_link(source, from, target, to);
	if (S_ISFIFO(info.st_mode))
		return mkfifoat(target, to, info.st_mode & 0777);
	errno = EINVAL;
	return -1;
}

int copy_tree(int source, const char *from, int target, const char *to)
{
	struct copying at = { 0 };
	if (copy_entry(&at, source, from, target, to, 0) < 0)
		return -1;
	return fsync(target) < 0 && errno != EINVAL ? -1 : 0;
}
