/* SPDX-License-Identifier: Apache-2.0 */
/* What berm inherits from its caller in file descriptors, and what of that goes on. */
#ifndef BERM_COMMON_BASE_DESCRIPTORS_H
#define BERM_COMMON_BASE_DESCRIPTORS_H

#include <stddef.h>

#include "common/base/error.h"

/* Fills closed 0, 1, 2 with /dev/null, close-on-exec: no file of ours can land there, and the command still finds them closed. */
int descriptors_secure_stdio(struct error *err);
/* Closes everything above 2 but the given ones (ascending). Called before anything else is opened. */
int descriptors_close_others(const int *keep, size_t count, struct error *err);
/* A directory handed in as stdin (or by --pass-fd) would be a way around the view: openat(0, "../..") names the host's files. */
int descriptors_refuse_directories(const int *keep, size_t count, struct error *err);
/* For a helper process: nothing stays open but these (in any order), and standard input, output and error are /dev/null. */
int descriptors_keep_only(int *keep, size_t count, struct error *err);

#endif
