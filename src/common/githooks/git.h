/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to git about its own configuration, for `berm hooks`: git knows about includes, worktrees and what `git -c` said. It is run
 * from a fixed place, outside of the sandbox, with subcommands that run nothing of the repository's. Never for the wall itself. */
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

/* `arguments` ends with NULL and is what stands after `git`. -1 with err if git could not be asked. */
int git_ask(struct arena *arena, const char *const *arguments, struct git_answer *answer, struct error *err);
/* The one line of an answer, without its newline; NULL with err if git failed. */
const char *git_ask_line(struct arena *arena, const char *const *arguments, struct error *err);

#endif
