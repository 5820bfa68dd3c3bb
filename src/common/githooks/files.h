/* SPDX-License-Identifier: Apache-2.0 */
/* The files of `berm hooks`: the dispatcher, and git's configuration, which is replaced as git does it (FILE.lock, rename). */
#ifndef BERM_COMMON_GITHOOKS_FILES_H
#define BERM_COMMON_GITHOOKS_FILES_H

#include <stdbool.h>

#include "common/base/arena.h"
#include "common/base/error.h"

/* The whole of a configuration file; NULL in *text if it is not there. A link is followed: dotfiles are often linked. */
int hooks_read(struct arena *arena, const char *path, const char **text, struct error *err);
/* Replaces it, with its mode; NULL removes it. Fails if git holds its lock. */
int hooks_replace(struct arena *arena, const char *path, const char *text, struct error *err);
/* Writes the dispatcher and what is included, where they are not as they should be. */
int hooks_write_dispatcher(struct arena *arena, const char *home, const char *berm, struct error *err);
/* Is it whole? *problem says what is not, or NULL. */
void hooks_check_dispatcher(struct arena *arena, const char *home, const char *berm, const char **problem);

#endif
