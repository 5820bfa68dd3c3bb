/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and aliases of the user's own bash, for hosts whose shell is a shim and therefore does
 * not read the user's start-up file. Taken outside, at the start of a session, by running that file
 * as the user's shell does; never a variable, and never again for a command. */
#ifndef BERM_COMMON_SHELL_USER_FUNCTIONS_H
#define BERM_COMMON_SHELL_USER_FUNCTIONS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/context/context.h"

/* Runs ~/.bashrc and saves what it defines. Without that file it removes what was saved. */
int user_functions_take(struct arena *arena, const struct context *context, struct error *err);
/* Returns the path of the saved file, which may be absent. */
const char *user_functions_file(struct arena *arena, const struct context *context);

#endif
