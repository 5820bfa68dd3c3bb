/* SPDX-License-Identifier: Apache-2.0 */
/* The files that the value of a setting names. A command is read as the shell would split it: the
 * program of each simple command, and the script of an interpreter, count. Variables are not
 * expanded, except for $HOME. Names more than git would run, never fewer of what it spells out. */
#include "common/git/settings.h"

#include <ctype.h>
#include <string.h>

#include "common/base/text.h"

enum { DEPTH_MAX = 3 }; /* sh -c 'sh -c ...' */

/* Programs whose first argument is a program, too. */
static const char *const interpreters[] = {
	"sh",	"bash", "dash", "zsh",	"ksh", "fish", "env",  "exec",	"nice",	 "nohup",  "time", "sudo",    "node",
	"deno", "bun",	"perl", "ruby", "php", "lua",  "pwsh", "tclsh", "guile", "python", "awk",  "Rscript",
};

struct command {
	struct arena *arena;
	const char *directory, *home;
	struct git_paths *paths;
};

static void add_path(struct command *command, const char *path)
{
	*(const char **)arena_push(command->arena, command->paths) = path;
}

/* Adds a path with git's `~/` or the shell's $HOME. Other users' homes and git's own prefix are
 * never writable inside. */
static void add(struct command *command, const char *word)
{
	static const char *const homes[] = { "~/", "$HOME/", "${HOME}/" };
	for (size_t i = 0; i < sizeof homes / sizeof homes[0]; i++)
		if (text_starts_with(word, homes[i])) {
			add_path(command, path_absolute(command->arena, command->home, word + strlen(homes[i])));
			return;
		}
	if (word[0] && word[0] != '~' && word[0] != '%')
		add_path(command, path_absolute(command->arena, command->directory, word));
}

/* Returns the next word without its quotes, or NULL at the end of the simple command, after which
 * *at is at the next one. */
static const char *next_word(struct arena *arena, const char **at)
{
	struct text word = { 0 };
	const char *from = *at, *result;
	char quote = '\0';

	from += strspn(from, " \t");
	if (!*from || strchr(";|&()\n<>", *from)) {
		*at = from;
		return NULL;
	}
	for (; *from && (quote || !strchr(" \t;|&()\n<>", *from)); from++) {
		if (quote ? *from == quote : *from == '\'' || *from == '"') {
			quote = quote ? '\0' : *from;
			continue;
		}
		if (*from == '\\' && quote != '\'' && from[1])
			from++;
		text_add_n(&word, from, 1);
	}
	*at = from;
	result = arena_copy_n(arena, word.data ? word.data : "", word.length);
	text_free(&word);
	return result;
}

static bool is_assignment(const char *word)
{
	size_t length = 0;
	while (isalnum((unsigned char)word[length]) || word[length] == '_')
		length++;
	return length > 0 && word[length] == '=';
}

static bool is_interpreter(const char *word)
{
	const char *name = path_base_name(word);
	size_t length = strcspn(name, "0123456789.");
	for (size_t i = 0; i < sizeof interpreters / sizeof interpreters[0]; i++)
		if (strlen(interpreters[i]) == length && strncmp(interpreters[i], name, length) == 0)
			return true;
	return false;
}

static void add_command(struct command *command, const char *text, unsigned depth);

/* Adds the program of one simple command and, behind interpreters, their scripts. */
static void add_simple(struct command *command, const char **at, unsigned depth)
{
	unsigned scripts = 0; /* how many of the next words may be one */
	bool is_program = true, is_text = false;
	for (const char *word; (word = next_word(command->arena, at));) {
		if (is_text) {
			add_command(command, word, depth + 1);
			is_text = false;
			scripts = 0;
		} else if (scripts > 0 && word[0] == '-') {
			is_text = word[1] != '-' && strchr(word, 'c');
			scripts = 2; /* the next word may belong to the option */
		} else if ((is_program || scripts > 0) && !is_assignment(word)) {
			/* A program without a slash is searched in PATH; a script is a file. */
			if (scripts > 0 || strchr(word, '/'))
				add(command, word);
			scripts = is_interpreter(word) ? 1 : scripts > 0 ? scripts - 1 : 0;
			is_program = false;
		}
	}
}

static void add_command(struct command *command, const char *text, unsigned depth)
{
	while (depth < DEPTH_MAX && *text) {
		add_simple(command, &text, depth);
		if (*text)
			text++; /* the separator */
	}
}

/* A path of git's may begin with ":(optional)". */
static const char *plain_path(const char *value)
{
	static const char optional[] = ":(optional)";
	return text_starts_with(value, optional) ? value + strlen(optional) : value;
}

void git_setting_paths(struct arena *arena, const struct git_setting *setting, const char *directory, const char *home,
		       struct git_paths *paths)
{
	struct command command = { arena, directory, home, paths };
	const char *value = setting->value;

	if (setting->key->effects & GIT_REDIRECTS)
		command.directory = path_parent(arena, setting->file);
	switch (setting->key->form) {
	case GIT_FORM_PATH:
		add(&command, plain_path(value));
		break;
	case GIT_FORM_PROGRAM:
		if (strchr(value, '/'))
			add(&command, value);
		break;
	case GIT_FORM_BANG:
		if (value[0] == '!')
			add_command(&command, value + 1, 0);
		break;
	case GIT_FORM_COMMAND:
		add_command(&command, value + (value[0] == '!'), 0);
		break;
	case GIT_FORM_MONITOR:
		if (git_setting_executes(setting))
			add_command(&command, value, 0);
		break;
	case GIT_FORM_TEXT:
		break;
	}
}
