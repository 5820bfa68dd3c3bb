/* SPDX-License-Identifier: Apache-2.0 */
/* Reads policy files: only regular files that no other user can write. */
#ifndef BERM_COMMON_POLICY_FILE_H
#define BERM_COMMON_POLICY_FILE_H

#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"

/* The file name of a project's policy. */
#define POLICY_FILE_NAME "berm.yml"

enum { POLICY_FILE_MAX = 1 << 20 };

/* Reads a policy file into the arena; the `read` callback of struct policy_request. Returns -1 with
 * err; err->number is ENOENT if the file is absent. Refuses a symlink as the last component, a file
 * that is not regular or larger than POLICY_FILE_MAX, a file of another user except root, and one
 * that others can write. A group-writable file is accepted for the user's private group (gid equal
 * to uid), because umask 002 creates such files. */
int policy_file_read(void *self, struct arena *arena, const char *path, char **text, size_t *length, struct error *err);

#endif
