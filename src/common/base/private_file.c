/* SPDX-License-Identifier: Apache-2.0 */
/* A new file is written without a name where the file system allows it (O_TMPFILE), else under a
 * hidden random name. Only a complete file is renamed to its final name. */
#include "common/base/private_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#include "common/base/cleanup.h"
#include "common/base/text.h"

static const char temporary_prefix[] = ".new-";

enum { NAME_ATTEMPTS = 8, FIRST_CAPACITY = 4096 /* where the size is unknown */ };

bool private_file_is_private(const struct stat *info)
{
	/* A file that was replaced after it was opened has no link left. */
	return S_ISREG(info->st_mode) && info->st_uid == geteuid() && (info->st_mode & 077) == 0 && info->st_nlink <= 1;
}

int private_file_open(int directory, const char *name, unsigned flags, struct stat *info)
{
	const int follow = flags & PRIVATE_FILE_FOLLOW ? 0 : O_NOFOLLOW;
	autoclose int fd = openat(directory, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | follow);

	if (fd < 0 || fstat(fd, info) < 0)
		return -1;
	if ((flags & PRIVATE_FILE_OWN) && !private_file_is_private(info)) {
		errno = EPERM;
		return -1;
	}
	return steal_fd(&fd);
}

static char *resize(struct arena *arena, char *bytes, size_t used, size_t size)
{
	char *larger;
	if (arena)
		return arena_grow(arena, bytes, used, size);
	larger = realloc(bytes, size);
	if (!larger)
		free(bytes);
	return larger;
}

static int discard(struct arena *arena, char *bytes, int number)
{
	if (!arena)
		free(bytes);
	errno = number;
	return -1;
}

/* `capacity` is the size that the file seems to have. Files in /proc have more, and a file may grow
 * meanwhile. */
static int read_to_end(struct arena *arena, int fd, size_t capacity, size_t maximum, struct private_file *file)
{
	char *bytes = NULL;
	size_t used = 0;

	for (;; capacity = capacity < maximum / 4 ? 4 * capacity : maximum) {
		ssize_t count;
		bytes = resize(arena, bytes, used, capacity + 2);
		if (!bytes)
			return discard(arena, bytes, ENOMEM);
		/* One byte more than there should be shows that the file is larger. */
		count = text_read(fd, bytes + used, capacity + 1 - used);
		if (count < 0)
			return discard(arena, bytes, errno);
		used += (size_t)count;
		if (used <= capacity)
			break;
		if (capacity == maximum)
			return discard(arena, bytes, EFBIG);
	}
	bytes[used] = '\0';
	file->bytes = bytes;
	file->length = used;
	return 0;
}

static int read_checked(struct arena *arena, int fd, size_t maximum, struct private_file *file)
{
	const struct stat *info = &file->info;

	if (!S_ISREG(info->st_mode) || info->st_size < 0) {
		errno = EINVAL;
		return -1;
	}
	if ((uint64_t)info->st_size > maximum) {
		errno = EFBIG;
		return -1;
	}
	if (info->st_size == 0)
		return read_to_end(arena, fd, maximum < FIRST_CAPACITY ? maximum : FIRST_CAPACITY, maximum, file);
	return read_to_end(arena, fd, (size_t)info->st_size, maximum, file);
}

int private_file_read_fd(struct arena *arena, int fd, size_t maximum, struct private_file *file)
{
	*file = (struct private_file){ 0 };
	return fstat(fd, &file->info) < 0 ? -1 : read_checked(arena, fd, maximum, file);
}

int private_file_read(struct arena *arena, int directory, const char *name, unsigned flags, size_t maximum,
		      struct private_file *file)
{
	autoclose int fd = -1;
	*file = (struct private_file){ 0 };
	fd = private_file_open(directory, name, flags, &file->info);
	return fd < 0 ? -1 : read_checked(arena, fd, maximum, file);
}

static int random_name(char name[NAME_MAX + 1])
{
	unsigned char bytes[8];

	if (getentropy(bytes, sizeof bytes) < 0)
		return -1;
	memcpy(name, temporary_prefix, sizeof temporary_prefix);
	text_hex(bytes, sizeof bytes, name + sizeof temporary_prefix - 1);
	return 0;
}

int private_file_begin(struct private_file_new *file, int directory, const char *temporary, mode_t mode)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

	*file = (struct private_file_new){ .directory = directory, .fd = -1 };
	if (temporary) {
		if (strlen(temporary) >= sizeof file->name) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(file->name, temporary, strlen(temporary) + 1);
		file->fd = openat(directory, file->name, flags, mode);
		return file->fd < 0 ? -1 : 0;
	}
	for (int i = 0; i < NAME_ATTEMPTS && file->fd < 0; i++) {
		if (random_name(file->name) < 0)
			return -1;
		file->fd = openat(directory, file->name, flags, mode);
		if (file->fd < 0 && errno != EEXIST)
			return -1;
	}
	return file->fd < 0 ? -1 : 0;
}

void private_file_abandon(struct private_file_new *file)
{
	autoclose int fd = steal_fd(&file->fd);
	int number = errno;
	if (fd >= 0)
		unlinkat(file->directory, file->name, 0);
	errno = number;
}

int private_file_finish(struct private_file_new *file, const char *name, bool is_replacing)
{
	int status = is_replacing ? renameat(file->directory, file->name, file->directory, name)
				  : linkat(file->directory, file->name, file->directory, name, 0);

	if (status < 0 || !is_replacing)
		private_file_abandon(file);
	if (file->fd >= 0)
		close(steal_fd(&file->fd));
	return status;
}

static int fill(int fd, const void *bytes, size_t length, const struct private_file_options *options)
{
	if (text_write(fd, bytes, length) < 0 || fchmod(fd, options->mode) < 0)
		return -1;
	return options->is_synced ? fsync(fd) : 0;
}

#ifdef O_TMPFILE
/* The file gets a temporary name once it is complete, because linkat cannot replace a file. */
static int name_and_replace(int directory, int fd, const char *name)
{
	char link[32], temporary[NAME_MAX + 1];

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (random_name(temporary) < 0 || linkat(AT_FDCWD, link, directory, temporary, AT_SYMLINK_FOLLOW) < 0)
		return -1;
	if (renameat(directory, temporary, directory, name) < 0) {
		int number = errno;
		unlinkat(directory, temporary, 0);
		errno = number;
		return -1;
	}
	return 0;
}
#endif

/* Fails where the file system has no unnamed files, /proc is absent, or a sandbox around this
 * process refuses links. */
static int write_unnamed(int directory, const char *name, const void *bytes, size_t length,
			 const struct private_file_options *options)
{
#ifdef O_TMPFILE
	autoclose int fd = openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 || fill(fd, bytes, length, options) < 0 || name_and_replace(directory, fd, name) < 0)
		return -1;
	return options->info ? fstat(fd, options->info) : 0;
#else
	(void)directory;
	(void)name;
	(void)bytes;
	(void)length;
	(void)options;
	return -1;
#endif
}

static int write_named(int directory, const char *name, const void *bytes, size_t length,
		       const struct private_file_options *options)
{
	struct private_file_new file;
	int status;

	if (private_file_begin(&file, directory, NULL, 0600) < 0)
		return -1;
	if (fill(file.fd, bytes, length, options) < 0 || renameat(directory, file.name, directory, name) < 0) {
		private_file_abandon(&file);
		return -1;
	}
	/* After the rename, which changes ctime. */
	status = options->info ? fstat(file.fd, options->info) : 0;
	close(file.fd);
	return status;
}

/* Some file systems cannot sync a directory. */
static int sync_directory(int directory)
{
	return fsync(directory) < 0 && errno != EINVAL ? -1 : 0;
}

int private_file_write(int directory, const char *name, const void *bytes, size_t length,
		       const struct private_file_options *options)
{
	if (write_unnamed(directory, name, bytes, length, options) < 0 &&
	    write_named(directory, name, bytes, length, options) < 0)
		return -1;
	return options->is_synced ? sync_directory(directory) : 0;
}

void private_file_remove_stale(int directory, int age)
{
	int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclosedir DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	time_t now = time(NULL);
	struct stat info;

	if (!entries && copy >= 0)
		close(copy);
	while (entries && (entry = readdir(entries)))
		if (text_starts_with(entry->d_name, temporary_prefix) &&
		    fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
		    now - info.st_mtime > age)
			unlinkat(directory, entry->d_name, 0);
}
