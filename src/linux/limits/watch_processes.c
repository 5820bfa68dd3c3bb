/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the processes of the sandbox and their open files. A process that starts or exits meanwhile
 * may be missing: the next poll is soon. */
#include "linux/limits/watch_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"

/* Thousands of processes with thousands of files each must not block the launcher. */
enum { FILES_BUDGET_MS = 200 };

struct pairs {
	struct pair {
		pid_t pid, parent;
		bool is_inside;
	} * items;
	size_t count, capacity;
};

static pid_t parse_pid(const char *name)
{
	char *end;
	long value = strtol(name, &end, 10);
	return *end == '\0' && value > 0 && value <= INT32_MAX ? (pid_t)value : 0;
}

ssize_t watch_read(const struct watch_list *list, pid_t pid, const char *name, char *buffer, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "%d/%s", (int)pid, name);
	autoclose int fd = openat(list->proc, path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, buffer, size - 1);
	buffer[length > 0 ? length : 0] = '\0';
	return length;
}

static pid_t parent_of(const struct watch_list *list, pid_t pid)
{
	char text[512];
	const char *after;
	if (watch_read(list, pid, "stat", text, sizeof text) <= 0)
		return 0;
	after = strrchr(text, ')'); /* ") S PARENT" */
	return after && strlen(after) > 4 ? (pid_t)strtol(after + 4, NULL, 10) : 0;
}

static int add_pair(struct pairs *pairs, pid_t pid, pid_t parent)
{
	if (pairs->count == pairs->capacity) {
		size_t capacity = pairs->capacity ? pairs->capacity * 2 : 256;
		struct pair *items = realloc(pairs->items, capacity * sizeof *items);
		if (!items)
			return -1;
		pairs->items = items;
		pairs->capacity = capacity;
	}
	pairs->items[pairs->count++] = (struct pair){ .pid = pid, .parent = parent };
	return 0;
}

static bool is_inside(const struct pairs *pairs, pid_t pid)
{
	for (size_t i = 0; i < pairs->count; i++)
		if (pairs->items[i].pid == pid)
			return pairs->items[i].is_inside;
	return false;
}

/* Marks init and its descendants in the host's list. Orphans are children of init, their reaper. */
static void keep_descendants(struct pairs *pairs, pid_t init)
{
	for (bool has_changed = true; has_changed;) {
		has_changed = false;
		for (size_t i = 0; i < pairs->count; i++) {
			struct pair *pair = &pairs->items[i];
			if (pair->is_inside || (pair->pid != init && !is_inside(pairs, pair->parent)))
				continue;
			pair->is_inside = has_changed = true;
		}
	}
}

static int list_all(const struct watch_list *list, bool has_parents, struct pairs *pairs)
{
	int fd = openat(list->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclosedir DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	if (!directory) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while ((entry = readdir(directory))) {
		pid_t pid = parse_pid(entry->d_name);
		if (pid && add_pair(pairs, pid, has_parents ? parent_of(list, pid) : 0) < 0)
			return -1;
	}
	return 0;
}

int watch_list_open(const struct watch *watch, struct watch_list *list)
{
	struct pairs pairs = { 0 };
	bool is_host = watch->proc < 0;

	*list = (struct watch_list){ .proc = watch->proc, .is_own = is_host };
	if (is_host)
		list->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (list->proc < 0 || list_all(list, is_host, &pairs) < 0 ||
	    !(list->pids = malloc((pairs.count + 1) * sizeof(pid_t)))) {
		free(pairs.items);
		watch_list_close(list);
		return -1;
	}
	if (is_host)
		keep_descendants(&pairs, watch->init);
	for (size_t i = 0; i < pairs.count; i++)
		if (!is_host || pairs.items[i].is_inside)
			list->pids[list->count++] = pairs.items[i].pid;
	free(pairs.items);
	return 0;
}

void watch_list_close(struct watch_list *list)
{
	free(list->pids);
	list->pids = NULL;
	if (list->is_own && list->proc >= 0)
		close(list->proc);
	list->proc = -1;
}

/* Decides by the link's text, because stat() could block on an unresponsive file system. */
static bool is_nameless(const char *link, size_t length)
{
	static const char removed[] = " (deleted)";
	return length >= sizeof removed && strcmp(link + length - (sizeof removed - 1), removed) == 0;
}

struct files {
	struct file {
		dev_t device;
		ino_t inode;
		uint64_t bytes;
	} * items;
	size_t count, capacity;
	const dev_t *devices;
	size_t device_count;
	int64_t end; /* monotonic milliseconds */
};

static bool is_wanted(const struct files *files, const struct stat *info)
{
	for (size_t i = 0; i < files->device_count; i++)
		if (files->devices[i] == info->st_dev)
			return S_ISREG(info->st_mode) && info->st_nlink == 0;
	return false;
}

static bool add_file(struct files *files, const struct stat *info)
{
	if (files->count == files->capacity) {
		size_t capacity = files->capacity ? files->capacity * 2 : 64;
		struct file *items = realloc(files->items, capacity * sizeof *items);
		if (!items)
			return false;
		files->items = items;
		files->capacity = capacity;
	}
	files->items[files->count++] = (struct file){ info->st_dev, info->st_ino, (uint64_t)info->st_blocks * 512 };
	return true;
}

static bool take_files(const struct watch_list *list, pid_t pid, struct files *files)
{
	char path[64], link[512];
	const struct dirent *entry;
	snprintf(path, sizeof path, "%d/fd", (int)pid);
	int fd = openat(list->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclosedir DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	if (!directory) {
		if (fd >= 0)
			close(fd);
		return true; /* it exited, or the kernel denies access to its memory too */
	}
	while ((entry = readdir(directory))) {
		ssize_t length = readlinkat(fd, entry->d_name, link, sizeof link - 1);
		struct stat info;
		if (length <= 0)
			continue;
		link[length] = '\0';
		/* A path that fills the buffer is cut, so fstatat decides whether the file was
		 * removed. */
		if (!is_nameless(link, (size_t)length) && (size_t)length < sizeof link - 1)
			continue;
		if (clock_ms() > files->end)
			return false;
		if (fstatat(fd, entry->d_name, &info, 0) == 0 && is_wanted(files, &info) && !add_file(files, &info))
			return false;
	}
	return clock_ms() <= files->end;
}

static int compare_files(const void *a, const void *b)
{
	const struct file *left = a, *right = b;
	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	return left->inode < right->inode ? -1 : left->inode > right->inode;
}

bool watch_nameless(const struct watch_list *list, const dev_t *devices, size_t count, uint64_t *bytes)
{
	struct files files = { .devices = devices, .device_count = count, .end = clock_ms() + FILES_BUDGET_MS };
	bool is_whole = true;

	*bytes = 0;
	for (size_t i = 0; i < list->count && is_whole; i++)
		is_whole = take_files(list, list->pids[i], &files);
	if (files.count > 0)
		qsort(files.items, files.count, sizeof *files.items, compare_files);
	for (size_t i = 0; i < files.count; i++)
		if (i == 0 || compare_files(&files.items[i - 1], &files.items[i]) != 0)
			*bytes += files.items[i].bytes;
	free(files.items);
	return is_whole;
}
