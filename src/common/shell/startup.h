/* SPDX-License-Identifier: Apache-2.0 */
/* How each shell is started for people, with a mark before its prompt: its arguments, and start-up files of berm's own that read the
 * private home's first. No file of the user is touched, inside or outside. */
#ifndef BERM_COMMON_SHELL_STARTUP_H
#define BERM_COMMON_SHELL_STARTUP_H

#include "common/base/arena.h"
#include "common/plan/plan.h"

struct shell_start {
	char **command;
	const char *document, *text; /* a start-up file below PLAN_DOCUMENTS, or NULL */
	const char *variable, *value; /* the variable that names it, or NULL */
};

/* By the base name of the shell's path. */
void shell_start_choose(struct arena *arena, const char *shell, struct shell_start *start);
/* Puts the file and the variable into the plan. */
void shell_start_furnish(struct plan *plan, const struct shell_start *start);

#endif
