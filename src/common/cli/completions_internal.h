/* SPDX-License-Identifier: Apache-2.0 */
/* What the writers of the completion scripts share: the kinds of values, lists of words, quoting. For completions*.c only. */
#ifndef BERM_COMMON_CLI_COMPLETIONS_INTERNAL_H
#define BERM_COMMON_CLI_COMPLETIONS_INTERNAL_H

#include "common/cli/options.h"
#include "common/cli/subcommands.h"
#include "common/base/text.h"

struct subcommands {
	const struct subcommand *items;
	size_t count;
};

/* What an option's value can be completed to. */
enum completion_value {
	COMPLETION_NONE, /* takes no value */
	COMPLETION_FREE, /* nothing is known about it */
	COMPLETION_FILE,
	COMPLETION_DIRECTORY,
	COMPLETION_VARIABLE,
	COMPLETION_WORDS, /* completions_add_values lists them */
};
enum completion_value completions_value(const struct option_info *option);
bool completions_is_optional(const struct option_info *option);
/* Separated by blanks. */
void completions_add_values(struct text *out, const struct option_info *option);
void completions_add_words(struct text *out, const struct subcommand_word *words);
/* The inside of a single-quoted string: a quote becomes `quote`, each character of `special` gets a backslash. */
void completions_add_quoted(struct text *out, const char *string, const char *special, const char *quote);

void completions_write_bash(const struct subcommands *subcommands, struct text *out);
void completions_write_zsh(const struct subcommands *subcommands, struct text *out);
void completions_write_fish(const struct subcommands *subcommands, struct text *out);

#endif
