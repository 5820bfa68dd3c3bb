/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this room: the layout of a copy and of the undo store, and the one way to
 * open something in a tree that others can change. */
#ifndef BERM_LINUX_COPIES_INTERNAL_H
#define BERM_LINUX_COPIES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/copies/copies.h"

#define COPIES_DIRECTORY "copies"
#define COPY_UPPER "upper"
#define COPY_WORK "work"
#define COPY_BASE "base"
#define COPY_BOOT "boot"
#define COPY_KNOWN "known"
#define UNDO_DIRECTORY "undo"

/* Opens a directory below `root`. Crosses no symlink and no mount point, and never leaves root. ""
 * is root itself. Returns an fd that the caller closes, or -1 with errno. */
int copies_open_below(int root, const char *path, int flags);
/* True for the mark of a deletion: a character device with number 0. */
bool copies_is_whiteout(const struct stat *info);
/* Opens <state>/projects/<project key>; with is_creating creates it. The caller closes the fd. -1
 * with err, whose number is ENOENT if there is none. */
int copies_open_project(struct arena *arena, const char *state_directory, const char *project_key, bool is_creating,
			struct error *err);
/* True if the run was on another boot and its files may not be on the disk. */
bool copies_is_doubtful(const struct copy *copy);
/* Makes the baseline, if there is none, and waits until the clock has moved past it. */
int copies_make_base(const struct copy *copy, struct error *err);
/* Returns 0, or -1 if there is no baseline. */
int copies_read_base(const struct copy *copy, struct timespec *base);
/* Removes `name` of the copy with all its content, if it exists. */
int copies_remove(int directory, const char *name, const char *shown, struct error *err);

/* known.c: files of the project that berm itself left since the baseline, by an earlier apply or
 * undo of the copy. They are no conflicts. */
struct known_file {
	const char *path;
	struct copy_identity identity;
};
struct known_files {
	struct known_file *items; /* sorted by path; the last of equal ones counts */
	size_t count;
};
/* A missing or damaged file has none: the worst result is a conflict. */
void known_read(struct arena *arena, const struct copy *copy, struct known_files *known);
bool known_has(const struct known_files *known, const char *path, const struct copy_identity *identity);
/* Adds files. Best effort. */
void known_add(const struct copy *copy, const struct known_files *more);

/* compare.c: single files of both sides. */
struct copy_identity compare_identity(const struct stat *info);
bool compare_is_same(const struct copy_identity *left, const struct copy_identity *right);
/* True if the overlay has replaced the whole directory. */
bool compare_is_opaque(int directory);
/* True if a file of upper is a changed version of a file of the project, not a new file. */
bool compare_has_origin(int directory, const char *name);
/* True if both regular files, of this size, have the same bytes. In doubt false. */
bool compare_same_content(int left, int right, const char *name, uint64_t size);
/* Reads the target of a symlink, or NULL. */
const char *compare_target(struct arena *arena, int directory, const char *name);
/* True if a symlink at `path`, relative to the project, leads out of it. Textual. */
bool compare_leads_out(const char *project, const char *path, const char *target);
/* Removes every user.overlay.* attribute of a file or directory. -1 with errno. */
int compare_strip(int directory, const char *name);

#endif
