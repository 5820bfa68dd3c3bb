/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/guard/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/syscalls.h"

enum { LINK_BYTES = 64, PAGE = 4096 };

/* Directories that are looked into for every call. -1: opened by their path each time. */
static int proc = -1, own_fds = -1;

void caller_begin(void)
{
	if (proc >= 0)
		return;
	proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	own_fds = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The path of an fd as the kernel knows it; returns as readlink(2). */
ssize_t caller_path_of(int fd, char *path, size_t size)
{
	static const char directory[] = "/proc/self/fd/";
	char link[LINK_BYTES];
	snprintf(link, sizeof link, "%s%d", directory, fd);
	return own_fds < 0 ? readlink(link, path, size) : readlinkat(own_fds, link + sizeof directory - 1, path, size);
}

/* For outer sandboxes that refuse process_vm_readv but not /proc/PID/mem. */
static bool read_through_file(pid_t caller, uint64_t address, void *buffer, size_t size)
{
	char path[LINK_BYTES];
	autoclose int memory = -1;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)caller);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	return memory >= 0 && pread(memory, buffer, size, (off_t)address) == (ssize_t)size;
}

int caller_read(pid_t caller, uint64_t address, void *buffer, size_t size)
{
	struct iovec here = { buffer, size }, there = { NULL, size };
	memcpy(&there.iov_base, &address, sizeof there.iov_base);
	if (process_vm_readv(caller, &here, 1, &there, 1, 0) == (ssize_t)size)
		return 0;
	if ((errno == EPERM || errno == ENOSYS) && read_through_file(caller, address, buffer, size))
		return 0;
	return errno == EPERM || errno == EACCES ? EPERM : EFAULT;
}

/* Page by page: the next page may not be mapped. Most strings are short, so less is read first. */
int caller_read_string(pid_t caller, uint64_t address, char *buffer, size_t size)
{
	const size_t first = 256;
	size_t used = 0;
	while (used < size) {
		size_t count = PAGE - (address + used) % PAGE;
		int failed;
		if (used == 0 && count > first)
			count = first;
		if (count > size - used)
			count = size - used;
		failed = caller_read(caller, address + used, buffer + used, count);
		if (failed)
			return failed;
		if (memchr(buffer + used, '\0', count))
			return 0;
		used += count;
	}
	return ENAMETOOLONG;
}

/* Writes where /proc has the caller's fd. Returns the part after "/proc/" if that is open. */
static const char *link_of(pid_t caller, int descriptor, char path[LINK_BYTES])
{
	static const char directory[] = "/proc/";
	if (descriptor == AT_FDCWD)
		snprintf(path, LINK_BYTES, "%s%d/cwd", directory, (int)caller);
	else
		snprintf(path, LINK_BYTES, "%s%d/fd/%d", directory, (int)caller, descriptor);
	return proc < 0 ? path : path + sizeof directory - 1;
}

int caller_open(pid_t caller, int descriptor)
{
	char path[LINK_BYTES];
	return openat(proc, link_of(caller, descriptor, path), O_PATH | O_CLOEXEC);
}

ssize_t caller_path(pid_t caller, int descriptor, char *path, size_t size)
{
	char link[LINK_BYTES];
	return readlinkat(proc, link_of(caller, descriptor, link), path, size);
}

bool caller_is_device(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/fd/", 8) != 0;
}

/* In init, /proc/self is init's own directory. The spellings for a directory of the caller's own
 * are translated to it: returns the rest of the path, and the fd. */
static const char *translate(const char *path, int *base)
{
	static const char *const processes[] = { "/proc/self/", "/proc/thread-self/" };
	const char *rest = NULL;
	char *end;
	long number;
	for (size_t i = 0; i < sizeof processes / sizeof processes[0] && !rest; i++)
		if (strncmp(path, processes[i], strlen(processes[i])) == 0)
			rest = path + strlen(processes[i]);
	if (strncmp(path, "/dev/fd/", 8) == 0)
		rest = path + 5;
	if (rest && strncmp(rest, "cwd/", 4) == 0) {
		*base = AT_FDCWD;
		return rest + 4;
	}
	if (!rest || strncmp(rest, "fd/", 3) != 0 || rest[3] < '0' || rest[3] > '9')
		return path;
	number = strtol(rest + 3, &end, 10);
	if (*end != '/' || number > INT_MAX)
		return path;
	*base = (int)number;
	return end + 1;
}

/* Splits the path into a directory part, which is returned in `directory`, and the last name. */
static int split(const char *path, char directory[PATH_MAX], struct caller_name *name)
{
	size_t end = strlen(path), start, length;
	if (end == 0)
		return ENOENT;
	if (end >= PATH_MAX)
		return ENAMETOOLONG;
	name->has_slash = path[end - 1] == '/';
	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/';)
		start--;
	length = end - start;
	if (length > NAME_MAX)
		return ENAMETOOLONG;
	memcpy(name->name, path + start, length);
	name->name[length] = '\0';
	if (length == 0 || strcmp(name->name, ".") == 0 || strcmp(name->name, "..") == 0)
		return EEXIST;
	memcpy(directory, path, start);
	directory[start] = '\0';
	return 0;
}

static int describe(struct caller_name *name)
{
	ssize_t length = caller_path_of(name->directory, name->text, PATH_MAX);
	if (length >= PATH_MAX || (length < 0 && errno == ENAMETOOLONG)) {
		int failed = caller_long_path(name->directory, name->name, &name->long_path);
		name->path = name->long_path;
		return failed;
	}
	/* In /proc nothing is made, and init's own part of it is not the caller's. */
	if (length <= 0 || name->text[0] != '/' || strncmp(name->text, "/proc/", 6) == 0)
		return EXDEV;
	if (length > 1)
		name->text[length++] = '/';
	strcpy(name->text + length, name->name);
	name->path = name->text;
	return 0;
}

/* The errno of a directory part that cannot be opened. ENOENT and ENOTDIR are sure: no symlink
 * comes before the name that is missing, so the kernel would have said the same. A link may lead to
 * /proc, where init and the caller see different things. */
static int failure_of(int base, const char *directory, uint64_t resolve)
{
	int fd;
	if (errno != ENOENT && errno != ENOTDIR)
		return EXDEV;
	fd = sys_openat2(base, directory, O_PATH | O_DIRECTORY, resolve | RESOLVE_NO_SYMLINKS);
	if (fd >= 0) {
		/* It has been made meanwhile. */
		close(fd);
		return ENOENT;
	}
	return errno == ENOENT || errno == ENOTDIR ? errno : EXDEV;
}

/* Opens the directory part from an open base, which it takes. */
static int enter(int base, const char *directory, uint64_t resolve, struct caller_name *name)
{
	int from = base >= 0 ? base : AT_FDCWD, failed = 0;
	if (directory[0] == '\0') {
		name->directory = base;
	} else {
		name->directory = sys_openat2(from, directory, O_PATH | O_DIRECTORY, resolve | RESOLVE_NO_MAGICLINKS);
		if (name->directory < 0)
			failed = failure_of(from, directory, resolve);
		if (base >= 0)
			close(base);
	}
	if (failed)
		return failed;
	return describe(name) ? EXDEV : 0;
}

int caller_find(pid_t caller, int base, const char *path, uint64_t resolve, struct caller_name *name)
{
	uninitialised char directory[PATH_MAX];
	int from = -1, failed;
	caller_name_begin(name);
	if (resolve & RESOLVE_IN_ROOT)
		path += strspn(path, "/");
	else if (path[0] == '/')
		path = translate(path, &base);
	failed = split(path, directory, name);
	if (failed)
		return failed;
	/* Only processes of the caller's own are entered: others could be its superiors. */
	if (strncmp(path, "/proc/", 6) == 0)
		return EXDEV;
	if (path[0] != '/') {
		from = caller_open(caller, base);
		if (from < 0)
			return EBADF;
	}
	failed = enter(from, directory, resolve, name);
	if (failed)
		caller_forget(name);
	return failed;
}

int caller_follow(pid_t caller, const char *target, struct caller_name *name)
{
	uninitialised char directory[PATH_MAX];
	int from = name->directory, failed;
	if (target[0] == '/') {
		caller_forget(name);
		return caller_find(caller, AT_FDCWD, target, 0, name);
	}
	free(name->long_path);
	name->long_path = NULL;
	failed = split(target, directory, name);
	if (!failed)
		failed = enter(from, directory, 0, name);
	if (failed)
		caller_forget(name);
	return failed;
}

void caller_forget(struct caller_name *name)
{
	if (name->directory >= 0)
		close(name->directory);
	free(name->long_path);
	caller_name_begin(name);
}
