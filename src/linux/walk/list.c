/* SPDX-License-Identifier: Apache-2.0 */
/* What one directory tells, read with getdents64. Knows no other thread, but for the lock that a failure takes. */
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

/* Two hundred names or so: what lies on the stack is touched page by page, even by a directory with ten. */
enum { READ_BYTES = 8192, NS_PER_S = 1000000000 };

/* As the kernel writes it (getdents64(2)); glibc has no name for it. */
struct entry {
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

static atomic_bool lacks_openat2;

/* Without openat2: each component with O_NOFOLLOW, relative to the one before. */
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
		/* EPERM: an outer sandbox that does not know the call; EAGAIN: a rename raced with it. */
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
		error_errno(walk->err, number, "cannot look through %s", path);
	walk->has_failed = true;
	pthread_cond_broadcast(&walk->changed);
	pthread_mutex_unlock(&walk->lock);
}

/* With room for a path of that length, of which the beginning is filled in. */
static struct pending *add(struct pending **list, size_t length, const char *directory, size_t directory_length, uint32_t known)
{
	struct pending *pending = malloc(sizeof *pending + length + 1);
	if (!pending)
		return NULL;
	*pending = (struct pending){ .next = *list, .known = known, .length = length };
	memcpy(pending->path, directory, directory_length);
	pending->path[length] = '\0';
	*list = pending;
	return pending;
}

bool walk_add_pending(struct pending **list, const char *directory, size_t length, const char *name, uint32_t known)
{
	size_t name_length = strlen(name), start = length + (directory[length - 1] != '/');
	struct pending *child = add(list, start + name_length, directory, length, known);
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

/* Tells the visitor, and keeps what it has to be told again. */
enum walk_step walk_visit_one(struct worker *worker, struct walk_listing *listing, const char *directory, const char *name,
			      enum file_type type)
{
	const struct walk *walk = worker->walk;
	bool is_remarkable = false;
	enum walk_step step;

	if (walk->visit)
		return walk->visit(walk->self, directory, name, type);
	step = walk->visitor->visit(walk->visitor->self, directory, name, type, &is_remarkable);
	if (!listing)
		return step;
	if (is_remarkable)
		walk_memory_remark(worker->arena, listing, name, type);
	else if (type == FILE_DIRECTORY)
		listing->stamp.directories++;
	else
		listing->stamp.files++;
	/* What could not be looked at may be something else next time. */
	if (type == FILE_UNKNOWN)
		listing->stamp.inode = 0;
	return step;
}

/* Visits one buffer of entries; directories to descend into go to *found. */
static bool visit_entries(struct worker *worker, const struct pending *directory, struct walk_listing *listing, int fd,
			  const char *buffer, size_t size, struct pending **found)
{
	for (size_t at = 0; at < size;) {
		const struct entry *entry = (const struct entry *)(const void *)(buffer + at);
		uint32_t known = WALK_UNKNOWN;
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
			walk_memory_enter(worker->arena, listing, entry->name);
			known = walk_memory_child(worker->walk->memory, directory->known, entry->name);
		}
		if (!walk_add_pending(found, directory->path, directory->length, entry->name, known))
			return false;
	}
	return true;
}

bool walk_is_gone(int number)
{
	return number == ENOENT || number == ENOTDIR || number == ELOOP;
}

/* A directory that is closed to us may still hold a name that is looked for: the visitor is told, by a second visit. */
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

/* Whatever is not searched and not known to be gone ends the walk: a name could be missed. */
static void cannot_open(struct worker *worker, int number, const char *path)
{
	if (number == EACCES)
		walk_visit_closed(worker, path);
	else if (!walk_is_gone(number))
		walk_fail(worker->walk, number, path);
}

/* Before it is listed: a change that comes later then shows. The names of an encrypted directory depend on whether its key is
 * there, which its ctime does not tell. */
static void take_stamp(const struct walk *walk, int fd, struct walk_stamp *stamp)
{
	struct statx info;
	const unsigned needed = STATX_TYPE | STATX_INO | STATX_CTIME;
	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, needed, &info) < 0 || (info.stx_mask & needed) != needed ||
	    !S_ISDIR(info.stx_mode) || (info.stx_attributes & STATX_ATTR_ENCRYPTED) ||
	    makedev(info.stx_dev_major, info.stx_dev_minor) != walk->device || info.stx_ctime.tv_nsec >= NS_PER_S ||
	    !walk_memory_is_settled(walk->started_s, walk->started_ns, info.stx_ctime.tv_sec, info.stx_ctime.tv_nsec))
		return;
	stamp->inode = info.stx_ino;
	stamp->changed_s = info.stx_ctime.tv_sec;
	stamp->changed_ns = info.stx_ctime.tv_nsec;
}

/* The newest of *found is the last child. */
static void keep_listing(struct worker *worker, const struct pending *directory, struct walk_listing *listing,
			 struct pending *found)
{
	size_t left = listing->children.count;
	for (; found && left > 0; found = found->next)
		found->slot = &listing->children.items[--left];
	if (directory->slot)
		directory->slot->listing = listing;
	else if (directory->known != WALK_UNKNOWN)
		walk_memory_replace(worker->walk->memory, directory->known, listing);
	worker->listed++;
	worker->learnt += listing->stamp.inode != 0;
}

/* False if not all of it could be read. */
static bool list(struct worker *worker, const struct pending *directory, struct walk_listing *listing, int fd,
		 struct pending **found)
{
	/* Not zeroed first (-ftrivial-auto-var-init), for every directory. */
	_Alignas(struct entry) uninitialised char buffer[READ_BYTES];
	long size;

	while ((size = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
		if (!visit_entries(worker, directory, listing, fd, buffer, (size_t)size, found)) {
			walk_fail(worker->walk, ENOMEM, directory->path);
			return false;
		}
	/* Half a listing may hide a name: anything but a directory that is gone ends the walk. */
	if (size < 0 && errno != ENOENT)
		walk_fail(worker->walk, errno, directory->path);
	return size == 0;
}

void walk_read_directory(struct worker *worker, const struct pending *directory, struct pending **found)
{
	const struct walk *walk = worker->walk;
	const char *relative = walk_relative_path(walk, directory->path);
	struct walk_listing *listing = NULL;
	autoclose int fd = -1;

	if (directory->children > 0) {
		walk_tell_children(worker, directory, directory->known, directory->children, found);
		return;
	}
	if (directory->known != WALK_UNKNOWN && walk_tell_known(worker, directory, found))
		return;
	do
		fd = *relative ? open_beneath(walk->root_fd, relative) : openat(walk->root_fd, ".", WALK_DIRECTORY_FLAGS);
	while (fd < 0 && errno == EINTR);
	if (fd < 0) {
		cannot_open(worker, errno, directory->path);
		return;
	}
	if (walk->memory) {
		listing = walk_memory_list(worker->arena);
		take_stamp(walk, fd, &listing->stamp);
	}
	if (list(worker, directory, listing, fd, found) && listing)
		keep_listing(worker, directory, listing, *found);
}
