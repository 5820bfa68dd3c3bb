/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the file once and checks the open fd, so that it cannot be replaced between check and
 * read. */
#include "common/policy/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/base/text.h"

/* A command may have made it, in a project that had no policy: then every later run is refused. */
static int hint_removal(const char *command, const char *path, struct error *err)
{
	struct text word = { 0 };
	text_add_shell_word(&word, path);
	if (word.length < ERROR_HINT_MAX / 2) /* a command must not be cut */
		error_hint(err, "if it does not belong there: %s -- %s", command, word.data);
	text_free(&word);
	return -1;
}

static int check_file(const char *path, const struct stat *info, struct error *err)
{
	bool is_own_group = info->st_gid == getgid() && (uid_t)info->st_gid == info->st_uid;
	if (!S_ISREG(info->st_mode)) {
		error_set(err, "%s: not a regular file", path);
		return hint_removal(S_ISDIR(info->st_mode) ? "rm -r" : "rm", path, err);
	}
	if (info->st_uid != geteuid() && info->st_uid != 0) {
		error_set(err, "%s: belongs to another user (uid %u)", path, (unsigned)info->st_uid);
		return error_hint(err, "berm never reads a policy that another user could write");
	}
	if ((info->st_mode & S_IWOTH) || ((info->st_mode & S_IWGRP) && !is_own_group)) {
		error_set(err, "%s: other users can write to it", path);
		return error_hint(err, "fix: chmod go-w %s", path);
	}
	if (info->st_size > POLICY_FILE_MAX) {
		error_set(err, "%s: larger than 1 MiB", path);
		return hint_removal("rm", path, err);
	}
	return 0;
}

int policy_file_read(void *self, struct arena *arena, const char *path, char **text, size_t *length, struct error *err)
{
	struct private_file file;
	struct stat info;
	autoclose int fd = private_file_open(AT_FDCWD, path, 0, &info);

	(void)self;
	if (fd < 0 && errno == ELOOP) {
		error_set(err, "%s: is a symbolic link", path);
		error_hint(err, "policy files are not read through links: name the file itself");
		return hint_removal("rm", path, err);
	}
	if (fd < 0)
		return error_errno(err, errno, "cannot open %s", path);
	if (check_file(path, &info, err) < 0)
		return -1;
	if (private_file_read_fd(arena, fd, POLICY_FILE_MAX, &file) < 0)
		return error_errno(err, errno, "cannot read %s", path);
	if (file.length > (size_t)info.st_size)
		return error_set(err, "%s: grew while it was read", path);
	*text = file.bytes;
	*length = file.length;
	return 0;
}
