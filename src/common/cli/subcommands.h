/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a subcommand. The only table is in main.c; dispatch, help and the shell
 * completions read it. */
#ifndef BERM_COMMON_CLI_SUBCOMMANDS_H
#define BERM_COMMON_CLI_SUBCOMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of argument after the options and words. */
enum operand { OPERAND_NONE, OPERAND_FILE, OPERAND_DIRECTORY, OPERAND_VARIABLE, OPERAND_COMMAND };

/* A fixed word after the subcommand, as in `berm state list`. */
struct subcommand_word {
	const char *name;
	uint64_t options; /* accepted after the word */
	enum operand operand;
};

struct subcommand {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage;
	const char *help; /* NULL: not listed in the help */
	bool is_brief; /* left out of `berm help`, which has to fit a terminal */
	uint64_t options; /* 0: none, not even --help */
	const struct subcommand_word *words; /* ends with a NULL name; NULL: none */
	const char *(*names)(size_t index); /* words of another table; NULL: none */
	enum operand operand;
};

extern const struct subcommand subcommand_table[];
extern const size_t subcommand_count;

#endif
