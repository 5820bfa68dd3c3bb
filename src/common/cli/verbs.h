/* SPDX-License-Identifier: Apache-2.0 */
/* Subcommands with verbs of their own, such as `berm state list`. */
#ifndef BERM_COMMON_CLI_VERBS_H
#define BERM_COMMON_CLI_VERBS_H

#include "common/cli/session.h"

struct verb {
	const char *name;
	uint64_t options; /* that it accepts */
	int (*run)(struct session *session, const char *word); /* word: its argument, or NULL */
};

struct verbs {
	const char *command; /* "state" */
	const struct verb *items; /* the first one is taken if none is named */
	size_t count;
	int (*help)(void);
};

/* Parses the verb's options and argument and runs it. Returns the exit status. */
int verbs_run(const struct verbs *verbs, int argc, char **argv);

#endif
