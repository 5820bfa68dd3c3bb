/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the completion script for bash 3.2 and later: two tables and the functions that read them.
 * With bash-completion loaded, the command after `berm run` is completed by its own completion. */
#include "common/cli/completions_internal.h"

static const char engine[] = "# _berm_reply COMPGEN-ARGUMENT...\n"
			     "_berm_reply() {\n"
			     "	local line\n"
			     "	while IFS= read -r line; do\n"
			     "		COMPREPLY+=(\"$line\")\n"
			     "	done < <(compgen \"$@\")\n"
			     "}\n"
			     "\n"
			     "# _berm_reply_kind KIND START\n"
			     "_berm_reply_kind() {\n"
			     "	case $1 in\n"
			     "	words) _berm_reply -W \"$values\" -- \"$2\" ;;\n"
			     "	variable) _berm_reply -e -- \"$2\" ;;\n"
			     "	file | directory)\n"
			     "		_berm_reply \"-${1:0:1}\" -- \"$2\"\n"
			     "		compopt -o filenames 2>/dev/null\n"
			     "		;;\n"
			     "	esac\n"
			     "}\n"
			     "\n"
			     "# _berm_command INDEX: completes another command line, which begins at that word.\n"
			     "_berm_command() {\n"
			     "	if declare -F _comp_command_offset >/dev/null; then\n"
			     "		_comp_command_offset \"$1\"\n"
			     "	elif declare -F _command_offset >/dev/null; then\n"
			     "		_command_offset \"$1\"\n"
			     "	elif [ \"$1\" -eq \"$COMP_CWORD\" ]; then\n"
			     "		_berm_reply -c -- \"${COMP_WORDS[COMP_CWORD]}\"\n"
			     "	else\n"
			     "		_berm_reply_kind file \"${COMP_WORDS[COMP_CWORD]}\"\n"
			     "	fi\n"
			     "}\n"
			     "\n"
			     "# readline splits --os=linux into three words: joins them and records where each began.\n"
			     "_berm_split() {\n"
			     "	local at word previous=''\n"
			     "	for ((at = 1; at <= COMP_CWORD; at++)); do\n"
			     "		word=${COMP_WORDS[at]}\n"
			     "		if [[ $last -ge 0 && ${line[last]} == --* && ($word == = || $previous == =) ]]; then\n"
			     "			line[last]+=$word\n"
			     "		else\n"
			     "			last=$((last + 1))\n"
			     "			line[last]=$word\n"
			     "			starts[last]=$at\n"
			     "		fi\n"
			     "		previous=$word\n"
			     "	done\n"
			     "}\n"
			     "\n"
			     "# Completes the last word, after all words before it are parsed.\n"
			     "_berm_reply_last() {\n"
			     "	local word=${line[last]} option\n"
			     "	if [[ -n $context && -z $is_ended && $word == --*=* ]]; then\n"
			     "		option=${word%%=*}\n"
			     "		_berm_value \"$option\" || return 0\n"
			     "		_berm_reply_kind \"$kind\" \"${word#*=}\"\n"
			     "		# If readline does not split at =, it replaces the option, too.\n"
			     "		[[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=(\"${COMPREPLY[@]/#/$option=}\")\n"
			     "	elif [[ -n $context && -z $is_ended && $word == -* ]]; then\n"
			     "		_berm_reply -W \"$options\" -- \"$word\"\n"
			     "		[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null\n"
			     "	elif [[ -n $values ]]; then\n"
			     "		_berm_reply_kind words \"$word\"\n"
			     "	elif [[ $operand == command ]]; then\n"
			     "		_berm_command \"${starts[last]}\"\n"
			     "	else\n"
			     "		_berm_reply_kind \"$operand\" \"$word\"\n"
			     "	fi\n"
			     "}\n"
			     "\n"
			     "_berm() {\n"
			     "	local at word last=-1 context='' is_ended='' options values operand kind\n"
			     "	local -a line starts\n"
			     "	COMPREPLY=()\n"
			     "	_berm_split\n"
			     "	_berm_context ''\n"
			     "	for ((at = 0; at < last; at++)); do\n"
			     "		word=${line[at]}\n"
			     "		if [[ -n $context && -z $is_ended && $word == -- ]]; then\n"
			     "			is_ended=1\n"
			     "		elif [[ -n $context && -z $is_ended && $word == -?* ]]; then\n"
			     "			_berm_needs_value \"$word\" || continue\n"
			     "			at=$((at + 1))\n"
			     "			[ \"$at\" -eq \"$last\" ] || continue\n"
			     "			_berm_value \"$word\"\n"
			     "			_berm_reply_kind \"$kind\" \"${line[last]}\"\n"
			     "			return\n"
			     "		elif [[ $operand == command ]]; then\n"
			     "			_berm_command \"${starts[at]}\"\n"
			     "			return\n"
			     "		elif [[ -n $values ]]; then\n"
			     "			context=\"${context:+$context }$word\"\n"
			     "			_berm_context \"$context\" || return 0\n"
			     "		fi\n"
			     "	done\n"
			     "	_berm_reply_last\n"
			     "}\n"
			     "\n"
			     "complete -F _berm berm\n";

static const char *const operand_names[] = {
	[OPERAND_NONE] = "none",	 [OPERAND_FILE] = "file",	[OPERAND_DIRECTORY] = "directory",
	[OPERAND_VARIABLE] = "variable", [OPERAND_COMMAND] = "command",
};

static void add_options(struct text *out, uint64_t accepted)
{
	struct option_info option;
	size_t count = 0;

	text_add(out, "options='");
	for (size_t i = 0; options_at(i, &option); i++) {
		if (!(option.bit & accepted))
			continue;
		text_add(out, "%s--%s%s", count++ > 0 ? " " : "", option.name,
			 option.argument && !completions_is_optional(&option) ? "=" : "");
		if (option.letter)
			text_add(out, " -%c", option.letter);
	}
	text_add(out, "'");
}

/* Adds one line of _berm_context. `word` is NULL for the subcommand itself. */
static void add_context(struct text *out, const struct subcommand *subcommand, const struct subcommand_word *word)
{
	text_add(out, "	'%s%s%s') ", subcommand->name, word ? " " : "", word ? word->name : "");
	add_options(out, word ? word->options : subcommand->options);
	if (!word && completions_has_words(subcommand)) {
		text_add(out, " values='");
		completions_add_words(out, subcommand);
		text_add(out, "'");
	}
	text_add(out, " operand=%s ;;\n", operand_names[word ? word->operand : subcommand->operand]);
}

static void add_contexts(struct text *out, const struct subcommands *subcommands)
{
	text_add(out, "# _berm_context CONTEXT: sets options, values and operand.\n"
		      "_berm_context() {\n	options='' values='' operand=none\n	case $1 in\n	'') values='");
	for (size_t i = 0, count = 0; i < subcommands->count; i++)
		if (subcommands->items[i].help)
			text_add(out, "%s%s", count++ > 0 ? " " : "", subcommands->items[i].name);
	text_add(out, "' ;;\n");
	for (size_t i = 0; i < subcommands->count; i++) {
		struct subcommand_word word;
		add_context(out, &subcommands->items[i], NULL);
		for (size_t k = 0; completions_word(&subcommands->items[i], k, &word); k++)
			add_context(out, &subcommands->items[i], &word);
	}
	text_add(out, "	*) return 1 ;;\n	esac\n}\n\n");
}

static void add_value(struct text *out, const struct option_info *option)
{
	static const char *const kinds[] = {
		[COMPLETION_NONE] = "none",	      [COMPLETION_FREE] = "none",	  [COMPLETION_FILE] = "file",
		[COMPLETION_DIRECTORY] = "directory", [COMPLETION_VARIABLE] = "variable", [COMPLETION_WORDS] = "words",
	};
	enum completion_value value = completions_value(option);

	text_add(out, "	--%s) kind='%s'", option->name, kinds[value]);
	if (value == COMPLETION_WORDS) {
		text_add(out, " values='");
		completions_add_values(out, option);
		text_add(out, "'");
	}
	text_add(out, " ;;\n");
}

static void add_value_tables(struct text *out)
{
	struct option_info option;
	size_t count = 0;

	text_add(out, "# _berm_value OPTION: sets kind and values of its value.\n"
		      "_berm_value() {\n	case $1 in\n");
	for (size_t i = 0; options_at(i, &option); i++)
		if (option.argument)
			add_value(out, &option);
	text_add(out, "	*) return 1 ;;\n	esac\n}\n\n"
		      "# _berm_needs_value OPTION: true if the next word is its value.\n"
		      "_berm_needs_value() {\n	case $1 in\n	");
	for (size_t i = 0; options_at(i, &option); i++)
		if (option.argument && !completions_is_optional(&option))
			text_add(out, "%s--%s", count++ > 0 ? " | " : "", option.name);
	text_add(out, ") ;;\n	*) return 1 ;;\n	esac\n}\n\n");
}

void completions_write_bash(const struct subcommands *subcommands, struct text *out)
{
	text_add(out, "# Completion of berm for bash, made by `berm completions bash`.\n\n");
	add_contexts(out, subcommands);
	add_value_tables(out);
	text_add(out, "%s", engine);
}
