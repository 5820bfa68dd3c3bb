/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text, and their resolution. A clean path is absolute and has no `.`, `..` or empty
 * components and no trailing slash (except "/"). Never changes a file. */
#ifndef BERM_COMMON_FS_PATH_H
#define BERM_COMMON_FS_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"

struct file_info;
struct filesystem;

/* A symlink that path_resolve followed. */
struct path_link {
	const char *path; /* canonical path of the link itself */
	const char *target; /* as stored */
};
struct path_links {
	struct path_link *items;
	size_t count;
};

/* Returns the canonical path: clean, with every symlink of the existing part followed, up to a
 * limit. Components after the deepest existing ancestor stay as written. Appends the symlinks to
 * `links` and describes the file in `info`, if they are not NULL. Fails for a loop, a path that is
 * too long or a file where a directory is needed. */
int path_resolve(const struct filesystem *fs, struct arena *arena, const char *absolute, const char **canonical,
		 struct path_links *links, struct file_info *info, struct error *err);
/* Returns `path` made absolute against `base`, without `.` and empty components. Purely textual:
 * `..` stays for path_resolve. */
char *path_absolute(struct arena *arena, const char *base, const char *path);
bool path_is_absolute_clean(const char *path);
/* True if `path` is the directory or below it. Both are clean. */
bool path_is_within(const char *path, const char *directory);
/* Returns the part after the last slash. */
const char *path_base_name(const char *path);
/* Returns the directory of a clean path; "/" for "/". */
char *path_parent(struct arena *arena, const char *path);
char *path_join(struct arena *arena, const char *directory, const char *name);
/* The same into a buffer of `size` bytes, for visitors of a walk. False if the path and one more
 * byte do not fit. */
bool path_join_into(char *out, size_t size, const char *directory, const char *name);

#endif
