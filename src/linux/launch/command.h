/* SPDX-License-Identifier: Apache-2.0 */
/* The command as execve wants it: where it may lie, its arguments and its environment. Made outside, before anything is locked;
 * which of the places exists is found inside, in the command's own view. */
#ifndef BERM_LINUX_LAUNCH_COMMAND_H
#define BERM_LINUX_LAUNCH_COMMAND_H

#include "common/plan/plan.h"

struct command {
	char *const *argv;
	char **environment;
	char **places; /* paths to try in order, ends with NULL */
	char **script; /* {"/bin/sh", place, argv[1]...}: for a file that execve does not know, as shells do; place is set then */
};

void command_prepare(const struct plan *plan, char *const *argv, struct command *command);
/* For a command that lies in memory that cannot be written: what command_execute writes to is in this arena from here on. */
void command_own(struct command *command, struct arena *arena);
/* Only returns on failure, with the errno that tells most: EACCES if something was found but not executable. Safe after vfork. */
int command_execute(const struct command *command);
/* Where the caller's own PATH would have found it on the host, or NULL. For the hint when it is not there inside. */
const char *command_on_host(const struct plan *plan, const char *name);

#endif
