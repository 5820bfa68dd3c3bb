/* SPDX-License-Identifier: Apache-2.0 */
/* Never assumes a highest fd: the caller may have opened files under a higher limit and lowered it
 * afterwards. */
#include "common/base/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "common/base/cleanup.h"

int descriptors_secure_stdio(struct error *err)
{
	for (int fd = 0; fd <= 2; fd++) {
		int placeholder;
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		placeholder = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (placeholder < 0)
			return error_errno(err, errno, "cannot open /dev/null");
		if (placeholder != fd) /* cannot happen: open() returns the lowest unused fd */
			return error_set(err, "file descriptor %d cannot be filled", fd);
	}
	return 0;
}

/* Returns 0, or -1 with errno: ENOSYS without close_range (Linux 5.9). */
static int close_span(unsigned first, unsigned last)
{
#ifdef SYS_close_range
	return (int)syscall(SYS_close_range, first, last, 0);
#else
	(void)first;
	(void)last;
	errno = ENOSYS;
	return -1;
#endif
}

static bool is_kept(int fd, const int *keep, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (keep[i] == fd)
			return true;
	return false;
}

/* For kernels before 5.9 and macOS. */
static int close_listed(const int *keep, size_t count, struct error *err)
{
	autoclosedir DIR *directory = opendir("/dev/fd");
	struct dirent *entry;
	if (!directory)
		return error_errno(err, errno, "cannot list the open files (/dev/fd)");
	while ((entry = readdir(directory))) {
		char *end;
		long fd = strtol(entry->d_name, &end, 10);
		if (*end != '\0' || end == entry->d_name || fd <= 2 || fd == dirfd(directory))
			continue;
		if (!is_kept((int)fd, keep, count))
			close((int)fd);
	}
	return 0;
}

int descriptors_close_others(const int *keep, size_t count, struct error *err)
{
	unsigned first = 3;
	for (size_t i = 0; i <= count; i++) {
		unsigned end = i < count ? (unsigned)keep[i] : UINT_MAX;
		unsigned last = i < count ? end - 1 : UINT_MAX;
		if (first <= last && close_span(first, last) < 0) {
			if (errno == ENOSYS || errno == EPERM)
				return close_listed(keep, count, err);
			return error_errno(err, errno, "cannot close inherited files");
		}
		if (i < count)
			first = end + 1;
	}
	return 0;
}

static int compare_numbers(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;
	return (a > b) - (a < b);
}

int descriptors_keep_only(int *keep, size_t count, struct error *err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return error_errno(err, errno, "cannot open /dev/null");
	for (int fd = 0; fd < 3; fd++)
		if (dup2(null, fd) < 0)
			return error_errno(err, errno, "cannot replace descriptor %d", fd);
	qsort(keep, count, sizeof *keep, compare_numbers);
	return descriptors_close_others(keep, count, err);
}

static int refuse_directory(int fd, struct error *err)
{
	struct stat info;
	/* A closed fd is harmless, and fstat of an open directory does not fail. */
	if (fstat(fd, &info) < 0 || !S_ISDIR(info.st_mode))
		return 0;
	error_set(err, "file descriptor %d is a directory", fd);
	return error_hint(err, "the command could reach the host's files through it; redirect it from /dev/null");
}

int descriptors_refuse_directories(const int *keep, size_t count, struct error *err)
{
	for (int fd = 0; fd <= 2; fd++)
		if (refuse_directory(fd, err) < 0)
			return -1;
	for (size_t i = 0; i < count; i++)
		if (refuse_directory(keep[i], err) < 0)
			return -1;
	return 0;
}
