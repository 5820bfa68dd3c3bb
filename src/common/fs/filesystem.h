/* SPDX-License-Identifier: Apache-2.0 */
/* The file system behind function pointers, so that a plan can be made for the real disk, for a
 * fake tree in a test, or for another system from a description. Never writes. */
#ifndef BERM_COMMON_FS_FILESYSTEM_H
#define BERM_COMMON_FS_FILESYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/fs/path.h"

enum file_type { FILE_ABSENT, FILE_REGULAR, FILE_DIRECTORY, FILE_SYMLINK, FILE_SOCKET, FILE_DEVICE, FILE_FIFO, FILE_UNKNOWN };

struct file_info {
	enum file_type type;
	uint64_t device, inode, links;
	uid_t uid;
	mode_t mode; /* permission bits */
};

/* The identity of a file for its whole life: no process can set a time of birth. */
struct file_birth {
	uint64_t inode;
	int64_t seconds;
	uint32_t nanoseconds;
};

enum walk_step { WALK_SKIP, WALK_DESCEND };

/* Callbacks of an indexed walk. */
struct walk_visitor {
	/* Like the visit of `walk`. Sets is_kept for an entry that must be visited on every walk.
	 * The result for any other entry must depend only on its path, its type and the index's
	 * owner. */
	enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type, bool *is_kept);
	/* Reports the number of entries without is_kept of a directory that the index covers and
	 * the walk did not list. */
	void (*count)(void *self, uint64_t directories, uint64_t files);
	void *self;
	/* Identifies the walk in the index: everything but path, type and owner on which the
	 * visitor depends. Begins with a slash. NULL: the root's path. */
	const char *key;
};
struct tree_index;

struct filesystem {
	/* Describes a file without following a final symlink. Returns 0 with FILE_ABSENT for an
	 * absent file, -1 with errno for other errors. */
	int (*inspect)(const struct filesystem *fs, const char *path, struct file_info *info);
	/* Reads the target of a symlink into the arena. Returns 0, or -1 with errno. */
	int (*read_link)(const struct filesystem *fs, struct arena *arena, const char *path, char **target);
	/* Reads a regular file of at most `limit` bytes without following a final symlink. Returns
	 * 0, or -1 with errno. */
	int (*read_small)(const struct filesystem *fs, struct arena *arena, const char *path, size_t limit, char **text,
			  size_t *length);
	/* Reads a regular file of at most `limit` bytes that has one name, no symlink on its path,
	 * and does not change meanwhile. The caller frees the bytes. Returns 0, or -1 with errno:
	 * EMLINK for further names, EFBIG if it is larger, EAGAIN if it changed. NULL: not
	 * supported. */
	int (*read_steady)(const struct filesystem *fs, const char *path, size_t limit, char **bytes, size_t *length);
	/* Calls visit for every entry below root, a directory before its entries, possibly from
	 * several threads at once. Never follows symlinks. Skips unreadable directories: a command
	 * cannot read what berm's user cannot read. Returns -1 only if the walk itself failed
	 * (memory, threads). */
	int (*walk)(const struct filesystem *fs, const char *root,
		    enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type),
		    void *self, struct error *err);
	/* The same with an index (tree_index.h), which is used and updated. NULL: not supported. */
	int (*walk_indexed)(const struct filesystem *fs, const char *root, const struct walk_visitor *visitor,
			    struct tree_index *memory, struct error *err);
	/* True if this file or directory belongs to another user and its permissions deny berm's
	 * user access. NULL: unknown. */
	bool (*is_closed)(const struct filesystem *fs, const char *path);
	/* Tells when a file was made, without following a final symlink. False if the file system
	 * does not know. NULL: unknown. */
	bool (*find_birth)(const struct filesystem *fs, const char *path, struct file_birth *birth);
	/* True if the path exists and has no symlink in it. For paths that commands can write,
	 * where another sandbox could swap in a symlink. NULL: use inspect. */
	bool (*is_there)(const struct filesystem *fs, const char *path);
	/* True if this directory may have names that a listing of it omits. If not, its ctime
	 * changes at once with every name in it. NULL: unknown. */
	bool (*may_omit_names)(const struct filesystem *fs, const char *directory);
	/* Calls visit for the path of each bound Unix socket of this machine, as its owner spelled
	 * it. A path may be relative, stale or of another mount namespace, and come more than once.
	 * NULL: this system has no such list. -1 with err if it cannot be read. */
	int (*list_sockets)(const struct filesystem *fs, void (*visit)(void *self, const char *path), void *self,
			    struct error *err);
	bool is_case_insensitive;
	void *self;
};

/* Returns the real file system: linux/walk/filesystem.c, elsewhere posix.c. */
const struct filesystem *filesystem_host(void);

#endif
