/* SPDX-License-Identifier: Apache-2.0 */
/* Reading policy files from the disk: only regular files that no other user could have written. */
#ifndef BERM_COMMON_POLICY_FILE_H
#define BERM_COMMON_POLICY_FILE_H

#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"

enum { POLICY_FILE_MAX = 1 << 20 };

/* The `read` of struct policy_request. ENOENT in err->number if the file is absent. A symlink as the last component, a file
 * that is not regular, is larger than POLICY_FILE_MAX, belongs to somebody else (but root), or that others can write is an
 * error. Group-writable is accepted for the user's own private group (gid equal to uid), as umask 002 makes it. */
int policy_file_read(void *self, struct arena *arena, const char *path, char **text, size_t *length, struct error *err);

#endif
