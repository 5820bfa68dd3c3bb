/* SPDX-License-Identifier: Apache-2.0 */
/* The command's arguments for execve: paths to try, argv and environment. The launcher prepares
 * them outside; which of the paths exists is found inside, in the command's view. */
#ifndef BERM_LINUX_LAUNCH_COMMAND_H
#define BERM_LINUX_LAUNCH_COMMAND_H

#include "common/plan/plan.h"

struct command {
	char *const *argv;
	char **environment;
	char **paths; /* tried in this order; ends with NULL */
	/* {"/bin/sh", path, argv[1]...}, as shells do after ENOEXEC; path is set then. */
	char **script;
};

/* Fills *command. Everything but argv is in the plan's arena. */
void command_prepare(const struct plan *plan, char *const *argv, struct command *command);
/* Returns only on failure, with the most useful errno: EACCES if a file was found but is not
 * executable. Safe after vfork. */
int command_execute(const struct command *command);
/* Returns the path at which the caller's own PATH finds the command on the host, or NULL. For a
 * hint only. */
const char *command_on_host(const struct plan *plan, const char *name);

#endif
