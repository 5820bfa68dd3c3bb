/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces another program's file: writes the whole text to a temporary file, then renames it, and
 * only if the original is unchanged. Follows symlinks in the given path once, by name, because dot
 * files are often linked. After that it follows none, so a user with write access to the directory
 * cannot redirect the change. */
#include "common/setup/settings_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/base/text.h"

enum { NEW_FILE_MODE = 0644, NEW_DIRECTORY_MODE = 0755 };

/* Opens each component separately: never enters a directory that was replaced by a symlink since
 * the path was resolved. */
static int open_directory(struct arena *arena, const char *path, struct error *err)
{
	autoclose int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *part = path + 1;

	while (fd >= 0 && *part) {
		size_t length = strcspn(part, "/");
		const char *name = arena_copy_n(arena, part, length);
		int next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int number = errno;
		close(fd);
		fd = next;
		errno = number;
		part += length + (part[length] == '/');
	}
	if (fd < 0)
		return error_errno(err, errno, "cannot open %s", path);
	return steal_fd(&fd);
}

static int refuse(const struct setup_file *file, const char *why, struct error *err)
{
	error_set(err, "%s: %s", file->real, why);
	return error_hint(err, "nothing was written");
}

static int judge(const struct setup_file *file, const struct stat *status, struct error *err)
{
	if (!S_ISREG(status->st_mode))
		return refuse(file, "not a regular file", err);
	if (status->st_nlink != 1)
		return refuse(file, "has a second hard link, which would keep the old content", err);
	if (status->st_uid != geteuid() && geteuid() != 0)
		return refuse(file, "belongs to another user", err);
	if (status->st_size > JSONC_SIZE_MAX)
		return refuse(file, "too large for a settings file", err);
	return 0;
}

static int open_file(struct arena *arena, const struct setup_file *file, int directory, struct stat *status,
		     struct jsonc_text *text, struct error *err)
{
	struct private_file content;
	autoclose int fd = private_file_open(directory, path_base_name(file->real), 0, status);
	if (fd < 0)
		return error_errno(err, errno, "cannot read %s", file->real);
	if (judge(file, status, err) < 0)
		return -1;
	if (private_file_read_fd(arena, fd, JSONC_SIZE_MAX, &content) < 0)
		return error_errno(err, errno, "cannot read %s", file->real);
	*text = (struct jsonc_text){ content.bytes, content.length };
	return 0;
}

int setup_file_peek(struct arena *arena, const char *path, struct jsonc_text *text, struct error *err)
{
	autoclose int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct private_file content;
	struct stat status;

	*text = (struct jsonc_text){ "", 0 };
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 || fstat(fd, &status) < 0)
		return error_errno(err, errno, "cannot read %s", path);
	if (!S_ISREG(status.st_mode))
		return error_set(err, "%s: not a regular file", path);
	if (private_file_read_fd(arena, fd, JSONC_SIZE_MAX, &content) < 0)
		return error_errno(err, errno, "cannot read %s", path);
	*text = (struct jsonc_text){ content.bytes, content.length };
	return 0;
}

static const char *topmost_missing(struct arena *arena, const char *path)
{
	const char *missing = NULL;
	struct stat status;
	for (; lstat(path, &status) < 0 && errno == ENOENT && strcmp(path, "/") != 0; path = path_parent(arena, path))
		missing = path;
	return missing;
}

int setup_file_read(struct arena *arena, const struct context *context, const char *path, struct setup_file *file,
		    struct error *err)
{
	struct path_links links = { 0 };
	struct file_info info;
	struct stat status = { 0 };
	autoclose int directory = -1;

	*file = (struct setup_file){ .path = path, .text = { "", 0 } };
	if (text_has_control(path, strlen(path)))
		return error_set(err, "the path of the settings file has control characters");
	if (path_resolve(context->fs, arena, path, &file->real, &links, &info, err) < 0)
		return -1;
	file->is_link = strcmp(file->path, file->real) != 0;
	if (info.type == FILE_ABSENT) {
		file->missing = topmost_missing(arena, path_parent(arena, file->real));
		return 0;
	}
	directory = open_directory(arena, path_parent(arena, file->real), err);
	if (directory < 0 || open_file(arena, file, directory, &status, &file->text, err) < 0)
		return -1;
	file->exists = true;
	file->mode = status.st_mode & 07777;
	file->uid = status.st_uid;
	file->gid = status.st_gid;
	file->device = status.st_dev;
	file->inode = status.st_ino;
	return 0;
}

/* Fails if the file differs from what was read, or if an absent file now exists. */
static int check_unchanged(struct arena *arena, const struct setup_file *file, int directory, struct error *err)
{
	struct jsonc_text text = { "", 0 };
	struct stat status = { 0 };

	if (!file->exists) {
		if (fstatat(directory, path_base_name(file->real), &status, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
			return 0;
	} else if (open_file(arena, file, directory, &status, &text, err) < 0) {
		return -1;
	} else if (status.st_dev == file->device && status.st_ino == file->inode && text.length == file->text.length &&
		   memcmp(text.data, file->text.data, text.length) == 0)
		return 0;
	error_set(err, "%s changed meanwhile; nothing was written", file->real);
	return error_hint(err, "run it again");
}

static int fill(const struct setup_file *file, int fd, struct jsonc_text text)
{
	struct stat status;
	if (text_write(fd, text.data, text.length) < 0 || fstat(fd, &status) < 0)
		return -1;
	if (file->exists && (status.st_uid != file->uid || status.st_gid != file->gid) && fchown(fd, file->uid, file->gid) < 0)
		return -1;
	/* After fchown(), which clears special bits. */
	if (file->exists && fchmod(fd, file->mode) < 0)
		return -1;
	return fsync(fd);
}

static int make_temporary(const struct setup_file *file, int directory, struct jsonc_text text, struct private_file_new *made,
			  struct error *err)
{
	if (private_file_begin(made, directory, NULL, file->exists ? 0600 : NEW_FILE_MODE) < 0)
		return error_errno(err, errno, "cannot create a file beside %s", file->real);
	if (fill(file, made->fd, text) == 0)
		return 0;
	error_errno(err, errno, "cannot write %s", file->real);
	private_file_abandon(made);
	return -1;
}

static int put_in_place(const struct setup_file *file, struct private_file_new *made, struct error *err)
{
	if (private_file_finish(made, path_base_name(file->real), file->exists) < 0)
		return error_errno(err, errno, "cannot write %s", file->real);
	fsync(made->directory);
	return 0;
}

/* Creates the directory and its parents. */
static int make_directories(struct arena *arena, const char *path, struct error *err)
{
	for (const char *end = strchr(path + 1, '/');; end = strchr(end + 1, '/')) {
		const char *part = end ? arena_copy_n(arena, path, (size_t)(end - path)) : path;
		if (mkdir(part, NEW_DIRECTORY_MODE) < 0 && errno != EEXIST)
			return error_errno(err, errno, "cannot create %s", part);
		if (!end)
			return 0;
	}
}

int setup_file_write(struct arena *arena, const struct setup_file *file, struct jsonc_text text, struct error *err)
{
	const char *parent = path_parent(arena, file->real);
	struct private_file_new made;
	autoclose int directory = -1;

	if (file->missing && make_directories(arena, parent, err) < 0)
		return -1;
	directory = open_directory(arena, parent, err);
	if (directory < 0 || make_temporary(file, directory, text, &made, err) < 0)
		return -1;
	if (check_unchanged(arena, file, directory, err) < 0) {
		private_file_abandon(&made);
		return -1;
	}
	return put_in_place(file, &made, err);
}

int setup_file_remove(struct arena *arena, const struct setup_file *file, const char *made, struct error *err)
{
	const char *parent = path_parent(arena, file->real);
	autoclose int directory = open_directory(arena, parent, err);

	if (directory < 0 || check_unchanged(arena, file, directory, err) < 0)
		return -1;
	if (unlinkat(directory, path_base_name(file->real), 0) < 0)
		return error_errno(err, errno, "cannot remove %s", file->real);
	/* rmdir() removes only empty directories. */
	while (made && path_is_within(parent, made) && rmdir(parent) == 0)
		parent = path_parent(arena, parent);
	return 0;
}
