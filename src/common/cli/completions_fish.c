/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the completion script for fish: `complete` lines with the contexts in which they apply. */
#include "common/cli/completions_internal.h"

static const char engine[] = "\n"
			     "# Prints the context: nothing, `run`, `check`, `check read` and so on; `command` in the command "
			     "of `berm run`.\n"
			     "function __berm_context\n"
			     "	set -l words (commandline -opc)\n"
			     "	set -l context\n"
			     "	set -l is_ended no\n"
			     "	set -l is_value no\n"
			     "	set -e words[1]\n"
			     "	for word in $words\n"
			     "		if test $is_value = yes\n"
			     "			set is_value no\n"
			     "		else if test -z \"$context\"\n"
			     "			set context $word\n"
			     "		else if test $is_ended = no -a \"$word\" = --\n"
			     "			set is_ended yes\n"
			     "		else if test $is_ended = no; and string match -q -- '-?*' $word\n"
			     "			contains -- $word $__berm_need_value; and set is_value yes\n"
			     "		else if contains -- \"$context\" $__berm_have_command\n"
			     "			echo command\n"
			     "			return\n"
			     "		else if contains -- \"$context\" $__berm_have_words\n"
			     "			set context \"$context $word\"\n"
			     "		end\n"
			     "	end\n"
			     "	echo $context\n"
			     "end\n"
			     "\n"
			     "function __berm_in\n"
			     "	set -l context (__berm_context)\n"
			     "	contains -- \"$context\" $argv\n"
			     "end\n"
			     "\n"
			     "# Completes the command of `berm run` with its own completion.\n"
			     "function __berm_command\n"
			     "	set -l words (commandline -opc) (commandline -ct)\n"
			     "	set -l is_value no\n"
			     "	set -e words[1..2]\n"
			     "	while set -q words[2]\n"
			     "		if test \"$words[1]\" = --\n"
			     "			set -e words[1]\n"
			     "			break\n"
			     "		else if contains -- $words[1] $__berm_need_value\n"
			     "			set -e words[1]\n"
			     "		else if not string match -q -- '-?*' $words[1]\n"
			     "			break\n"
			     "		end\n"
			     "		set -e words[1]\n"
			     "	end\n"
			     "	complete --do-complete=\"$words\"\n"
			     "end\n"
			     "\n";

static void add_quoted(struct text *out, const char *string)
{
	text_add(out, "'");
	completions_add_quoted(out, string, "\\", "\\'");
	text_add(out, "'");
}

static void add_lists(struct text *out, const struct subcommands *subcommands)
{
	struct option_info option;

	text_add(out, "set -g __berm_need_value");
	for (size_t i = 0; options_at(i, &option); i++)
		if (option.argument && !completions_is_optional(&option))
			text_add(out, " --%s", option.name);
	text_add(out, "\nset -g __berm_have_command");
	for (size_t i = 0; i < subcommands->count; i++)
		if (subcommands->items[i].operand == OPERAND_COMMAND)
			text_add(out, " %s", subcommands->items[i].name);
	text_add(out, "\nset -g __berm_have_words");
	for (size_t i = 0; i < subcommands->count; i++)
		if (completions_has_words(&subcommands->items[i]))
			text_add(out, " %s", subcommands->items[i].name);
	text_add(out, "\n");
}

/* Adds `complete -c berm -n "__berm_in 'run' 'check' 'check read'"`: every context that
 * accepts the option. */
static void add_contexts(struct text *out, const struct subcommands *subcommands, uint64_t option)
{
	text_add(out, "complete -c berm -n \"__berm_in");
	for (size_t i = 0; i < subcommands->count; i++) {
		const struct subcommand *subcommand = &subcommands->items[i];
		struct subcommand_word word;
		if (subcommand->options & option)
			text_add(out, " '%s'", subcommand->name);
		for (size_t k = 0; completions_word(subcommand, k, &word); k++)
			if (word.options & option)
				text_add(out, " '%s %s'", subcommand->name, word.name);
	}
	text_add(out, "\"");
}

static void add_value(struct text *out, const struct option_info *option)
{
	static const char *const actions[] = {
		[COMPLETION_FREE] = " -x",
		[COMPLETION_FILE] = " -r -F",
		[COMPLETION_DIRECTORY] = " -x -a '(__fish_complete_directories)'",
		[COMPLETION_VARIABLE] = " -x -a '(set -n -x)'",
	};
	enum completion_value value = completions_value(option);

	if (completions_is_optional(option))
		return;
	if (value != COMPLETION_WORDS) {
		text_add(out, "%s", actions[value]);
		return;
	}
	text_add(out, " -x -a '");
	completions_add_values(out, option);
	text_add(out, "'");
}

static void add_options(struct text *out, const struct subcommands *subcommands)
{
	struct option_info option;
	for (size_t i = 0; options_at(i, &option); i++) {
		add_contexts(out, subcommands, option.bit);
		text_add(out, " -l %s", option.name);
		if (option.letter)
			text_add(out, " -s %c", option.letter);
		if (option.argument)
			add_value(out, &option);
		text_add(out, " -d ");
		add_quoted(out, option.help);
		text_add(out, "\n");
	}
}

static void add_operand(struct text *out, const char *name, const char *word, enum operand operand)
{
	static const char *const actions[] = {
		[OPERAND_NONE] = NULL,
		[OPERAND_FILE] = "-F",
		[OPERAND_DIRECTORY] = "-a '(__fish_complete_directories)'",
		[OPERAND_VARIABLE] = "-a '(set -n -x)'",
		[OPERAND_COMMAND] = "-a '(__berm_command)'",
	};
	if (actions[operand])
		text_add(out, "complete -c berm -n \"__berm_in '%s%s%s'%s\" %s\n", name, word ? " " : "", word ? word : "",
			 operand == OPERAND_COMMAND ? " command" : "", actions[operand]);
}

static void add_subcommand(struct text *out, const struct subcommand *subcommand)
{
	struct subcommand_word word;

	if (subcommand->help) {
		text_add(out, "complete -c berm -n \"__berm_in ''\" -a '%s' -d ", subcommand->name);
		add_quoted(out, subcommand->help);
		text_add(out, "\n");
	}
	if (completions_has_words(subcommand)) {
		text_add(out, "complete -c berm -n \"__berm_in '%s'\" -a '", subcommand->name);
		completions_add_words(out, subcommand);
		text_add(out, "'\n");
	}
	add_operand(out, subcommand->name, NULL, subcommand->operand);
	for (size_t i = 0; completions_word(subcommand, i, &word); i++)
		add_operand(out, subcommand->name, word.name, word.operand);
}

void completions_write_fish(const struct subcommands *subcommands, struct text *out)
{
	text_add(out, "# Completion of berm for fish, made by `berm completions fish`.\n\n");
	add_lists(out, subcommands);
	text_add(out, "%s", engine);
	text_add(out, "complete -c berm -f\n");
	for (size_t i = 0; i < subcommands->count; i++)
		add_subcommand(out, &subcommands->items[i]);
	add_options(out, subcommands);
}
