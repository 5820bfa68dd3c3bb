/* SPDX-License-Identifier: Apache-2.0 */
/* struct filesystem for Linux: the POSIX functions, and a walk in several threads (internal.h). The
 * number of threads does not change the result. A directory that cannot be searched fails the
 * walk. */
#include "linux/walk/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#ifndef STATX_TYPE
#include <linux/stat.h> /* musl 1.2.3 has no statx */
#endif

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/fs/posix.h"
#include "linux/syscalls.h"
#include "linux/walk/bound_sockets.h"

static struct pending *new_root(const char *root)
{
	size_t length = strlen(root);
	struct pending *pending = calloc(1, sizeof *pending + length + 1);
	if (!pending)
		return NULL;
	memcpy(pending->path, root, length);
	pending->length = length;
	pending->record = WALK_UNKNOWN;
	return pending;
}

/* True for file systems that change a directory's ctime at once with every name in it, by this
 * machine's clock; tests/filesystems checks that. Directories of others are always listed. The same
 * ones list every name: their snapshots are ordinary directories. */
static bool is_usual(const struct statfs *info)
{
	switch ((unsigned long)info->f_type) {
	case EXT4_SUPER_MAGIC: /* and ext2, ext3 */
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case TMPFS_MAGIC:
		return true;
	default:
		return false;
	}
}

static bool has_good_times(int fd)
{
	struct statfs info;
	return fstatfs(fd, &info) == 0 && is_usual(&info);
}

static bool may_omit_names(const struct filesystem *fs, const char *directory)
{
	struct statfs info;
	(void)fs;
	return statfs(directory, &info) < 0 || !is_usual(&info);
}

/* Without good times, or a clock, the root is walked without the index, with the same visitor. */
static void use_index(struct walk *walk, struct tree_index *index, struct pending *root)
{
	const char *key = walk->visitor->key ? walk->visitor->key : root->path;
	struct timespec now;
	struct stat info;
	if (fstat(walk->root_fd, &info) < 0)
		return;
	/* The roots of one scan are nearly always on one file system. */
	if (!index->has_good_device || index->good_device != (uint64_t)info.st_dev) {
		if (!has_good_times(walk->root_fd))
			return;
		index->has_good_device = true;
		index->good_device = info.st_dev;
	}
	if (index->clock(&now) < 0)
		return;
	walk->index = index;
	walk->device = info.st_dev;
	walk->started_s = now.tv_sec;
	walk->started_ns = now.tv_nsec;
	root->record = tree_index_root(index, key, walk->device);
	root->slot = &tree_index_add_root(index, key, walk->device)->found;
}

static int walk_root(struct walk *walk, const char *root, struct tree_index *index)
{
	autoclose int root_fd = -1;

	walk->root_length = strlen(root);
	do
		root_fd = openat(AT_FDCWD, root, WALK_DIRECTORY_FLAGS);
	while (root_fd < 0 && errno == EINTR);
	if (root_fd < 0 && errno == EACCES)
		walk_visit_closed(&(struct worker){ .walk = walk }, root);
	else if (root_fd < 0 && !walk_is_gone(errno))
		return error_errno(walk->err, errno, "cannot search %s", root);
	if (root_fd < 0)
		return walk->has_failed ? -1 : 0;
	walk->root_fd = root_fd;
	walk->stack = new_root(root);
	if (!walk->stack)
		return error_errno(walk->err, ENOMEM, "cannot search %s", root);
	if (index)
		use_index(walk, index, walk->stack);
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

static int filesystem_linux_walk_indexed(const struct filesystem *fs, const char *root, const struct walk_visitor *visitor,
					 struct tree_index *index, struct error *err)
{
	struct walk walk = { .visitor = visitor, .err = err };
	(void)fs;
	return walk_root(&walk, root, index);
}

/* By the permissions and ACLs of this moment, for the user and groups that the command will have.
 * False for the owner, because the owner can change the mode. */
static bool is_closed(const struct filesystem *fs, const char *path)
{
	struct stat status;
	(void)fs;
	if (lstat(path, &status) < 0 || status.st_uid == geteuid())
		return false;
	return faccessat(AT_FDCWD, path, R_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) < 0 && errno == EACCES &&
	       faccessat(AT_FDCWD, path, X_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) < 0 && errno == EACCES;
}

static bool find_birth(const struct filesystem *fs, const char *path, struct file_birth *birth)
{
	const unsigned needed = STATX_INO | STATX_BTIME;
	struct statx info;
	(void)fs;
	if (syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, needed, &info) < 0 || (info.stx_mask & needed) != needed)
		return false;
	*birth = (struct file_birth){ info.stx_ino, info.stx_btime.tv_sec, info.stx_btime.tv_nsec };
	return true;
}

static bool is_same_state(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_nlink == b->st_nlink &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Anything but EAGAIN stays as it is; a file with a lease of another process is EAGAIN too. */
static int read_steady(const struct filesystem *fs, const char *path, size_t limit, char **bytes, size_t *length)
{
	autoclose int fd = sys_openat2(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW,
				       RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	struct private_file file;
	struct stat after;
	int number = 0;

	(void)fs;
	if (fd < 0 || private_file_read_fd(NULL, fd, limit, &file) < 0)
		return -1;
	if (fstat(fd, &after) < 0)
		number = errno;
	else if (file.info.st_nlink != 1)
		number = EMLINK;
	else if (!is_same_state(&file.info, &after) || (off_t)file.length != after.st_size)
		number = EAGAIN;
	if (number == 0) {
		*bytes = file.bytes;
		*length = file.length;
		return 0;
	}
	explicit_bzero(file.bytes, file.length);
	free(file.bytes);
	errno = number;
	return -1;
}

/* False without openat2, as in an outer sandbox that does not know the call. */
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
		.read_steady = read_steady,
		.walk = filesystem_linux_walk,
		.walk_indexed = filesystem_linux_walk_indexed,
		.is_closed = is_closed,
		.find_birth = find_birth,
		.is_there = is_there,
		.may_omit_names = may_omit_names,
		.list_sockets = bound_sockets_list,
	};
	return &host;
}
