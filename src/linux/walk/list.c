/* SPDX-License-Identifier: Apache-2.0 */
/* Lists one directory with getdents64. Shares nothing with other threads but the lock of a
 * failure. */
#include "linux/walk/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#ifndef STATX_TYPE
#include <linux/stat.h> /* musl 1.2.3 has no statx */
#endif

#include "common/base/cleanup.h"
#include "common/fs/posix.h"

/* About two hundred names. Every page of a buffer on the stack is touched
 * (-fstack-clash-protection), even for a directory with ten names. */
enum { READ_BYTES = 8192, NS_PER_S = 1000000000 };

/* struct linux_dirent64 of getdents64(2); glibc does not declare it. */
struct entry {
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

static atomic_bool lacks_openat2;

/* Replaces openat2: opens each component with O_NOFOLLOW, relative to the one before. */
static int open_by_components(int root_fd, const char *relative)
{
	autoclose int at = -1;
	char name[NAME_MAX + 1];
	for (;;) {
		size_t length = strcspn(relative, "/");
		bool is_last = relative[length] == '\0';
		int next;
		if (length > NAME_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, relative, length);
		name[length] = '\0';
		next = openat(at >= 0 ? at : root_fd, name, is_last ? WALK_DIRECTORY_FLAGS : WALK_DIRECTORY_FLAGS | O_PATH);
		if (next < 0 || is_last)
			return next;
		if (at >= 0)
			close(at);
		at = next;
		relative += length + 1;
	}
}

static int open_beneath(int root_fd, const char *relative)
{
	struct open_how how = { .flags = WALK_DIRECTORY_FLAGS, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH };
	if (!atomic_load_explicit(&lacks_openat2, memory_order_relaxed)) {
		int fd = (int)syscall(SYS_openat2, root_fd, relative, &how, sizeof how);
		/* EPERM: an outer sandbox that does not know the call. EAGAIN: a rename raced with
		 * it. */
		if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EAGAIN))
			return fd;
		if (errno == ENOSYS)
			atomic_store(&lacks_openat2, true);
	}
	return open_by_components(root_fd, relative);
}

void walk_fail(struct walk *walk, int number, const char *path)
{
	pthread_mutex_lock(&walk->lock);
	if (!walk->has_failed)
		error_errno(walk->err, number, "cannot search %s", path);
	walk->has_failed = true;
	pthread_cond_broadcast(&walk->changed);
	pthread_mutex_unlock(&walk->lock);
}

/* Adds a directory with room for a path of `length` bytes, and copies the first part of the
 * path. */
static struct pending *add(struct pending **list, size_t length, const char *directory, size_t directory_length,
			   uint32_t record)
{
	struct pending *pending = malloc(sizeof *pending + length + 1);
	if (!pending)
		return NULL;
	*pending = (struct pending){ .next = *list, .record = record, .length = length };
	memcpy(pending->path, directory, directory_length);
	pending->path[length] = '\0';
	*list = pending;
	return pending;
}

bool walk_add_pending(struct pending **list, const char *directory, size_t length, const char *name, uint32_t record)
{
	size_t name_length = strlen(name), start = length + (directory[length - 1] != '/');
	struct pending *child = add(list, start + name_length, directory, length, record);
	if (!child)
		return false;
	child->path[start - 1] = '/';
	memcpy(child->path + start, name, name_length);
	return true;
}

bool walk_add_children(struct pending **list, const char *directory, size_t length, uint32_t first, uint32_t count)
{
	struct pending *range = add(list, length, directory, length, first);
	if (!range)
		return false;
	range->children = count;
	return true;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

enum walk_step walk_visit_one(struct worker *worker, struct tree_index_listing *listing, const char *directory,
			      const char *name, enum file_type type)
{
	const struct walk *walk = worker->walk;
	bool is_kept = false;
	enum walk_step step;

	if (walk->visit)
		return walk->visit(walk->self, directory, name, type);
	step = walk->visitor->visit(walk->visitor->self, directory, name, type, &is_kept);
	if (!listing)
		return step;
	if (is_kept)
		tree_index_keep(worker->arena, listing, name, type);
	else if (type == FILE_DIRECTORY)
		listing->stamp.directories++;
	else
		listing->stamp.files++;
	/* An entry of unknown type may have another type next time: do not index the directory. */
	if (type == FILE_UNKNOWN)
		listing->stamp.inode = 0;
	return step;
}

/* Visits one buffer of entries and adds directories to descend into to *found. False if out of
 * memory. */
static bool visit_entries(struct worker *worker, const struct pending *directory, struct tree_index_listing *listing, int fd,
			  const char *buffer, size_t size, struct pending **found)
{
	for (size_t at = 0; at < size;) {
		const struct entry *entry = (const struct entry *)(const void *)(buffer + at);
		uint32_t record = WALK_UNKNOWN;
		enum file_type type;
		at += entry->length;
		if (is_dots(entry->name))
			continue;
		type = filesystem_type_of_entry(fd, entry->name, entry->type);
		if (type == FILE_ABSENT)
			continue;
		if (walk_visit_one(worker, listing, directory->path, entry->name, type) == WALK_SKIP || type != FILE_DIRECTORY)
			continue;
		if (listing) {
			tree_index_enter(worker->arena, listing, entry->name);
			record = tree_index_child(worker->walk->index, directory->record, entry->name);
		}
		if (!walk_add_pending(found, directory->path, directory->length, entry->name, record))
			return false;
	}
	return true;
}

bool walk_is_gone(int number)
{
	return number == ENOENT || number == ENOTDIR || number == ELOOP;
}

/* An unreadable directory may still contain a name that matches. */
void walk_visit_closed(struct worker *worker, const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	size_t length = slash == path ? 1 : (size_t)(slash - path);
	if (length >= sizeof parent) {
		walk_fail(worker->walk, ENAMETOOLONG, path);
		return;
	}
	memcpy(parent, path, length);
	parent[length] = '\0';
	walk_visit_one(worker, NULL, parent, slash + 1, FILE_UNKNOWN);
}

/* A directory that was not searched and is not known to be gone fails the walk: a name could be
 * missed. */
static void cannot_open(struct worker *worker, int number, const char *path)
{
	if (number == EACCES)
		walk_visit_closed(worker, path);
	else if (!walk_is_gone(number))
		walk_fail(worker->walk, number, path);
}

/* Called before the listing, so that a later change gives another ctime. The names of an encrypted
 * directory depend on whether its key is loaded, which does not change its ctime: never indexed. */
static void take_stamp(const struct walk *walk, int fd, struct tree_index_stamp *stamp)
{
	struct statx info;
	const unsigned needed = STATX_TYPE | STATX_INO | STATX_CTIME;
	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, needed, &info) < 0 || (info.stx_mask & needed) != needed ||
	    !S_ISDIR(info.stx_mode) || (info.stx_attributes & STATX_ATTR_ENCRYPTED) ||
	    makedev(info.stx_dev_major, info.stx_dev_minor) != walk->device || info.stx_ctime.tv_nsec >= NS_PER_S ||
	    !tree_index_is_settled(walk->started_s, walk->started_ns, info.stx_ctime.tv_sec, info.stx_ctime.tv_nsec))
		return;
	stamp->inode = info.stx_ino;
	stamp->changed_s = info.stx_ctime.tv_sec;
	stamp->changed_ns = info.stx_ctime.tv_nsec;
}

/* Puts the listing into the index. The first of *found is the last child of the listing. */
static void keep_listing(struct worker *worker, const struct pending *directory, struct tree_index_listing *listing,
			 struct pending *found)
{
	size_t left = listing->children.count;
	for (; found && left > 0; found = found->next)
		found->slot = &listing->children.items[--left];
	if (directory->slot)
		directory->slot->listing = listing;
	else if (directory->record != WALK_UNKNOWN)
		tree_index_replace(worker->walk->index, directory->record, listing);
	worker->listed++;
	worker->learnt += listing->stamp.inode != 0;
}

/* Visits all entries of an open directory. False if it could not be read to the end. */
static bool list(struct worker *worker, const struct pending *directory, struct tree_index_listing *listing, int fd,
		 struct pending **found)
{
	/* -ftrivial-auto-var-init would zero it for every directory. */
	_Alignas(struct entry) uninitialised char buffer[READ_BYTES];
	long size;

	while ((size = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
		if (!visit_entries(worker, directory, listing, fd, buffer, (size_t)size, found)) {
			walk_fail(worker->walk, ENOMEM, directory->path);
			return false;
		}
	/* An incomplete listing may hide a name: any error but a removed directory fails the
	 * walk. */
	if (size < 0 && errno != ENOENT)
		walk_fail(worker->walk, errno, directory->path);
	return size == 0;
}

void walk_read_directory(struct worker *worker, const struct pending *directory, struct pending **found)
{
	const struct walk *walk = worker->walk;
	const char *relative = walk_relative_path(walk, directory->path);
	struct tree_index_listing *listing = NULL;
	autoclose int fd = -1;

	if (directory->children > 0) {
		walk_visit_indexed_children(worker, directory, directory->record, directory->children, found);
		return;
	}
	if (directory->record != WALK_UNKNOWN && walk_visit_indexed(worker, directory, found))
		return;
	do
		fd = *relative ? open_beneath(walk->root_fd, relative) : openat(walk->root_fd, ".", WALK_DIRECTORY_FLAGS);
	while (fd < 0 && errno == EINTR);
	if (fd < 0) {
		cannot_open(worker, errno, directory->path);
		return;
	}
	if (walk->index) {
		listing = tree_index_list(worker->arena);
		take_stamp(walk, fd, &listing->stamp);
	}
	if (list(worker, directory, listing, fd, found) && listing)
		keep_listing(worker, directory, listing, *found);
}
