/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the completion script for zsh: one function with one call of _arguments per subcommand and
 * per word after it. */
#include "common/cli/completions_internal.h"

/* Quotes for '[...]' and for the fields between colons of a specification. */
static void add_escaped(struct text *out, const char *string)
{
	completions_add_quoted(out, string, "[]:\\", "'\\''");
}

/* Adds the message and the action that completes a value. */
static void add_value(struct text *out, const struct option_info *option)
{
	static const char *const actions[] = {
		[COMPLETION_FREE] = " ",
		[COMPLETION_FILE] = "_files",
		[COMPLETION_DIRECTORY] = "_files -/",
		[COMPLETION_VARIABLE] = "_parameters -g \"*export*\"",
	};
	enum completion_value value = completions_value(option);

	text_add(out, completions_is_optional(option) ? "::" : ":");
	add_escaped(out, option->argument);
	text_add(out, ":");
	if (value == COMPLETION_WORDS) {
		text_add(out, "(");
		completions_add_values(out, option);
		text_add(out, ")");
	} else
		text_add(out, "%s", actions[value]);
}

static void add_option(struct text *out, const struct option_info *option)
{
	if (option->letter) {
		text_add(out, " \\\n		'(-%c --%s)-%c[", option->letter, option->name, option->letter);
		add_escaped(out, option->help);
		text_add(out, "]' \\\n		'(-%c --%s)--%s", option->letter, option->name, option->name);
	} else
		text_add(out, " \\\n		'%s--%s", option->argument ? "*" : "", option->name);
	if (option->argument)
		text_add(out, completions_is_optional(option) ? "=-" : "=");
	text_add(out, "[");
	add_escaped(out, option->help);
	text_add(out, "]");
	if (option->argument)
		add_value(out, option);
	text_add(out, "'");
}

static void add_options(struct text *out, uint64_t accepted)
{
	struct option_info option;
	for (size_t i = 0; options_at(i, &option); i++)
		if (option.bit & accepted)
			add_option(out, &option);
}

static void add_operand(struct text *out, enum operand operand)
{
	static const char *const specifications[] = {
		[OPERAND_NONE] = "",
		[OPERAND_FILE] = " \\\n		'*:file:_files'",
		[OPERAND_DIRECTORY] = " \\\n		'1:directory:_files -/'",
		[OPERAND_VARIABLE] = " \\\n		'*:variable:_parameters -g \"*export*\"'",
		[OPERAND_COMMAND] = " \\\n		'(-)1:command: _command_names -e' \\\n		'*::argument:_normal'",
	};
	text_add(out, "%s", specifications[operand]);
}

/* Adds the function of one subcommand or word. Without options, the leading colon stops _arguments
 * from parsing the first specification as its own option. */
static void add_function(struct text *out, const char *name, const char *word, uint64_t options, enum operand operand)
{
	text_add(out, "_berm_%s%s%s() {\n	_arguments -S%s :", name, word ? "_" : "", word ? word : "",
		 operand == OPERAND_COMMAND ? " -A '-*'" : "");
	add_options(out, options);
	add_operand(out, operand);
	text_add(out, "\n}\n\n");
}

/* Adds the function of a subcommand with words: completes the word, then calls
 * the word's function. */
static void add_dispatcher(struct text *out, const struct subcommand *subcommand)
{
	text_add(out,
		 "_berm_%s() {\n	local curcontext=$curcontext state state_descr line\n	typeset -A opt_args\n"
		 "	_arguments -C -S :",
		 subcommand->name);
	add_options(out, subcommand->options);
	text_add(out, " \\\n		'1:word:(");
	completions_add_words(out, subcommand);
	text_add(out,
		 ")' \\\n		'*::argument:->word' && return\n"
		 "	if [[ $state == word ]] && (( $+functions[_berm_%s_$line[1]] )); then\n"
		 "		_berm_%s_$line[1]\n	fi\n}\n\n",
		 subcommand->name, subcommand->name);
}

static void add_functions(struct text *out, const struct subcommand *subcommand)
{
	struct subcommand_word word;
	if (!completions_has_words(subcommand)) {
		add_function(out, subcommand->name, NULL, subcommand->options, subcommand->operand);
		return;
	}
	for (size_t i = 0; completions_word(subcommand, i, &word); i++)
		add_function(out, subcommand->name, word.name, word.options, word.operand);
	add_dispatcher(out, subcommand);
}

void completions_write_zsh(const struct subcommands *subcommands, struct text *out)
{
	text_add(out, "#compdef berm\n# Completion of berm for zsh, made by `berm completions zsh`.\n\n");
	for (size_t i = 0; i < subcommands->count; i++)
		add_functions(out, &subcommands->items[i]);
	text_add(out, "_berm() {\n	local -a subcommands=(\n");
	for (size_t i = 0; i < subcommands->count; i++) {
		if (!subcommands->items[i].help)
			continue;
		text_add(out, "		'%s:", subcommands->items[i].name);
		add_escaped(out, subcommands->items[i].help);
		text_add(out, "'\n");
	}
	text_add(out, "	)\n	if (( CURRENT == 2 )); then\n"
		      "		_describe -t subcommands subcommand subcommands\n		return\n	fi\n"
		      "	shift words\n	(( CURRENT-- ))\n"
		      "	if (( $+functions[_berm_$words[1]] )); then\n		_berm_$words[1]\n	fi\n}\n\n"
		      "# Autoloaded: call it. Sourced: register it.\n"
		      "if [[ $funcstack[1] == _berm ]]; then\n	_berm \"$@\"\nelse\n	compdef _berm berm\nfi\n");
}
