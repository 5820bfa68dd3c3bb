/* SPDX-License-Identifier: Apache-2.0 */
/* Starts an interactive shell with (berm) in its prompt: its arguments, and start-up files that
 * read those of the private home first. Never touches a file of the user. A shim's shell has the
 * arguments of its host, and is marked without changing them. */
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

/* True if a shell with these arguments prompts: no script, no -c, and a terminal or -i. */
bool shell_is_interactive(int count, char *const *arguments, bool has_terminal);
/* Returns the arguments with which the shell shows the mark: those of the caller, or a copy with
 * more in front. `count` is that of the arguments, and changes with them. */
char **shell_mark_arguments(struct arena *arena, const char *name, int *count, char **arguments);
/* Adds what else marks an interactive shell of this name. `typed`, or NULL: a line that bash runs
 * before its first prompt, as if it had been typed. */
void shell_mark_write(struct plan *plan, const char *name, const char *typed);

#endif
