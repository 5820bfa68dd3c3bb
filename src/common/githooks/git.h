/* SPDX-License-Identifier: Apache-2.0 */
/* Queries git about its configuration: git resolves includes, worktrees and `git -c`. Runs git from
 * a fixed path, outside the sandbox, with subcommands that execute nothing of the repository. The
 * sandbox never depends on the result. */
#ifndef BERM_COMMON_GITHOOKS_GIT_H
#define BERM_COMMON_GITHOOKS_GIT_H

#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"

struct git_answer {
	int status; /* git's exit status */
	char *text; /* NUL-terminated; with `--null` it holds further NULs */
	size_t length;
};

/* Runs git with `arguments`, which end with NULL. Returns -1 with err if git could not be run. */
int git_ask(struct arena *arena, const char *const *arguments, struct git_answer *answer, struct error *err);
/* Returns the output without its newline, or NULL with err if git failed. */
const char *git_ask_line(struct arena *arena, const char *const *arguments, struct error *err);

#endif
