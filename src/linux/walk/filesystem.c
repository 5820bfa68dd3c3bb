/* SPDX-License-Identifier: Apache-2.0 */
/* The host's file system on Linux: the POSIX answers, and a walk that reads directories in several threads (walk.h). What is
 * found does not depend on the threads; what could not be looked through ends the walk. */
#include "linux/walk/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/fs/posix.h"
#include "linux/syscalls.h"

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

/* File systems that change a directory's ctime with every name in it, at once, by this machine's clock, and have been seen to
 * (tests/filesystems). Others are listed. */
static bool has_good_times(int fd)
{
	struct statfs info;
	if (fstatfs(fd, &info) < 0)
		return false;
	switch ((unsigned long)info.f_type) {
	case EXT4_SUPER_MAGIC: /* and ext2, ext3 */
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
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

static int walk_root(struct walk *walk, const char *root, struct walk_memory *memory)
{
	autoclose int root_fd = -1;

	walk->root_length = strlen(root);
	do
		root_fd = open(root, WALK_DIRECTORY_FLAGS);
	while (root_fd < 0 && errno == EINTR);
	if (root_fd < 0 && errno == EACCES)
		walk_visit_closed(&(struct worker){ .walk = walk }, root);
	else if (root_fd < 0 && !walk_is_gone(errno))
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
	walk->pending_bytes = sizeof *walk->stack + walk->stack->length;
	pthread_mutex_init(&walk->lock, NULL);
	pthread_cond_init(&walk->changed, NULL);
	walk_work(walk);
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

/* Without openat2 (a sandbox around berm that does not know the call) nothing is. */
static bool is_there(const struct filesystem *fs, const char *path)
{
	autoclose int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	(void)fs;
	return fd >= 0;
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
		.is_there = is_there,
	};
	return &host;
}
