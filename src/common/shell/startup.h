/* SPDX-License-Identifier: Apache-2.0 */
/* Starts an interactive shell with (berm) in its prompt: its arguments, and start-up files that
 * read those of the private home first. Never touches a file of the user. */
#ifndef BERM_COMMON_SHELL_STARTUP_H
#define BERM_COMMON_SHELL_STARTUP_H

#include "common/base/arena.h"
#include "common/plan/plan.h"

struct shell_startup {
	char **command;
	const char *document, *text; /* start-up file below PLAN_DOCUMENTS, or NULL */
	const char *variable, *value; /* variable that names the file, or NULL */
};

/* Selects the row by the base name of the shell's path. */
void shell_startup_choose(struct arena *arena, const char *shell, struct shell_startup *start);
/* Adds the file and the variable to the plan. */
void shell_startup_write(struct plan *plan, const struct shell_startup *start);

#endif
