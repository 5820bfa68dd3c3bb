/* SPDX-License-Identifier: Apache-2.0 */
/* Opens once and judges what was opened, so that nothing can be swapped between the look and the read. */
#include "common/policy/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"

static int judge(const char *path, const struct stat *info, struct error *err)
{
	bool is_own_group = info->st_gid == getgid() && (uid_t)info->st_gid == info->st_uid;
	if (!S_ISREG(info->st_mode))
		return error_set(err, "%s: not a regular file", path);
	if (info->st_uid != geteuid() && info->st_uid != 0) {
		error_set(err, "%s: belongs to another user (uid %u)", path, (unsigned)info->st_uid);
		return error_hint(err, "berm never reads a policy that another user could write");
	}
	if ((info->st_mode & S_IWOTH) || ((info->st_mode & S_IWGRP) && !is_own_group)) {
		error_set(err, "%s: other users can write it", path);
		return error_hint(err, "fix: chmod go-w %s", path);
	}
	if (info->st_size > POLICY_FILE_MAX)
		return error_set(err, "%s: larger than 1 MiB", path);
	return 0;
}

int policy_file_read(void *self, struct arena *arena, const char *path, char **text, size_t *length, struct error *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat info;
	ssize_t used;
	char *buffer;

	(void)self;
	if (fd < 0 && errno == ELOOP) {
		error_set(err, "%s: is a symbolic link", path);
		return error_hint(err, "policy files are read only in place: name the file itself");
	}
	if (fd < 0)
		return error_errno(err, errno, "cannot open %s", path);
	if (fstat(fd, &info) < 0)
		return error_errno(err, errno, "cannot look at %s", path);
	if (judge(path, &info, err) < 0)
		return -1;
	buffer = arena_alloc(arena, POLICY_FILE_MAX + 2 < info.st_size + 2 ? POLICY_FILE_MAX + 2 : (size_t)info.st_size + 2);
	used = text_read(fd, buffer, (size_t)info.st_size + 1);
	if (used < 0)
		return error_errno(err, errno, "cannot read %s", path);
	if (used > info.st_size)
		return error_set(err, "%s: grew while it was read", path);
	buffer[used] = '\0';
	*text = buffer;
	*length = (size_t)used;
	return 0;
}
