/* SPDX-License-Identifier: Apache-2.0 */
/* Completion scripts, the part that no shell owns. Text in, text out: reads the tables, touches no file, never prints. The
 * word in an option's help (DIR, FILE, GUARANTEE, linux|macos) says what its value completes to. */
#include "common/cli/completions.h"

#include <string.h>

#include "common/policy/builtin.h"
#include "common/cli/completions_internal.h"
#include "common/policy/guarantee.h"

const char *const completions_shells[] = { "bash", "zsh", "fish", NULL };

enum completion_value completions_value(const struct option_info *option)
{
	static const struct {
		const char *argument;
		enum completion_value value;
	} rows[] = {
		{ "DIR", COMPLETION_DIRECTORY },   { "FILE", COMPLETION_FILE },	   { "PATH,...", COMPLETION_FILE },
		{ "GUARANTEE", COMPLETION_WORDS }, { "POLICY", COMPLETION_WORDS }, { "NAME[=VALUE]", COMPLETION_VARIABLE },
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

/* "linux|macos" */
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
	} else
		add_alternatives(out, option->argument);
}

void completions_add_words(struct text *out, const struct subcommand_word *words)
{
	size_t count = 0;
	for (; words && words->name; words++)
		add_word(out, &count, words->name, strlen(words->name));
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
