/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the space that the command has added to writable paths. First the growth of their file
 * systems, to which other processes may contribute. If that is over the limit, the files that
 * changed since the start. The smaller figure counts. Each is too high for its own reasons, unless
 * another process freed space at the same time. Never follows a symlink and never leaves the file
 * systems on which it began. If something cannot be searched, the growth counts. */
#include "linux/limits/watch_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/fs/path.h"

enum {
	BUDGET_MS = 1000, /* for one search */
	DEPTH_MAX = 512, /* one descriptor per level */
	CLOCK_TOLERANCE_NS = 20000000, /* file times advance in clock ticks */
};

struct usage_search {
	const struct watch_disk *disk;
	uint64_t bytes;
	int64_t end; /* monotonic milliseconds */
};

static int64_t nanoseconds(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static uint64_t used(int descriptor)
{
	struct statfs info;
	if (fstatfs(descriptor, &info) < 0)
		return 0;
	return (uint64_t)(info.f_blocks - info.f_bfree) * (uint64_t)(info.f_frsize ? info.f_frsize : info.f_bsize);
}

static bool has_device(const struct watch_disk *disk, dev_t device)
{
	for (size_t i = 0; i < disk->device_count; i++)
		if (disk->devices[i].device == device)
			return true;
	return false;
}

static void add_root(struct watch_disk *disk, const char *path)
{
	struct stat info;
	int fd;
	if (disk->root_count == WATCH_ROOT_MAX)
		return;
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &info) < 0 || (!has_device(disk, info.st_dev) && disk->device_count == WATCH_DEVICE_MAX)) {
		close(fd);
		return;
	}
	if (!has_device(disk, info.st_dev)) {
		disk->devices[disk->device_count].device = info.st_dev;
		disk->devices[disk->device_count].root = fd;
		disk->devices[disk->device_count++].used = used(fd);
	}
	disk->roots[disk->root_count++] = fd;
}

/* True if another writable grant contains this one, which is searched with it. */
static bool is_covered(const struct plan *plan, size_t index)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (i != index && plan->grants.items[i].kind == GRANT_WRITE &&
		    strcmp(plan->grants.items[i].path, plan->grants.items[index].path) != 0 &&
		    path_is_within(plan->grants.items[index].path, plan->grants.items[i].path))
			return true;
	return false;
}

void watch_disk_start(struct watch_disk *disk, const struct plan *plan, const char *copy)
{
	struct timespec time;
	clock_gettime(CLOCK_REALTIME, &time);
	disk->begin = nanoseconds(&time) - CLOCK_TOLERANCE_NS;
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE && !is_covered(plan, i) &&
		    (!copy || strcmp(plan->grants.items[i].path, plan->context.project) != 0))
			add_root(disk, plan->grants.items[i].path);
	if (copy)
		add_root(disk, copy);
	if (plan->home == HOME_PRIVATE)
		add_root(disk, plan->state.home);
	if (plan->tmp == TMP_PRIVATE)
		add_root(disk, plan->state.tmp);
}

uint64_t watch_disk_growth(const struct watch *watch)
{
	const struct watch_disk *disk = &watch->disk;
	uint64_t growth = watch_tmpfs_used(watch->tmp) + watch_tmpfs_used(watch->home);
	for (size_t i = 0; i < disk->device_count; i++) {
		uint64_t now = used(disk->devices[i].root);
		if (now > disk->devices[i].used)
			growth += now - disk->devices[i].used;
	}
	return growth;
}

/* Each name of a file counts its share, so that all its names together count once. */
static void count_file(struct usage_search *search, const struct stat *info)
{
	if (has_device(search->disk, info->st_dev) && nanoseconds(&info->st_ctim) >= search->disk->begin && info->st_nlink > 0)
		search->bytes += (uint64_t)info->st_blocks * 512 / info->st_nlink;
}

static bool search_directory(struct usage_search *search, int fd, unsigned depth);

/* O_NOATIME is refused with EPERM unless the directory is the caller's. */
static int open_child(int parent, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int child = openat(parent, name, flags | O_NOATIME);
	return child < 0 && errno == EPERM ? openat(parent, name, flags) : child;
}

/* Counts a file, or a directory with all below it. False if something could not be searched. */
static bool search_entry(struct usage_search *search, int parent, const char *name, unsigned depth)
{
	struct stat info;
	int child;
	if (clock_ms() > search->end || depth == DEPTH_MAX)
		return false;
	if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return true; /* removed meanwhile */
	if (!S_ISDIR(info.st_mode)) {
		count_file(search, &info);
		return true;
	}
	if (!has_device(search->disk, info.st_dev))
		return true;
	child = open_child(parent, name);
	if (child < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP; /* it was replaced */
	return search_directory(search, child, depth + 1);
}

/* Closes fd. False if something could not be searched. */
static bool search_directory(struct usage_search *search, int fd, unsigned depth)
{
	autoclosedir DIR *directory = fdopendir(fd);
	const struct dirent *entry;
	if (!directory) {
		close(fd);
		return false;
	}
	while ((entry = readdir(directory)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    !search_entry(search, fd, entry->d_name, depth))
			return false;
	return true;
}

static bool search_root(struct usage_search *search, int root)
{
	struct stat info;
	int fd;
	if (fstat(root, &info) < 0)
		return false;
	if (!S_ISDIR(info.st_mode)) {
		count_file(search, &info);
		return true;
	}
	fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && search_directory(search, fd, 0);
}

uint64_t watch_disk_measure(const struct watch *watch, const struct watch_list *list, uint64_t growth)
{
	struct usage_search search = { .disk = &watch->disk, .end = clock_ms() + BUDGET_MS };
	dev_t devices[WATCH_DEVICE_MAX];
	uint64_t removed;

	for (size_t i = 0; i < watch->disk.device_count; i++)
		devices[i] = watch->disk.devices[i].device;
	if (!watch_nameless(list, devices, watch->disk.device_count, &removed))
		return growth;
	for (size_t i = 0; i < watch->disk.root_count; i++)
		if (!search_root(&search, watch->disk.roots[i]))
			return growth;
	search.bytes += removed + watch_tmpfs_used(watch->tmp) + watch_tmpfs_used(watch->home);
	return search.bytes < growth ? search.bytes : growth;
}
