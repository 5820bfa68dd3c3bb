/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors that berm inherits from its caller: closed, checked or passed on. */
#ifndef BERM_COMMON_BASE_DESCRIPTORS_H
#define BERM_COMMON_BASE_DESCRIPTORS_H

#include <stddef.h>

#include "common/base/error.h"

/* Opens /dev/null as fd 0, 1 and 2 where they are closed, so that no file of berm gets these
 * numbers. Close-on-exec: the command still finds them closed. */
int descriptors_secure_stdio(struct error *err);
/* Closes every fd above 2 except those in `keep`, which is ascending. Called before berm opens any
 * file. */
int descriptors_close_others(const int *keep, size_t count, struct error *err);
/* Refuses a directory as fd 0, 1, 2 or in `keep`: with openat(0, "../..") the command could reach
 * the host's files. */
int descriptors_refuse_directories(const int *keep, size_t count, struct error *err);
/* For a helper process: closes every fd except those in `keep`, which it sorts, and opens /dev/null
 * as 0, 1 and 2. */
int descriptors_keep_only(int *keep, size_t count, struct error *err);

#endif
