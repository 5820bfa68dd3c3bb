/* SPDX-License-Identifier: Apache-2.0 */
/* How a subcommand is described. The one table of them is in main.c; dispatch, help and the shell completions read it. */
#ifndef BERM_COMMON_CLI_SUBCOMMANDS_H
#define BERM_COMMON_CLI_SUBCOMMANDS_H

#include <stddef.h>

/* What stands after the options and words. */
enum operand { OPERAND_NONE, OPERAND_FILE, OPERAND_DIRECTORY, OPERAND_VARIABLE, OPERAND_COMMAND };

/* A fixed word after the subcommand, as in `berm state list`. A table of them ends with a NULL name. */
struct subcommand_word {
	const char *name;
	unsigned options; /* bits of enum command: these options are known behind the word */
	enum operand operand;
};

struct subcommand {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage;
	const char *help; /* NULL: works, but is in no list */
	unsigned options; /* bits of enum command; 0: takes none */
	const struct subcommand_word *words; /* NULL: has none */
	enum operand operand;
};

extern const struct subcommand subcommand_table[];
extern const size_t subcommand_count;

#endif
