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

#endif
