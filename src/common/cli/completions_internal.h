/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of completions*.c: kinds of values, lists of words, quoting. */
#ifndef BERM_COMMON_CLI_COMPLETIONS_INTERNAL_H
#define BERM_COMMON_CLI_COMPLETIONS_INTERNAL_H

#include "common/cli/options.h"
#include "common/cli/subcommands.h"
#include "common/base/text.h"

struct subcommands {
	const struct subcommand *items;
	size_t count;
};

/* The completion of an option's value. */
enum completion_value {
	COMPLETION_NONE, /* takes no value */
	COMPLETION_FREE, /* no completion */
	COMPLETION_FILE,
	COMPLETION_DIRECTORY,
	COMPLETION_VARIABLE,
	COMPLETION_WORDS, /* completions_add_values lists them */
};
enum completion_value completions_value(const struct option_info *option);
bool completions_is_optional(const struct option_info *option);
/* Copies the subcommand's word with this index. Returns false past the last word. */
bool completions_word(const struct subcommand *subcommand, size_t index, struct subcommand_word *word);
bool completions_has_words(const struct subcommand *subcommand);
/* Add lists separated by blanks. */
void completions_add_values(struct text *out, const struct option_info *option);
void completions_add_words(struct text *out, const struct subcommand *subcommand);
/* Adds the inside of a single-quoted string: a quote becomes `quote`, and each character of
 * `special` gets a backslash. */
void completions_add_quoted(struct text *out, const char *string, const char *special, const char *quote);

void completions_write_bash(const struct subcommands *subcommands, struct text *out);
void completions_write_zsh(const struct subcommands *subcommands, struct text *out);
void completions_write_fish(const struct subcommands *subcommands, struct text *out);

#endif
