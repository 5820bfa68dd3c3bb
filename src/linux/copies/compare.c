/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at single files of the copy and of the project, by one name in an open directory. Follows
 * no symlink and never blocks on a FIFO. */
#include "linux/copies/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/base/text.h"
#include "common/fs/path.h"

enum { CHUNK = 64 << 10, FD_PATH = 32 };

static const int read_flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;

struct copy_identity compare_identity(const struct stat *info)
{
	return (struct copy_identity){ .inode = info->st_ino,
				       .seconds = info->st_ctim.tv_sec,
				       .nanoseconds = (uint32_t)info->st_ctim.tv_nsec };
}

bool compare_is_same(const struct copy_identity *left, const struct copy_identity *right)
{
	return left->inode == right->inode && left->seconds == right->seconds && left->nanoseconds == right->nanoseconds;
}

bool compare_is_opaque(int directory)
{
	char value = 0;
	return fgetxattr(directory, "user.overlay.opaque", &value, 1) == 1 && value == 'y';
}

/* Attributes of a file that cannot be opened for reading are reached by its O_PATH fd. */
static bool open_path(int directory, const char *name, int *fd, char path[FD_PATH])
{
	*fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (*fd >= 0)
		snprintf(path, FD_PATH, "/proc/self/fd/%d", *fd);
	return *fd >= 0;
}

bool compare_has_origin(int directory, const char *name)
{
	autoclose int fd = -1;
	char path[FD_PATH];
	return open_path(directory, name, &fd, path) && getxattr(path, "user.overlay.origin", NULL, 0) >= 0;
}

bool compare_same_content(int left, int right, const char *name, uint64_t size)
{
	autoclose int one = openat(left, name, read_flags), two = openat(right, name, read_flags);
	static char first[CHUNK], second[CHUNK];

	if (one < 0 || two < 0)
		return false;
	for (uint64_t at = 0; at < size;) {
		ssize_t length = text_read(one, first, CHUNK);
		if (length <= 0 || text_read(two, second, CHUNK) != length || memcmp(first, second, (size_t)length) != 0)
			return false;
		at += (uint64_t)length;
	}
	return true;
}

const char *compare_target(struct arena *arena, int directory, const char *name)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(directory, name, target, sizeof target);
	return length <= 0 ? NULL : arena_copy_n(arena, target, (size_t)length);
}

bool compare_leads_out(const char *project, const char *path, const char *target)
{
	long depth = 0;
	if (target[0] == '/')
		return !path_is_absolute_clean(target) || !path_is_within(target, project);
	for (const char *at = path; *at; at++)
		depth += *at == '/';
	for (const char *at = target; *at;) {
		size_t length = strcspn(at, "/");
		if (length == 2 && at[0] == '.' && at[1] == '.')
			depth--;
		else if (length > 0 && !(length == 1 && at[0] == '.'))
			depth++;
		if (depth < 0)
			return true;
		at += length + (at[length] == '/');
	}
	return false;
}

int copy_read(struct arena *arena, const struct copy *copy, const struct copy_change *change, enum copy_which which,
	      size_t maximum, char **bytes, size_t *length)
{
	const struct copy_side *side = which == COPY_BEFORE ? &change->before : &change->after;
	autoclose int root = which == COPY_BEFORE ? open(copy->project, O_PATH | O_DIRECTORY | O_CLOEXEC)
						  : copies_open_below(copy->fd, copy_layer(copy), O_PATH | O_DIRECTORY);
	autoclose int fd = root < 0 ? -1 : copies_open_below(root, change->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct private_file file;

	if (fd < 0 || private_file_read_fd(arena, fd, maximum, &file) < 0)
		return -1;
	if (file.info.st_ino != side->identity.inode) {
		errno = EAGAIN;
		return -1;
	}
	*bytes = file.bytes;
	*length = file.length;
	return 0;
}
