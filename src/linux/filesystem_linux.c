/* SPDX-License-Identifier: Apache-2.0 */
/* The host's file system on Linux: the POSIX answers, and a walk that reads directories with getdents64 in two threads. Every
 * directory is opened relative to the root's descriptor with all symlinks refused (openat2, or component by component where the
 * kernel or an outer filter has no openat2), so that a directory swapped for a symlink meanwhile leads nowhere. */
#include "common/filesystem_posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "linux/signals.h"

enum {
	READ_BYTES = 32768,
	HELPER_STACK_BYTES = 1 << 20,
	HELPER_FROM = 16, /* waiting directories that make a second thread worth its ~60 us */
	PENDING_BYTES_MAX = 256 << 20,
	DIRECTORY_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

/* As the kernel writes it (getdents64(2)); glibc has no name for it. */
struct entry {
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* A directory that waits to be read, by its path from "/"; the part after `root_length` is relative to the root's descriptor. */
struct pending {
	struct pending *next;
	size_t length;
	char path[];
};

struct walk {
	enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type);
	void *self;
	int root_fd;
	size_t root_length;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct pending *stack;
	size_t waiting, pending_bytes;
	unsigned busy;
	bool has_failed;
	struct error *err;
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
		next = openat(at >= 0 ? at : root_fd, name, is_last ? DIRECTORY_FLAGS : DIRECTORY_FLAGS | O_PATH);
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
	struct open_how how = { .flags = DIRECTORY_FLAGS, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH };
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

static void fail(struct walk *walk, int number, const char *path)
{
	pthread_mutex_lock(&walk->lock);
	if (!walk->has_failed)
		error_errno(walk->err, number, "cannot look through %s", path);
	walk->has_failed = true;
	pthread_cond_broadcast(&walk->changed);
	pthread_mutex_unlock(&walk->lock);
}

static bool add_pending(struct pending **list, const struct pending *directory, const char *name)
{
	size_t name_length = strlen(name);
	bool has_slash = directory->path[directory->length - 1] == '/';
	size_t length = directory->length + !has_slash + name_length;
	struct pending *child = malloc(sizeof *child + length + 1);
	if (!child)
		return false;
	memcpy(child->path, directory->path, directory->length);
	if (!has_slash)
		child->path[directory->length] = '/';
	memcpy(child->path + length - name_length, name, name_length + 1);
	child->length = length;
	child->next = *list;
	*list = child;
	return true;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* Visits one buffer of entries; directories to descend into go to *found. */
static bool visit_entries(struct walk *walk, const struct pending *directory, int fd, const char *buffer, size_t size,
			  struct pending **found)
{
	for (size_t at = 0; at < size;) {
		const struct entry *entry = (const struct entry *)(const void *)(buffer + at);
		enum file_type type;
		at += entry->length;
		if (is_dots(entry->name))
			continue;
		type = filesystem_type_of_entry(fd, entry->name, entry->type);
		if (type == FILE_ABSENT)
			continue;
		if (walk->visit(walk->self, directory->path, entry->name, type) == WALK_SKIP || type != FILE_DIRECTORY)
			continue;
		if (!add_pending(found, directory, entry->name))
			return false;
	}
	return true;
}

/* Gone, or something else by now: there is nothing to search. */
static bool is_gone(int number)
{
	return number == ENOENT || number == ENOTDIR || number == ELOOP;
}

/* A directory that is closed to us may still hold a name that is looked for: the visitor is told, by a second visit. */
static void visit_closed(struct walk *walk, const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	size_t length = slash == path ? 1 : (size_t)(slash - path);
	if (length >= sizeof parent) {
		fail(walk, ENAMETOOLONG, path);
		return;
	}
	memcpy(parent, path, length);
	parent[length] = '\0';
	walk->visit(walk->self, parent, slash + 1, FILE_UNKNOWN);
}

/* Whatever is not searched and not known to be gone ends the walk: a name could be missed. */
static void cannot_open(struct walk *walk, int number, const char *path)
{
	if (number == EACCES)
		visit_closed(walk, path);
	else if (!is_gone(number))
		fail(walk, number, path);
}

static void read_directory(struct walk *walk, const struct pending *directory, struct pending **found)
{
	/* Not zeroed first (-ftrivial-auto-var-init): 32 KiB for every directory is a third of a small launch. */
	_Alignas(struct entry) uninitialised char buffer[READ_BYTES];
	const char *relative = directory->path + walk->root_length;
	autoclose int fd = -1;
	long size;

	relative += strspn(relative, "/");
	do
		fd = *relative ? open_beneath(walk->root_fd, relative) : openat(walk->root_fd, ".", DIRECTORY_FLAGS);
	while (fd < 0 && errno == EINTR);
	if (fd < 0) {
		cannot_open(walk, errno, directory->path);
		return;
	}
	while ((size = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
		if (!visit_entries(walk, directory, fd, buffer, (size_t)size, found)) {
			fail(walk, ENOMEM, directory->path);
			return;
		}
	/* Half a listing may hide a name: anything but a directory that is gone ends the walk. */
	if (size < 0 && errno != ENOENT)
		fail(walk, errno, directory->path);
}

/* Called with the lock held. */
static void push_all(struct walk *walk, struct pending *found)
{
	while (found) {
		struct pending *next = found->next;
		found->next = walk->stack;
		walk->stack = found;
		walk->waiting++;
		walk->pending_bytes += sizeof *found + found->length;
		found = next;
	}
	if (walk->pending_bytes > PENDING_BYTES_MAX && !walk->has_failed) {
		walk->has_failed = true;
		error_set(walk->err, "cannot look through %s: too many directories", walk->stack->path);
	}
	pthread_cond_broadcast(&walk->changed);
}

/* Called with the lock held; NULL when everything is read or the walk has failed. */
static struct pending *pop(struct walk *walk)
{
	struct pending *directory;
	while (!walk->stack && walk->busy > 0 && !walk->has_failed)
		pthread_cond_wait(&walk->changed, &walk->lock);
	directory = walk->stack;
	if (!directory || walk->has_failed)
		return NULL;
	walk->stack = directory->next;
	walk->waiting--;
	walk->pending_bytes -= sizeof *directory + directory->length;
	walk->busy++;
	return directory;
}

static void *helper_main(void *argument);

/* musl gives a thread 128 KB by itself, and with the first one it unblocks a signal that it keeps for itself: the command is to have
 * the caller's mask. */
static bool start_helper(struct walk *walk, pthread_t *helper)
{
	pthread_attr_t attributes;
	sigset_t mask;
	bool is_started;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	signals_mask(SIG_BLOCK, NULL, &mask);
	is_started = pthread_attr_setstacksize(&attributes, HELPER_STACK_BYTES) == 0 &&
		     pthread_create(helper, &attributes, helper_main, walk) == 0;
	signals_mask(SIG_SETMASK, &mask, NULL);
	pthread_attr_destroy(&attributes);
	return is_started;
}

/* The first thread calls in the second once there is enough for both. Without it (no more threads allowed) one does it all. */
static void work(struct walk *walk, pthread_t *helper, bool *has_helper)
{
	struct pending *directory;
	pthread_mutex_lock(&walk->lock);
	while ((directory = pop(walk))) {
		struct pending *found = NULL;
		pthread_mutex_unlock(&walk->lock);
		read_directory(walk, directory, &found);
		free(directory);
		pthread_mutex_lock(&walk->lock);
		walk->busy--;
		push_all(walk, found);
		if (helper && !*has_helper && walk->waiting >= HELPER_FROM) {
			*has_helper = start_helper(walk, helper);
			helper = *has_helper ? helper : NULL;
		}
	}
	pthread_cond_broadcast(&walk->changed);
	pthread_mutex_unlock(&walk->lock);
}

static void *helper_main(void *argument)
{
	work(argument, NULL, NULL);
	return NULL;
}

static struct pending *new_root(const char *root)
{
	size_t length = strlen(root);
	struct pending *pending = calloc(1, sizeof *pending + length + 1);
	if (!pending)
		return NULL;
	memcpy(pending->path, root, length);
	pending->length = length;
	return pending;
}

static int filesystem_linux_walk(const struct filesystem *fs, const char *root,
				 enum walk_step (*visit)(void *self, const char *directory, const char *name,
							 enum file_type type),
				 void *self, struct error *err)
{
	autoclose int root_fd = -1;
	struct walk walk = { .visit = visit, .self = self, .root_length = strlen(root), .err = err };
	pthread_t helper;
	bool has_helper = false;

	(void)fs;
	do
		root_fd = open(root, DIRECTORY_FLAGS);
	while (root_fd < 0 && errno == EINTR);
	if (root_fd < 0 && errno == EACCES)
		visit_closed(&walk, root);
	else if (root_fd < 0 && !is_gone(errno))
		return error_errno(err, errno, "cannot look through %s", root);
	if (root_fd < 0)
		return walk.has_failed ? -1 : 0;
	walk.root_fd = root_fd;
	walk.stack = new_root(root);
	if (!walk.stack)
		return error_errno(err, ENOMEM, "cannot look through %s", root);
	walk.waiting = 1;
	walk.pending_bytes = sizeof *walk.stack + walk.stack->length;
	pthread_mutex_init(&walk.lock, NULL);
	pthread_cond_init(&walk.changed, NULL);
	work(&walk, &helper, &has_helper);
	if (has_helper)
		pthread_join(helper, NULL);
	while (walk.stack) {
		struct pending *next = walk.stack->next;
		free(walk.stack);
		walk.stack = next;
	}
	pthread_cond_destroy(&walk.changed);
	pthread_mutex_destroy(&walk.lock);
	return walk.has_failed ? -1 : 0;
}

/* By the permissions and lists of this moment, for the user and groups that the command will have too. Its owner could open it up. */
static bool is_closed(const struct filesystem *fs, const char *path)
{
	struct stat status;
	(void)fs;
	if (lstat(path, &status) < 0 || status.st_uid == geteuid())
		return false;
	return faccessat(AT_FDCWD, path, R_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) < 0 && errno == EACCES &&
	       faccessat(AT_FDCWD, path, X_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) < 0 && errno == EACCES;
}

const struct filesystem *filesystem_host(void)
{
	static const struct filesystem host = {
		.inspect = filesystem_posix_inspect,
		.read_link = filesystem_posix_read_link,
		.read_small = filesystem_posix_read_small,
		.walk = filesystem_linux_walk,
		.is_closed = is_closed,
	};
	return &host;
}
