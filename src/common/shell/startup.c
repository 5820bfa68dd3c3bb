/* SPDX-License-Identifier: Apache-2.0 */
/* One row per shell. Nested shells may read a start-up file twice, so each checks whether its
 * prompt is already marked. */
#include "common/shell/startup.h"

#include <string.h>

#include "common/fs/path.h"

struct row {
	const char *name;
	const char *arguments[3];
	const char *document, *text;
	const char *variable, *value;
};

static const char bash_text[] = "# Start-up file of `berm shell` for bash.\n"
				"[ -r /etc/bash.bashrc ] && . /etc/bash.bashrc\n"
				"[ -r ~/.bashrc ] && . ~/.bashrc\n"
				"case $PS1 in '(berm) '*) ;; *) PS1=\"(berm) $PS1\" ;; esac\n";

/* zsh reads its files from ZDOTDIR; the file unsets it again. */
static const char zsh_text[] = "# Start-up file of `berm shell` for zsh.\n"
			       "unset ZDOTDIR\n"
			       "[[ -r ~/.zshenv ]] && . ~/.zshenv\n"
			       "[[ -r ~/.zshrc ]] && . ~/.zshrc\n"
			       ": ${HISTFILE:=$HOME/.zsh_history}\n"
			       "(( SAVEHIST )) || SAVEHIST=1000\n"
			       "[[ $PS1 = '(berm) '* ]] || PS1=\"(berm) $PS1\"\n";

/* dash and other shells named sh: only interactive ones read the file. */
static const char sh_text[] = "# Start-up file of `berm shell` for sh.\n"
			      "unset ENV\n"
			      "[ -r ~/.shrc ] && . ~/.shrc\n"
			      "case $PS1 in '(berm) '*) ;; *) PS1=\"(berm) $PS1\" ;; esac\n";

/* For a shim: bash has the start-up file that its host names, such as the shell integration of an
 * editor, which keeps the commands of the prompt. */
static const char bash_prompt[] = "case $PS1 in *'(berm) '*) ;; *) PS1=\"(berm) $PS1\" ;; esac";

/* The line is in a variable of the first shell alone. */
static const char bash_typed[] = "if [ -n \"${BERM_TYPED+x}\" ]; then\n"
				 "	set -- \"$BERM_TYPED\"; unset BERM_TYPED\n"
				 "	printf '%s\\n' \"${1# }\"; eval \"$1\"; set --\n"
				 "fi";

static const char fish_command[] =
	"functions -q __berm_prompt; or functions -q fish_prompt; and functions -c fish_prompt __berm_prompt\n"
	"function fish_prompt; echo -n '(berm) '; functions -q __berm_prompt; and __berm_prompt; end";

static const struct row rows[] = {
	{ "bash", { "--rcfile", PLAN_DOCUMENTS "/bashrc", "-i" }, PLAN_DOCUMENTS "/bashrc", bash_text, NULL, NULL },
	{ "zsh", { "-i" }, PLAN_DOCUMENTS "/.zshrc", zsh_text, "ZDOTDIR", PLAN_DOCUMENTS },
	{ "fish", { "-i", "-C", fish_command }, NULL, NULL, NULL, NULL },
	{ "sh", { "-i" }, PLAN_DOCUMENTS "/shrc", sh_text, "ENV", PLAN_DOCUMENTS "/shrc" },
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0], ARGUMENT_MAX = 3 };

static const struct row *find(const char *name)
{
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (strcmp(name, rows[i].name) == 0)
			return &rows[i];
	return &rows[ROW_COUNT - 1];
}

void shell_startup_choose(struct arena *arena, const char *shell, struct shell_startup *start)
{
	const struct row *row = find(path_base_name(shell));
	size_t count = 0;

	*start = (struct shell_startup){ NULL, row->document, row->text, row->variable, row->value };
	start->command = arena_alloc(arena, (ARGUMENT_MAX + 2) * sizeof *start->command);
	start->command[count++] = arena_copy(arena, shell);
	for (size_t i = 0; i < ARGUMENT_MAX && row->arguments[i]; i++)
		start->command[count++] = arena_copy(arena, row->arguments[i]);
}

void shell_startup_write(struct plan *plan, const struct shell_startup *start)
{
	plan_add_variable(plan, "SHELL", start->command[0]);
	if (start->document)
		*arena_push(plan->arena, &plan->added) = (struct plan_document){ start->document, start->text };
	if (start->variable)
		plan_add_variable(plan, start->variable, start->value);
}

/* The letters of one word of options, such as -il. Returns false if a script or a string
 * follows. */
static bool read_options(const char *word, bool *is_asked, bool *takes_next)
{
	if (word[0] == '-' && word[1] == '-') {
		*takes_next = strcmp(word, "--rcfile") == 0 || strcmp(word, "--init-file") == 0;
		return word[2] != '\0'; /* after `--` comes a script */
	}
	if ((word[0] != '-' && word[0] != '+') || strchr(word, 'c'))
		return false;
	*is_asked |= word[0] == '-' && strchr(word, 'i');
	*takes_next = strchr(word, 'o') || strchr(word, 'O') || strchr(word, 'C');
	return true;
}

bool shell_is_interactive(int count, char *const *arguments, bool has_terminal)
{
	bool is_asked = false;
	for (int i = 0; i < count; i++) {
		bool takes_next = false;
		if (!read_options(arguments[i], &is_asked, &takes_next))
			return false;
		i += takes_next;
	}
	return is_asked || has_terminal;
}

char **shell_mark_arguments(struct arena *arena, const char *name, int *count, char **arguments)
{
	char **marked;
	if (strcmp(name, "fish") != 0)
		return arguments;
	marked = arena_alloc(arena, ((size_t)*count + 3) * sizeof *marked);
	marked[0] = arena_copy(arena, "-C");
	marked[1] = arena_copy(arena, fish_command);
	for (int i = 0; i < *count; i++)
		marked[i + 2] = arguments[i];
	*count += 2;
	return marked;
}

void shell_mark_write(struct plan *plan, const char *name, const char *typed)
{
	const struct row *row = find(name);
	if (strcmp(name, "bash") == 0) {
		const char *command = typed ? arena_printf(plan->arena, "%s\n%s", bash_prompt, bash_typed) : bash_prompt;
		plan_add_variable(plan, "PROMPT_COMMAND", command);
		if (typed)
			plan_add_variable(plan, "BERM_TYPED", typed);
		return;
	}
	if (row->document)
		*arena_push(plan->arena, &plan->added) = (struct plan_document){ row->document, row->text };
	if (row->variable)
		plan_add_variable(plan, row->variable, row->value);
}
