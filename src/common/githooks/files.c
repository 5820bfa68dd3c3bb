/* SPDX-License-Identifier: Apache-2.0 */
/* See hooks_files.h. A file appears whole or not at all; what belongs to somebody else is not touched. */
#include "common/githooks/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/fs/filesystem.h"
#include "common/githooks/include_block.h"
#include "common/base/text.h"

enum { CONFIG_MAX = 1 << 20, MODE_FILE = 0644, MODE_SCRIPT = 0755 };

static int canonical_of(struct arena *arena, const char *path, const char **canonical, struct error *err)
{
	return path_resolve(filesystem_host(), arena, path_absolute(arena, "/", path), canonical, NULL, NULL, err);
}

static int read_all(struct arena *arena, int fd, size_t size, const char *path, const char **text, struct error *err)
{
	char *bytes = arena_alloc(arena, size + 1);
	ssize_t count = text_read(fd, bytes, size);
	if (count != (ssize_t)size)
		return error_errno(err, count < 0 ? errno : EIO, "cannot read %s", path);
	if (memchr(bytes, '\0', size))
		return error_set(err, "%s is no text", path);
	*text = bytes;
	return 0;
}

int hooks_read(struct arena *arena, const char *path, const char **text, struct error *err)
{
	const char *canonical;
	struct stat info;
	autoclose int fd = -1;

	*text = NULL;
	if (canonical_of(arena, path, &canonical, err) < 0)
		return -1;
	fd = open(canonical, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : error_errno(err, errno, "cannot open %s", path);
	if (fstat(fd, &info) < 0)
		return error_errno(err, errno, "cannot look at %s", path);
	if (!S_ISREG(info.st_mode) || info.st_uid != getuid() || info.st_size > CONFIG_MAX)
		return error_set(err, "%s is not a file of yours, or too large", path);
	return read_all(arena, fd, (size_t)info.st_size, path, text, err);
}

static int write_new(const char *path, const char *text, mode_t mode, struct error *err)
{
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, errno, "cannot create %s", path);
	if (text_write(fd, text, strlen(text)) < 0 || fchmod(fd, mode) < 0 || fsync(fd) < 0)
		return error_errno(err, errno, "cannot write %s", path);
	return 0;
}

int hooks_replace(struct arena *arena, const char *path, const char *text, struct error *err)
{
	const char *canonical, *lock;
	struct stat info;
	mode_t mode = MODE_FILE;

	if (canonical_of(arena, path, &canonical, err) < 0)
		return -1;
	if (lstat(canonical, &info) == 0)
		mode = info.st_mode & 07777;
	lock = arena_printf(arena, "%s.lock", canonical);
	if (write_new(lock, text ? text : "", mode, err) < 0) {
		if (err->number == EEXIST)
			return error_hint(err, "git, or another program, is changing %s; if none runs, remove that file", path);
		unlink(lock);
		return -1;
	}
	if ((text ? rename(lock, canonical) : unlink(canonical)) < 0) {
		error_errno(err, errno, "cannot replace %s", path);
		unlink(lock);
		return -1;
	}
	if (!text)
		unlink(lock);
	return 0;
}

/* Every directory down to it, the user's own from the home on. */
static int make_directories(struct arena *arena, const char *home, const char *path, struct error *err)
{
	struct stat info;
	if (strcmp(path, home) == 0)
		return 0;
	if (make_directories(arena, home, path_parent(arena, path), err) < 0)
		return -1;
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return error_errno(err, errno, "cannot make %s", path);
	if (stat(path, &info) < 0 || !S_ISDIR(info.st_mode) || info.st_uid != getuid() || (info.st_mode & (S_IWGRP | S_IWOTH)))
		return error_set(err, "%s is not a directory that you alone can write", path);
	return 0;
}

static bool is_as_it_should(struct arena *arena, const char *path, const char *text, mode_t mode)
{
	const char *found;
	struct error ignored;
	struct stat info;
	return lstat(path, &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0777) == mode &&
	       hooks_read(arena, path, &found, &ignored) == 0 && found && strcmp(found, text) == 0;
}

static int put(struct arena *arena, const char *path, const char *text, mode_t mode, struct error *err)
{
	const char *temporary = arena_printf(arena, "%s.new-%ld", path, (long)getpid());
	if (is_as_it_should(arena, path, text, mode))
		return 0;
	unlink(temporary);
	if (write_new(temporary, text, mode, err) < 0)
		return -1;
	if (rename(temporary, path) < 0)
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
		if (!is_as_it_should(arena, path, script, MODE_SCRIPT))
			*problem = path;
	}
	if (!*problem && !is_as_it_should(arena, hooks_include(arena, home), hooks_include_text(arena, directory), MODE_FILE))
		*problem = hooks_include(arena, home);
}
