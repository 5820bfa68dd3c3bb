/* SPDX-License-Identifier: Apache-2.0 */
/* Records which git directories of a project were made inside the sandbox. One private file per
 * project, <state>/born/<project key>. A record names a directory by inode and time of birth, which
 * no command can choose: a directory that the host makes later, at the same path or with the same
 * inode, is another one. The device is left out, because some file systems get another number with
 * each mount. In doubt a directory was not born inside. */
#ifndef BERM_COMMON_STATE_BORN_H
#define BERM_COMMON_STATE_BORN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/fs/filesystem.h"

enum { BORN_MAX = 4096 }; /* records of one project; the oldest are dropped */

struct born {
	struct file_birth *items;
	size_t count;
};

/* Reads the records of a project through the file system of its plan. None if the file is absent,
 * damaged or not private to `uid`. */
void born_load(const struct filesystem *fs, struct arena *arena, const char *state_directory, const char *project_key,
	       uid_t uid, struct born *born);
bool born_contains(const struct born *born, const struct file_birth *birth);
/* Adds records to those of the project; known ones stay as they are. Two processes may do it at
 * once. */
int born_add(struct arena *arena, const char *state_directory, const char *project_key, const struct file_birth *births,
	     size_t count, struct error *err);

#endif
