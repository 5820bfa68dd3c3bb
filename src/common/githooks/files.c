/* SPDX-License-Identifier: Apache-2.0 */
/* Writes whole files or nothing. Never touches files of another user. */

#include "common/githooks/hooks.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/fs/filesystem.h"
#include "common/base/text.h"

enum { CONFIG_MAX = 1 << 20, MODE_FILE = 0644, MODE_SCRIPT = 0755 };

static int canonical_of(struct arena *arena, const char *path, const char **canonical, struct error *err)
{
	return path_resolve(filesystem_host(), arena, path_absolute(arena, "/", path), canonical, NULL, NULL, err);
}

int hooks_read(struct arena *arena, const char *path, const char **text, struct error *err)
{
	const char *canonical;
	struct private_file file;

	*text = NULL;
	if (canonical_of(arena, path, &canonical, err) < 0)
		return -1;
	if (private_file_read(arena, AT_FDCWD, canonical, 0, CONFIG_MAX, &file) < 0) {
		if (errno == EINVAL || errno == EFBIG)
			return error_set(err, "%s is not a regular file of yours, or is too large", path);
		return errno == ENOENT ? 0 : error_errno(err, errno, "cannot read %s", path);
	}
	if (file.info.st_uid != getuid())
		return error_set(err, "%s is not a regular file of yours, or is too large", path);
	if (memchr(file.bytes, '\0', file.length))
		return error_set(err, "%s is not a text file", path);
	*text = file.bytes;
	return 0;
}

static int open_directory(struct arena *arena, const char *path, struct error *err)
{
	const char *parent = path_parent(arena, path);
	int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? error_errno(err, errno, "cannot open %s", parent) : fd;
}

static int replace_locked(struct private_file_new *lock, const char *name, const char *text, mode_t mode)
{
	if (!text)
		return unlinkat(lock->directory, name, 0);
	if (text_write(lock->fd, text, strlen(text)) < 0 || fchmod(lock->fd, mode) < 0 || fsync(lock->fd) < 0)
		return -1;
	return private_file_finish(lock, name, true);
}

int hooks_replace(struct arena *arena, const char *path, const char *text, struct error *err)
{
	const char *canonical, *name;
	struct private_file_new lock;
	struct stat info;
	mode_t mode = MODE_FILE;
	autoclose int directory = -1;
	int status;

	if (canonical_of(arena, path, &canonical, err) < 0)
		return -1;
	directory = open_directory(arena, canonical, err);
	if (directory < 0)
		return -1;
	name = path_base_name(canonical);
	if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0)
		mode = info.st_mode & 07777;
	if (private_file_begin(&lock, directory, arena_printf(arena, "%s.lock", name), 0600) < 0) {
		error_errno(err, errno, "cannot create %s.lock", canonical);
		if (err->number == EEXIST)
			error_hint(err, "git or another program is changing %s; if none is running, remove the lock file",
				   path);
		return -1;
	}
	status = replace_locked(&lock, name, text, mode);
	if (status < 0)
		error_errno(err, errno, "cannot replace %s", path);
	private_file_abandon(&lock);
	return status;
}

/* Creates every directory below the home. Each must be the user's own, and writable by
 * no other user. */
static int make_directories(struct arena *arena, const char *home, const char *path, struct error *err)
{
	struct stat info;
	if (strcmp(path, home) == 0)
		return 0;
	if (make_directories(arena, home, path_parent(arena, path), err) < 0)
		return -1;
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return error_errno(err, errno, "cannot create %s", path);
	if (stat(path, &info) < 0 || !S_ISDIR(info.st_mode) || info.st_uid != getuid() || (info.st_mode & (S_IWGRP | S_IWOTH)))
		return error_set(err, "%s is not a directory that only you can write", path);
	return 0;
}

static bool is_up_to_date(struct arena *arena, const char *path, const char *text, mode_t mode)
{
	const char *found;
	struct error ignored;
	struct stat info;
	return lstat(path, &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0777) == mode &&
	       hooks_read(arena, path, &found, &ignored) == 0 && found && strcmp(found, text) == 0;
}

static int put(struct arena *arena, const char *path, const char *text, mode_t mode, struct error *err)
{
	const struct private_file_options options = { .mode = mode, .is_synced = true };
	autoclose int directory = -1;
	if (is_up_to_date(arena, path, text, mode))
		return 0;
	directory = open_directory(arena, path, err);
	if (directory < 0)
		return -1;
	if (private_file_write(directory, path_base_name(path), text, strlen(text), &options) < 0)
		return error_errno(err, errno, "cannot write %s", path);
	return 0;
}

int hooks_write_dispatcher(struct arena *arena, const char *home, const char *berm, struct error *err)
{
	const char *directory = hooks_directory(arena, home), *script = hooks_script(arena, berm);
	if (make_directories(arena, home, directory, err) < 0)
		return -1;
	for (size_t i = 0; hooks_names[i]; i++)
		if (put(arena, path_join(arena, directory, hooks_names[i]), script, MODE_SCRIPT, err) < 0)
			return -1;
	return put(arena, hooks_include(arena, home), hooks_include_text(arena, directory), MODE_FILE, err);
}

void hooks_check_dispatcher(struct arena *arena, const char *home, const char *berm, const char **problem)
{
	const char *directory = hooks_directory(arena, home), *script = hooks_script(arena, berm);
	*problem = NULL;
	for (size_t i = 0; hooks_names[i] && !*problem; i++) {
		const char *path = path_join(arena, directory, hooks_names[i]);
		if (!is_up_to_date(arena, path, script, MODE_SCRIPT))
			*problem = path;
	}
	if (!*problem && !is_up_to_date(arena, hooks_include(arena, home), hooks_include_text(arena, directory), MODE_FILE))
		*problem = hooks_include(arena, home);
}
