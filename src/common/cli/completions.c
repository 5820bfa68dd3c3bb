/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the completion scripts that is common to all shells. Reads tables and writes text;
 * never opens a file, never prints. The argument in an option's help (DIR, FILE, GUARANTEE,
 * linux|macos) selects its completion. */
#include "common/cli/completions.h"

#include <string.h>

#include "common/policy/builtin.h"
#include "common/cli/completions_internal.h"
#include "common/policy/guarantee.h"
#include "common/setup/setup.h"

const char *const completions_shells[] = { "bash", "zsh", "fish", NULL };

enum completion_value completions_value(const struct option_info *option)
{
	static const struct {
		const char *argument;
		enum completion_value value;
	} rows[] = {
		{ "DIR", COMPLETION_DIRECTORY },   { "FILE", COMPLETION_FILE },	   { "PATH,...", COMPLETION_FILE },
		{ "GUARANTEE", COMPLETION_WORDS }, { "POLICY", COMPLETION_WORDS }, { "NAME[=VALUE]", COMPLETION_VARIABLE },
		{ "HOST", COMPLETION_WORDS },
	};

	if (!option->argument)
		return COMPLETION_NONE;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(option->argument, rows[i].argument) == 0)
			return rows[i].value;
	return strchr(option->argument, '|') ? COMPLETION_WORDS : COMPLETION_FREE;
}

bool completions_is_optional(const struct option_info *option)
{
	return option->argument && option->argument[0] == '[';
}

static void add_word(struct text *out, size_t *count, const char *word, size_t length)
{
	text_add(out, "%s%.*s", (*count)++ > 0 ? " " : "", (int)length, word);
}

/* Splits "linux|macos". */
static void add_alternatives(struct text *out, const char *argument)
{
	size_t count = 0, length;
	for (; *argument; argument += length + (argument[length] == '|')) {
		length = strcspn(argument, "|");
		add_word(out, &count, argument, length);
	}
}

void completions_add_values(struct text *out, const struct option_info *option)
{
	struct builtin builtin;
	size_t count = 0;

	if (strcmp(option->argument, "GUARANTEE") == 0) {
		for (size_t i = 0; i < GUARANTEE_COUNT; i++)
			add_word(out, &count, guarantee_table[i].name, strlen(guarantee_table[i].name));
	} else if (strcmp(option->argument, "POLICY") == 0) {
		for (size_t i = 0; builtin_at(i, &builtin); i++)
			add_word(out, &count, builtin.name, strlen(builtin.name));
	} else if (strcmp(option->argument, "HOST") == 0) {
		for (size_t i = 0; i < setup_host_count; i++)
			if (setup_host_table[i].hook)
				add_word(out, &count, setup_host_table[i].name, strlen(setup_host_table[i].name));
	} else
		add_alternatives(out, option->argument);
}

bool completions_has_words(const struct subcommand *subcommand)
{
	return subcommand->words || subcommand->names;
}

bool completions_word(const struct subcommand *subcommand, size_t index, struct subcommand_word *word)
{
	*word = (struct subcommand_word){ 0 };
	if (subcommand->words)
		*word = subcommand->words[index];
	else if (subcommand->names)
		*word = (struct subcommand_word){ subcommand->names(index), subcommand->options, OPERAND_NONE };
	return word->name != NULL;
}

void completions_add_words(struct text *out, const struct subcommand *subcommand)
{
	struct subcommand_word word;
	size_t count = 0;
	for (size_t i = 0; completions_word(subcommand, i, &word); i++)
		add_word(out, &count, word.name, strlen(word.name));
}

void completions_add_quoted(struct text *out, const char *string, const char *special, const char *quote)
{
	for (; *string; string++) {
		if (*string == '\'')
			text_add(out, "%s", quote);
		else
			text_add(out, "%s%c", strchr(special, *string) ? "\\" : "", *string);
	}
}

bool completions_write(const char *shell, const struct subcommand *table, size_t count, struct text *out)
{
	static void (*const writers[])(const struct subcommands *, struct text *) = {
		completions_write_bash,
		completions_write_zsh,
		completions_write_fish,
	};
	const struct subcommands subcommands = { table, count };

	for (size_t i = 0; completions_shells[i]; i++) {
		if (strcmp(shell, completions_shells[i]) != 0)
			continue;
		writers[i](&subcommands, out);
		return true;
	}
	return false;
}
