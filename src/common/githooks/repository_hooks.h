/* SPDX-License-Identifier: Apache-2.0 */
/* Where the hooks of the repository at hand lie, as if berm's dispatcher were not in git's configuration. */
#ifndef BERM_COMMON_GITHOOKS_REPOSITORY_HOOKS_H
#define BERM_COMMON_GITHOOKS_REPOSITORY_HOOKS_H

#include <stdbool.h>

#include "common/base/arena.h"
#include "common/context/context.h"
#include "common/base/error.h"

/* Does this value of core.hooksPath lead to the dispatcher? */
bool hooks_is_dispatcher(struct arena *arena, const struct context *context, const char *value);
/* The last core.hooksPath that is not the dispatcher's, else the hooks of the common git directory. As git would name it: relative to the
 * working directory where it is. NULL with err. */
const char *hooks_own_directory(struct arena *arena, const struct context *context, struct error *err);

#endif
