/* SPDX-License-Identifier: Apache-2.0 */
/* The host's file system on Linux: the POSIX answers, and a walk that reads directories with getdents64 in two threads. Every
 * directory is opened relative to the root's descriptor with all symlinks refused (openat2, or component by component where the
 * kernel or an outer filter has no openat2), so that a directory swapped for a symlink meanwhile leads nowhere.
 *
 * With a memory (walk_memory.h) a directory is first asked for its inode and ctime, by a path that may lead through a symlink if
 * somebody swaps an ancestor at this moment. That is no harm: only the very directory that was listed has that inode and ctime, so
 * that what is told of it is true of it; its parent was looked at before it, in this walk; and whatever is found at a path that
 * is not there any more ends the launch where it is mounted on, as after any other change since the walk. */
#include "common/filesystem_posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#ifndef STATX_TYPE
#include <linux/stat.h> /* musl 1.2.3 has no statx */
#endif

#include "common/cleanup.h"
#include "common/walk_memory.h"
#include "linux/signals.h"

enum {
	READ_BYTES = 32768,
	HELPER_STACK_BYTES = 1 << 20,
	LIST_COST = 8, /* of listing a directory, where a look at one that is known costs 1 */
	HELPER_FROM = 16 * LIST_COST, /* waiting work that makes a second thread worth its ~60 us */
	BATCH = 16, /* directories that a thread takes at once */
	PENDING_BYTES_MAX = 256 << 20,
	DIRECTORY_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
	NS_PER_S = 1000000000,
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
	struct walk_child *slot; /* where its parent, listed in this walk, is told what became of it; or NULL */
	uint32_t known; /* the memory's record of this path, or WALK_UNKNOWN */
	size_t length;
	char path[];
};

struct walk {
	enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type);
	void *self;
	const struct walk_visitor *visitor; /* in place of visit and self, which are NULL then */
	struct walk_memory *memory;
	uint64_t device; /* of the root; only its directories are known by inode and ctime */
	int64_t started_s, started_ns;
	int root_fd;
	size_t root_length;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct pending *stack;
	size_t waiting, cost, pending_bytes;
	unsigned busy;
	bool has_failed;
	struct error *err;
};

/* One thread of it. */
struct worker {
	struct walk *walk;
	struct arena *arena; /* for what is listed; NULL without a memory */
	uint64_t kept, listed, learnt;
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

static struct pending *add_pending(struct pending **list, const struct pending *directory, const char *name, uint32_t known)
{
	size_t name_length = strlen(name);
	bool has_slash = directory->path[directory->length - 1] == '/';
	size_t length = directory->length + !has_slash + name_length;
	struct pending *child = malloc(sizeof *child + length + 1);
	if (!child)
		return NULL;
	memcpy(child->path, directory->path, directory->length);
	if (!has_slash)
		child->path[directory->length] = '/';
	memcpy(child->path + length - name_length, name, name_length + 1);
	child->length = length;
	child->slot = NULL;
	child->known = known;
	child->next = *list;
	*list = child;
	return child;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* Tells the visitor, and keeps what it has to be told again. */
static enum walk_step visit_one(struct worker *worker, struct walk_listing *listing, const char *directory, const char *name,
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
		if (visit_one(worker, listing, directory->path, entry->name, type) == WALK_SKIP || type != FILE_DIRECTORY)
			continue;
		if (listing) {
			walk_memory_enter(worker->arena, listing, entry->name);
			known = walk_memory_child(worker->walk->memory, directory->known, entry->name);
		}
		if (!add_pending(found, directory, entry->name, known))
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
static void visit_closed(struct worker *worker, const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	size_t length = slash == path ? 1 : (size_t)(slash - path);
	if (length >= sizeof parent) {
		fail(worker->walk, ENAMETOOLONG, path);
		return;
	}
	memcpy(parent, path, length);
	parent[length] = '\0';
	visit_one(worker, NULL, parent, slash + 1, FILE_UNKNOWN);
}

/* Whatever is not searched and not known to be gone ends the walk: a name could be missed. */
static void cannot_open(struct worker *worker, int number, const char *path)
{
	if (number == EACCES)
		visit_closed(worker, path);
	else if (!is_gone(number))
		fail(worker->walk, number, path);
}

/* Relative to the root's descriptor; "" for the root. */
static const char *relative_path(const struct walk *walk, const struct pending *directory)
{
	const char *relative = directory->path + walk->root_length;
	return relative + strspn(relative, "/");
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

static bool is_unchanged(const struct walk *walk, const struct pending *directory)
{
	const struct walk_stamp *stamp = &walk->memory->records[directory->known].stamp;
	struct stat now;
	return stamp->inode != 0 &&
	       fstatat(walk->root_fd, relative_path(walk, directory), &now, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
	       S_ISDIR(now.st_mode) && now.st_dev == walk->device && now.st_ino == stamp->inode &&
	       now.st_ctim.tv_sec == stamp->changed_s && now.st_ctim.tv_nsec == stamp->changed_ns;
}

/* What a listing would have told. */
static void tell_known(struct worker *worker, const struct pending *directory, struct pending **found)
{
	struct walk *walk = worker->walk;
	const struct walk_memory *memory = walk->memory;
	const struct walk_record *record = &memory->records[directory->known];
	const char *text = walk_memory_name(memory, directory->known);

	walk->visitor->count(walk->visitor->self, record->stamp.directories, record->stamp.files);
	for (uint32_t i = 0; i < record->stamp.entries; i++) {
		text += strlen(text) + 1;
		visit_one(worker, NULL, directory->path, text + 1, (enum file_type)text[0]);
	}
	for (uint32_t i = record->first_child; i < record->first_child + record->children; i++)
		if (!add_pending(found, directory, walk_memory_name(memory, i), i)) {
			fail(walk, ENOMEM, directory->path);
			return;
		}
	if (directory->slot)
		directory->slot->known = directory->known;
	worker->kept++;
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
	/* Not zeroed first (-ftrivial-auto-var-init): 32 KiB for every directory is a third of a small launch. */
	_Alignas(struct entry) uninitialised char buffer[READ_BYTES];
	long size;

	while ((size = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
		if (!visit_entries(worker, directory, listing, fd, buffer, (size_t)size, found)) {
			fail(worker->walk, ENOMEM, directory->path);
			return false;
		}
	/* Half a listing may hide a name: anything but a directory that is gone ends the walk. */
	if (size < 0 && errno != ENOENT)
		fail(worker->walk, errno, directory->path);
	return size == 0;
}

static void read_directory(struct worker *worker, const struct pending *directory, struct pending **found)
{
	const struct walk *walk = worker->walk;
	const char *relative = relative_path(walk, directory);
	struct walk_listing *listing = NULL;
	autoclose int fd = -1;

	if (directory->known != WALK_UNKNOWN && is_unchanged(walk, directory)) {
		tell_known(worker, directory, found);
		return;
	}
	do
		fd = *relative ? open_beneath(walk->root_fd, relative) : openat(walk->root_fd, ".", DIRECTORY_FLAGS);
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

static size_t cost_of(const struct pending *directory)
{
	return directory->known == WALK_UNKNOWN ? LIST_COST : 1;
}

/* Called with the lock held. */
static void push_all(struct walk *walk, struct pending *found)
{
	while (found) {
		struct pending *next = found->next;
		found->next = walk->stack;
		walk->stack = found;
		walk->waiting++;
		walk->cost += cost_of(found);
		walk->pending_bytes += sizeof *found + found->length;
		found = next;
	}
	if (walk->pending_bytes > PENDING_BYTES_MAX && !walk->has_failed) {
		walk->has_failed = true;
		error_set(walk->err, "cannot look through %s: too many directories", walk->stack->path);
	}
	pthread_cond_broadcast(&walk->changed);
}

/* Called with the lock held. A few directories, half of those that wait at most; NULL when everything is read or the walk has failed. */
static struct pending *pop(struct walk *walk)
{
	struct pending *first, **last = &first;
	size_t count;
	while (!walk->stack && walk->busy > 0 && !walk->has_failed)
		pthread_cond_wait(&walk->changed, &walk->lock);
	if (!walk->stack || walk->has_failed)
		return NULL;
	first = walk->stack;
	count = (walk->waiting + 1) / 2;
	for (size_t i = 0; i < count && i < BATCH; i++) {
		struct pending *directory = *last;
		walk->waiting--;
		walk->cost -= cost_of(directory);
		walk->pending_bytes -= sizeof *directory + directory->length;
		last = &directory->next;
	}
	walk->stack = *last;
	*last = NULL;
	walk->busy++;
	return first;
}

static void *helper_main(void *argument);

/* musl gives a thread 128 KB by itself, and with the first one it unblocks a signal that it keeps for itself: the command is to have
 * the caller's mask. */
static bool start_helper(struct worker *worker, pthread_t *helper)
{
	pthread_attr_t attributes;
	sigset_t mask;
	bool is_started;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	signals_mask(SIG_BLOCK, NULL, &mask);
	is_started = pthread_attr_setstacksize(&attributes, HELPER_STACK_BYTES) == 0 &&
		     pthread_create(helper, &attributes, helper_main, worker) == 0;
	signals_mask(SIG_SETMASK, &mask, NULL);
	pthread_attr_destroy(&attributes);
	return is_started;
}

/* The first thread calls in the second once there is enough for both. Without it (no more threads allowed) one does it all. */
static void work(struct worker *worker, pthread_t *helper, bool *has_helper, struct worker *second)
{
	struct walk *walk = worker->walk;
	struct pending *batch;
	pthread_mutex_lock(&walk->lock);
	while ((batch = pop(walk))) {
		struct pending *found = NULL;
		pthread_mutex_unlock(&walk->lock);
		while (batch) {
			struct pending *next = batch->next, *inside = NULL, **last = &inside;
			read_directory(worker, batch, &inside);
			while (*last)
				last = &(*last)->next;
			*last = found;
			found = inside;
			free(batch);
			batch = next;
		}
		pthread_mutex_lock(&walk->lock);
		walk->busy--;
		push_all(walk, found);
		if (helper && !*has_helper && walk->cost >= HELPER_FROM) {
			*has_helper = start_helper(second, helper);
			helper = *has_helper ? helper : NULL;
		}
	}
	pthread_cond_broadcast(&walk->changed);
	pthread_mutex_unlock(&walk->lock);
}

static void *helper_main(void *argument)
{
	work(argument, NULL, NULL, NULL);
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
	pending->known = WALK_UNKNOWN;
	return pending;
}

/* File systems that change a directory's ctime with every name in it, at once, by this machine's clock. Others are listed. */
static bool has_good_times(int fd)
{
	struct statfs info;
	if (fstatfs(fd, &info) < 0)
		return false;
	switch ((unsigned long)info.f_type) {
	case EXT4_SUPER_MAGIC: /* and ext2, ext3 */
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case TMPFS_MAGIC:
		return true;
	default:
		return false;
	}
}

/* Without good times, or a clock, this root is walked as without a memory, and the visitor still told. */
static void remember(struct walk *walk, struct walk_memory *memory, struct pending *root)
{
	struct timespec now;
	struct stat info;
	if (!has_good_times(walk->root_fd) || fstat(walk->root_fd, &info) < 0 || clock_gettime(CLOCK_REALTIME, &now) < 0)
		return;
	walk->memory = memory;
	walk->device = info.st_dev;
	walk->started_s = now.tv_sec;
	walk->started_ns = now.tv_nsec;
	root->known = walk_memory_root(memory, root->path, walk->device);
	root->slot = &walk_memory_add_root(memory, root->path, walk->device)->found;
}

static void work_through(struct walk *walk)
{
	struct arena *arenas = walk->memory ? walk->memory->arenas : NULL;
	struct worker first = { .walk = walk, .arena = arenas }, second = { .walk = walk, .arena = arenas ? arenas + 1 : NULL };
	pthread_t helper;
	bool has_helper = false;

	work(&first, &helper, &has_helper, &second);
	if (has_helper)
		pthread_join(helper, NULL);
	if (!walk->memory)
		return;
	walk->memory->kept += first.kept + second.kept;
	walk->memory->listed += first.listed + second.listed;
	walk->memory->learnt += first.learnt + second.learnt;
}

static int walk_root(struct walk *walk, const char *root, struct walk_memory *memory)
{
	autoclose int root_fd = -1;

	walk->root_length = strlen(root);
	do
		root_fd = open(root, DIRECTORY_FLAGS);
	while (root_fd < 0 && errno == EINTR);
	if (root_fd < 0 && errno == EACCES)
		visit_closed(&(struct worker){ .walk = walk }, root);
	else if (root_fd < 0 && !is_gone(errno))
		return error_errno(walk->err, errno, "cannot look through %s", root);
	if (root_fd < 0)
		return walk->has_failed ? -1 : 0;
	walk->root_fd = root_fd;
	walk->stack = new_root(root);
	if (!walk->stack)
		return error_errno(walk->err, ENOMEM, "cannot look through %s", root);
	if (memory)
		remember(walk, memory, walk->stack);
	walk->waiting = 1;
	walk->cost = cost_of(walk->stack);
	walk->pending_bytes = sizeof *walk->stack + walk->stack->length;
	pthread_mutex_init(&walk->lock, NULL);
	pthread_cond_init(&walk->changed, NULL);
	work_through(walk);
	while (walk->stack) {
		struct pending *next = walk->stack->next;
		free(walk->stack);
		walk->stack = next;
	}
	pthread_cond_destroy(&walk->changed);
	pthread_mutex_destroy(&walk->lock);
	return walk->has_failed ? -1 : 0;
}

static int filesystem_linux_walk(const struct filesystem *fs, const char *root,
				 enum walk_step (*visit)(void *self, const char *directory, const char *name,
							 enum file_type type),
				 void *self, struct error *err)
{
	struct walk walk = { .visit = visit, .self = self, .err = err };
	(void)fs;
	return walk_root(&walk, root, NULL);
}

static int filesystem_linux_walk_again(const struct filesystem *fs, const char *root, const struct walk_visitor *visitor,
				       struct walk_memory *memory, struct error *err)
{
	struct walk walk = { .visitor = visitor, .err = err };
	(void)fs;
	return walk_root(&walk, root, memory);
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
		.walk_again = filesystem_linux_walk_again,
		.is_closed = is_closed,
	};
	return &host;
}
