/* SPDX-License-Identifier: Apache-2.0 */
/* Never follows a symlink, never blocks on a FIFO. The walk opens each directory relative to its
 * parent's fd, so that a directory that is swapped for a symlink is not followed. */
#include "common/fs/posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/progress.h"
#include "common/base/private_file.h"
#include "common/base/text.h"

enum {
	LINK_MAX_BYTES = 8192,
	DEPTH_MAX = 512, /* open fds at once; a deeper directory is an error, never skipped */
};

enum file_type filesystem_type_of_mode(mode_t mode)
{
	if (S_ISREG(mode))
		return FILE_REGULAR;
	if (S_ISDIR(mode))
		return FILE_DIRECTORY;
	if (S_ISLNK(mode))
		return FILE_SYMLINK;
	if (S_ISSOCK(mode))
		return FILE_SOCKET;
	if (S_ISCHR(mode) || S_ISBLK(mode))
		return FILE_DEVICE;
	if (S_ISFIFO(mode))
		return FILE_FIFO;
	return FILE_UNKNOWN;
}

enum file_type filesystem_type_of_entry(int directory_fd, const char *name, unsigned char d_type)
{
	struct stat status;
	switch (d_type) {
	case DT_REG:
		return FILE_REGULAR;
	case DT_DIR:
		return FILE_DIRECTORY;
	case DT_LNK:
		return FILE_SYMLINK;
	case DT_SOCK:
		return FILE_SOCKET;
	case DT_CHR:
	case DT_BLK:
		return FILE_DEVICE;
	case DT_FIFO:
		return FILE_FIFO;
	default:
		break;
	}
	if (fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? FILE_ABSENT : FILE_UNKNOWN;
	return filesystem_type_of_mode(status.st_mode);
}

int filesystem_posix_inspect(const struct filesystem *fs, const char *path, struct file_info *info)
{
	struct stat status;
	(void)fs;
	memset(info, 0, sizeof *info);
	if (lstat(path, &status) < 0)
		return errno == ENOENT ? 0 : -1;
	info->type = filesystem_type_of_mode(status.st_mode);
	info->device = (uint64_t)status.st_dev;
	info->inode = status.st_ino;
	info->links = status.st_nlink;
	info->uid = status.st_uid;
	info->mode = status.st_mode & 07777;
	return 0;
}

int filesystem_posix_read_link(const struct filesystem *fs, struct arena *arena, const char *path, char **target)
{
	char buffer[LINK_MAX_BYTES];
	ssize_t length = readlink(path, buffer, sizeof buffer);
	(void)fs;
	if (length < 0)
		return -1;
	if ((size_t)length == sizeof buffer) {
		errno = ENAMETOOLONG;
		return -1;
	}
	*target = arena_copy_n(arena, buffer, (size_t)length);
	return 0;
}

int filesystem_posix_read_small(const struct filesystem *fs, struct arena *arena, const char *path, size_t limit, char **text,
				size_t *length)
{
	struct private_file file;

	(void)fs;
	if (private_file_read(arena, AT_FDCWD, path, 0, limit, &file) < 0)
		return -1;
	*text = file.bytes;
	*length = file.length;
	return 0;
}

struct posix_walk {
	enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type);
	void *self;
	struct text path; /* of the directory being read */
	unsigned depth;
	struct error *err;
};

static int walk_directory(struct posix_walk *walk, int parent_fd, const char *name);

static bool is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static int walk_into(struct posix_walk *walk, int fd, const char *name)
{
	size_t length = walk->path.length;
	int result;
	text_add(&walk->path, "%s%s", length == 1 ? "" : "/", name);
	result = walk_directory(walk, fd, name);
	walk->path.length = length;
	walk->path.data[length] = '\0';
	return result;
}

/* A lack of fds or memory stops the walk. A directory that was removed or swapped, or that is
 * unreadable, is skipped. */
static int open_failed(struct posix_walk *walk)
{
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
		return error_errno(walk->err, errno, "cannot search %s", walk->path.data);
	return 0;
}

static int walk_directory(struct posix_walk *walk, int parent_fd, const char *name)
{
	autoclosedir DIR *directory = NULL;
	const struct dirent *entry;
	int result = 0;
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return open_failed(walk);
	if (walk->depth >= DEPTH_MAX) {
		close(fd);
		return error_set(walk->err, "cannot search %s: directories are nested too deeply", walk->path.data);
	}
	directory = fdopendir(fd);
	if (!directory) {
		close(fd);
		return error_errno(walk->err, errno, "cannot search %s", walk->path.data);
	}
	progress_tick();
	walk->depth++;
	while (result == 0 && (entry = readdir(directory))) {
		enum file_type type;
		if (is_dots(entry->d_name))
			continue;
		type = filesystem_type_of_entry(fd, entry->d_name, entry->d_type);
		if (type == FILE_ABSENT)
			continue;
		if (walk->visit(walk->self, walk->path.data, entry->d_name, type) == WALK_DESCEND && type == FILE_DIRECTORY)
			result = walk_into(walk, fd, entry->d_name);
	}
	walk->depth--;
	return result;
}

int filesystem_posix_walk(const struct filesystem *fs, const char *root,
			  enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type),
			  void *self, struct error *err)
{
	struct posix_walk walk = { .visit = visit, .self = self, .err = err };
	int result;
	(void)fs;
	text_add(&walk.path, "%s", root);
	result = walk_directory(&walk, AT_FDCWD, root);
	text_free(&walk.path);
	return result;
}

#if !defined(__linux__)
const struct filesystem *filesystem_host(void)
{
	static const struct filesystem host = {
		.inspect = filesystem_posix_inspect,
		.read_link = filesystem_posix_read_link,
		.read_small = filesystem_posix_read_small,
		.walk = filesystem_posix_walk,
#ifdef __APPLE__
		/* The default of APFS. Folding on a case-sensitive volume hides more, never
		 * less. */
		.is_case_insensitive = true,
#endif
	};
	return &host;
}
#endif
