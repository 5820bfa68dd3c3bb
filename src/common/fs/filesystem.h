/* SPDX-License-Identifier: Apache-2.0 */
/* The file system as the plan sees it: a handful of read-only questions behind function pointers, so that a plan can be made
 * for a fake tree in a test, for another system from a description, or for the real disk. */
#ifndef BERM_COMMON_FS_FILESYSTEM_H
#define BERM_COMMON_FS_FILESYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/arena.h"
#include "common/base/error.h"

enum file_type { FILE_ABSENT, FILE_REGULAR, FILE_DIRECTORY, FILE_SYMLINK, FILE_SOCKET, FILE_DEVICE, FILE_FIFO, FILE_UNKNOWN };

struct file_info {
	enum file_type type;
	uint64_t device, inode, links;
	uid_t uid;
	mode_t mode; /* permission bits */
};

enum walk_step { WALK_SKIP, WALK_DESCEND };

/* Who is told of what a walk with a memory finds. */
struct walk_visitor {
	/* As the visit of `walk`. Remarkable is an entry that has to be visited in every walk; what became of the others (entered or
	 * not, counted) must depend on nothing but path, type and the memory's owner. */
	enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type, bool *is_remarkable);
	/* So many entries that are not remarkable lie in a directory that was not listed. */
	void (*count)(void *self, uint64_t directories, uint64_t files);
	void *self;
};
struct walk_memory;

struct filesystem {
	/* Does not follow a final symlink. Absent files give FILE_ABSENT and 0; errors other than absence give -1 with errno. */
	int (*inspect)(const struct filesystem *fs, const char *path, struct file_info *info);
	/* Target of a symlink into the arena; -1 with errno. */
	int (*read_link)(const struct filesystem *fs, struct arena *arena, const char *path, char **target);
	/* A small regular file (at most `limit` bytes), never following a final symlink; -1 with errno. */
	int (*read_small)(const struct filesystem *fs, struct arena *arena, const char *path, size_t limit, char **text,
			  size_t *length);
	/* Calls visit for every entry below root, directories before what they hold, never following symlinks and never leaving
	 * by a `..`. visit may be called from several threads at once. Unreadable directories are passed over silently: what
	 * berm's user cannot read the command cannot read either. -1 only if the walk itself failed (memory, threads). */
	int (*walk)(const struct filesystem *fs, const char *root,
		    enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type),
		    void *self, struct error *err);
	/* The same with a memory, which is used and filled (walk_memory.h). NULL: there is no such thing here. */
	int (*walk_again)(const struct filesystem *fs, const char *root, const struct walk_visitor *visitor,
			  struct walk_memory *memory, struct error *err);
	/* Is this file or directory of another user closed to berm's user, whoever else may open it? NULL: nobody can say. */
	bool (*is_closed)(const struct filesystem *fs, const char *path);
	/* Is there something at this path, with no symlink on the way? For paths in what commands write, where another sandbox may swap one in. NULL: as far as
	 * inspect says. */
	bool (*is_there)(const struct filesystem *fs, const char *path);
	bool is_case_insensitive;
	void *self;
};

/* The real one: filesystem_posix.c (macOS and others) or linux/filesystem_linux.c. */
const struct filesystem *filesystem_host(void);

/* A symlink met on the way of a resolution, canonical path of the link itself and its target as stored. */
struct path_link {
	const char *path;
	const char *target;
};
struct path_links {
	struct path_link *items;
	size_t count;
};

/* path.c: the canonical path: absolute, no `.`/`..`/double slashes, every symlink of the existing part followed (bounded);
 * components after the deepest existing ancestor are kept as written. `links` may be NULL. -1 with err for a loop, a path that
 * is too long or a file where a directory is needed. */
int path_resolve(const struct filesystem *fs, struct arena *arena, const char *absolute, const char **canonical,
		 struct path_links *links, struct file_info *info, struct error *err);
/* Purely textual: makes absolute against base, folds `.` and `//`, refuses nothing; `..` is kept for path_resolve to judge. */
char *path_absolute(struct arena *arena, const char *base, const char *path);
bool path_is_absolute_clean(const char *path); /* starts with '/', no `.`/`..`/empty components, no trailing slash (but "/") */
/* Is path equal to directory or below it? Both clean. */
bool path_is_within(const char *path, const char *directory);
const char *path_base_name(const char *path); /* after the last slash */
char *path_parent(struct arena *arena, const char *path); /* of a clean path; "/" for "/" */
char *path_join(struct arena *arena, const char *directory, const char *name);
/* The same into `size` bytes, for a walk's visitor; false if it does not fit, with a byte to spare for a slash. */
bool path_join_into(char *out, size_t size, const char *directory, const char *name);

#endif
