/* SPDX-License-Identifier: Apache-2.0 */
/* Moves files out of a copy and back. What the overlay and a command left on them (attributes,
 * setuid, whiteouts) stays behind. Each file is reached by one name in an open directory. */
#include "linux/copies/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"

enum {
	ATTRIBUTES_MAX = 64 << 10,
	VALUE_MAX = 64 << 10,
	CHUNK = 1 << 20,
	FD_PATH = 32,
	DEPTH_MAX = 220, /* more than that of the list of changes */
};

static const char overlay_prefix[] = "user.overlay.";
static const int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

static bool is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* Opens without any permission on the file, and names it for calls that take a path. */
static int open_path(int directory, const char *name, char path[FD_PATH])
{
	int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		snprintf(path, FD_PATH, "/proc/self/fd/%d", fd);
	return fd;
}

/* Attributes of the user can only be removed from a file that the owner can write. */
static int remove_attribute(const char *path, const char *attribute, mode_t mode)
{
	int result;
	if (removexattr(path, attribute) == 0 || errno == ENODATA)
		return 0;
	if (errno != EACCES || chmod(path, (mode & 07777) | S_IWUSR) < 0)
		return -1;
	result = removexattr(path, attribute);
	return chmod(path, mode & 07777) < 0 ? -1 : result;
}

static int strip_attributes(const char *path, mode_t mode)
{
	uninitialised char names[ATTRIBUTES_MAX];
	ssize_t length = listxattr(path, names, sizeof names);
	if (length < 0)
		return errno == ENOTSUP ? 0 : -1;
	for (const char *at = names; at < names + length; at += strlen(at) + 1)
		if (text_starts_with(at, overlay_prefix) && remove_attribute(path, at, mode) < 0)
			return -1;
	return 0;
}

static int strip_tree(int directory, const char *name, unsigned depth);

static int strip_entries(int directory, const char *name, unsigned depth)
{
	int fd = openat(directory, name, directory_flags);
	autoclosedir DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!stream) {
		cleanup_close(&fd);
		return -1;
	}
	while ((entry = readdir(stream)))
		if (!is_dots(entry->d_name) && strip_tree(fd, entry->d_name, depth + 1) < 0)
			return -1;
	return 0;
}

static int strip_file(const char *path, mode_t mode)
{
	if ((mode & (S_ISUID | S_ISGID)) && chmod(path, mode & 01777) < 0)
		return -1;
	return strip_attributes(path, mode & 01777);
}

static int strip_tree(int directory, const char *name, unsigned depth)
{
	autoclose int fd = -1;
	char path[FD_PATH];
	struct stat info;

	fd = open_path(directory, name, path);
	if (fd < 0 || fstat(fd, &info) < 0)
		return -1;
	if (copies_is_whiteout(&info))
		return depth > 0 ? unlinkat(directory, name, 0) : 0;
	if (depth > DEPTH_MAX || S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)) {
		errno = EPERM;
		return -1;
	}
	if (S_ISREG(info.st_mode))
		return strip_file(path, info.st_mode);
	if (!S_ISDIR(info.st_mode))
		return 0;
	return strip_attributes(path, info.st_mode) < 0 ? -1 : strip_entries(directory, name, depth);
}

int transfer_strip(int directory, const char *name)
{
	return strip_tree(directory, name, 0);
}

/* The attributes of the user, without those of the overlay. Best effort, as far as the other file
 * system has them. */
static void copy_attributes(int from, int to)
{
	uninitialised char names[ATTRIBUTES_MAX], value[VALUE_MAX];
	ssize_t length = flistxattr(from, names, sizeof names);

	for (const char *at = names; length > 0 && at < names + length; at += strlen(at) + 1) {
		ssize_t size;
		if (!text_starts_with(at, "user.") || text_starts_with(at, overlay_prefix))
			continue;
		size = fgetxattr(from, at, value, sizeof value);
		if (size >= 0)
			(void)fsetxattr(to, at, value, (size_t)size, 0);
	}
}

static int copy_bytes(int from, int to)
{
	uninitialised char buffer[64 << 10];
	ssize_t length;

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	while ((length = copy_file_range(from, NULL, to, NULL, CHUNK, 0)) > 0)
		continue;
	if (length == 0)
		return 0;
	if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
		return -1;
	while ((length = text_read(from, buffer, sizeof buffer)) > 0)
		if (text_write(to, buffer, (size_t)length) < 0)
			return -1;
	return length < 0 ? -1 : 0;
}

static int copy_file(int from, const char *name, int to, const char *new_name, const struct stat *info, bool is_synced)
{
	const struct timespec times[2] = { info->st_atim, info->st_mtim };
	autoclose int source = openat(from, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
	autoclose int target =
		source < 0 ? -1 : openat(to, new_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (target < 0 || copy_bytes(source, target) < 0)
		return -1;
	copy_attributes(source, target);
	if (fchmod(target, info->st_mode & 0777) < 0 || futimens(target, times) < 0)
		return -1;
	return is_synced ? fsync(target) : 0;
}

static int copy_link(int from, const char *name, int to, const char *new_name)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(from, name, target, sizeof target);
	if (length < 0 || length == sizeof target) {
		errno = length < 0 ? errno : ENAMETOOLONG;
		return -1;
	}
	target[length] = '\0';
	return symlinkat(target, to, new_name);
}

int transfer_copy_one(int from, const char *name, int to, const char *new_name, const struct stat *info)
{
	if (S_ISREG(info->st_mode))
		return copy_file(from, name, to, new_name, info, false);
	if (S_ISLNK(info->st_mode))
		return copy_link(from, name, to, new_name);
	if (S_ISFIFO(info->st_mode))
		return mknodat(to, new_name, (info->st_mode & 0777) | S_IFIFO, 0);
	errno = EPERM;
	return -1;
}

static int copy_any(int from, const char *name, int to, const char *new_name, unsigned depth);

static int copy_directory(int from, const char *name, int to, const char *new_name, const struct stat *info, unsigned depth)
{
	const struct timespec times[2] = { info->st_atim, info->st_mtim };
	int source = openat(from, name, directory_flags);
	autoclosedir DIR *stream = source < 0 ? NULL : fdopendir(source);
	autoclose int target = -1;
	const struct dirent *entry;

	if (!stream) {
		cleanup_close(&source);
		return -1;
	}
	if (mkdirat(to, new_name, 0700) < 0 || (target = openat(to, new_name, directory_flags)) < 0)
		return -1;
	while ((entry = readdir(stream)))
		if (!is_dots(entry->d_name) && copy_any(source, entry->d_name, target, entry->d_name, depth + 1) < 0)
			return -1;
	if (fchmod(target, info->st_mode & 01777) < 0 || futimens(target, times) < 0)
		return -1;
	return fsync(target) < 0 && errno != EINVAL ? -1 : 0;
}

static int copy_any(int from, const char *name, int to, const char *new_name, unsigned depth)
{
	struct stat info;
	if (fstatat(from, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (depth > DEPTH_MAX) {
		errno = ELOOP;
		return -1;
	}
	if (S_ISREG(info.st_mode))
		return copy_file(from, name, to, new_name, &info, true);
	if (S_ISDIR(info.st_mode))
		return copy_directory(from, name, to, new_name, &info, depth);
	/* Sockets of a deleted directory: nothing could connect to a copy of one. */
	if (S_ISSOCK(info.st_mode) && depth > 0)
		return 0;
	return transfer_copy_one(from, name, to, new_name, &info);
}

int transfer_copy(int from, const char *name, int to, const char *new_name)
{
	return copy_any(from, name, to, new_name, 0);
}

static int rename_with(int from, const char *name, int to, const char *new_name, unsigned flags)
{
	return (int)syscall(SYS_renameat2, from, name, to, new_name, flags);
}

int transfer_rename(int from, const char *name, int to, const char *new_name, bool is_directory, mode_t mode)
{
	char path[FD_PATH];
	autoclose int fd = -1;
	int result = rename_with(from, name, to, new_name, RENAME_NOREPLACE);

	/* To move a directory changes its `..`, which needs permission to write it. */
	if (result == 0 || errno != EACCES || !is_directory)
		return result;
	fd = open_path(from, name, path);
	if (fd < 0 || chmod(path, mode | 0700) < 0)
		return -1;
	result = rename_with(from, name, to, new_name, RENAME_NOREPLACE);
	return chmod(path, mode) < 0 ? -1 : result;
}

int transfer_exchange(int from, const char *name, int to, const char *other)
{
	return rename_with(from, name, to, other, RENAME_EXCHANGE);
}

int transfer_set_mode(int directory, const char *name, uint64_t inode, mode_t mode)
{
	char path[FD_PATH];
	struct stat info;
	autoclose int fd = open_path(directory, name, path);

	if (fd < 0 || fstat(fd, &info) < 0)
		return -1;
	if (info.st_ino != inode || S_ISLNK(info.st_mode)) {
		errno = ESTALE;
		return -1;
	}
	mode |= info.st_mode & (S_ISDIR(info.st_mode) ? S_ISUID | S_ISGID : 07000);
	return (info.st_mode & 07777) == mode ? 0 : chmod(path, mode);
}

int transfer_make_whiteout(int directory, const char *name)
{
	return mknodat(directory, name, S_IFCHR, 0);
}
