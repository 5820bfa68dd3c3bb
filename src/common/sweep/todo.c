/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a rebase that was interrupted. `git rebase --continue` on the host runs its exec
 * lines. One that was not there at launch becomes a comment, so that the rebase goes on without
 * it. */
#include "common/sweep/internal.h"

#include <string.h>

#include "common/base/text.h"
#include "common/fs/path.h"

/* In a git directory, also in that of a worktree or submodule. */
static const char *const todo_files[] = { "rebase-merge/git-rebase-todo", "sequencer/todo" };
enum { TODO_FILES = sizeof todo_files / sizeof todo_files[0] };

static const char reason[] = "git rebase --continue would run lines of it that were not there at launch";
static const char mark[] = "# berm: ";

/* As git's parse_insn_line: blanks, then a whole word or its letter. */
static bool is_executing(const char *line, size_t length)
{
	size_t at = 0, word;
	while (at < length && (line[at] == ' ' || line[at] == '\t'))
		at++;
	for (word = at; word < length && line[word] != ' ' && line[word] != '\t' && line[word] != '\r'; word++)
		;
	return (word - at == 1 && line[at] == 'x') || (word - at == 4 && memcmp(line + at, "exec", 4) == 0);
}

char *todo_edit(struct arena *arena, const char *path, const char *text, size_t length, struct sweep_facts *facts,
		size_t *new_length)
{
	struct text out = { 0 };
	char *result = NULL;
	bool is_changed = false;

	for (size_t at = 0, end; at < length; at = end) {
		const char *newline = memchr(text + at, '\n', length - at);
		size_t size = newline ? (size_t)(newline - text) - at : length - at;
		end = at + size + (newline != NULL);
		if (is_executing(text + at, size) &&
		    !(facts && facts_have(arena, facts, FACT_TODO, path, arena_copy_n(arena, text + at, size)))) {
			text_add(&out, "%s", mark);
			is_changed = true;
		}
		text_add_n(&out, text + at, end - at);
	}
	if (is_changed) {
		result = arena_copy_n(arena, out.data, out.length);
		*new_length = out.length;
	}
	text_free(&out);
	return result;
}

/* Adds every line that executes. */
static void note(struct arena *arena, struct sweep_facts *facts, const char *path, const char *text, size_t length)
{
	for (size_t at = 0, end; at < length; at = end) {
		const char *newline = memchr(text + at, '\n', length - at);
		size_t size = newline ? (size_t)(newline - text) - at : length - at;
		end = at + size + (newline != NULL);
		if (is_executing(text + at, size))
			facts_add(arena, facts, FACT_TODO, path, arena_copy_n(arena, text + at, size));
	}
}

void todo_note(const struct plan *plan, struct sweep_facts *facts, const char *git_directory)
{
	struct arena *arena = plan->arena;
	for (size_t i = 0; i < TODO_FILES; i++) {
		const char *path = path_join(arena, git_directory, todo_files[i]);
		char *text;
		size_t length;
		if (!scan_git_lacks(&plan->scan->git_seen, git_directory, todo_files[i]) &&
		    act_read(arena, path, &text, &length) == 0)
			note(arena, facts, path, text, length);
	}
}

static void look_at(struct look *look, const char *path)
{
	struct sweep_question question = { .kind = SWEEP_GIT_TODO };
	char *text = NULL, *edited = NULL;
	size_t length = 0, new_length = 0;
	int status = act_read(look->arena, path, &text, &length);

	if (status == 1)
		return;
	question.is_readable = status == 0;
	if (question.is_readable)
		edited = todo_edit(look->arena, path, text, length, look->baseline, &new_length);
	question.executes = edited != NULL;
	switch (sweep_judge(&question)) {
	case SWEEP_QUARANTINE:
		act_move(look, path, "git would read the steps of a rebase from it, and berm cannot");
		break;
	case SWEEP_EDIT:
		/* The rebase may be another run's, which is still working on it. */
		if (look->is_alone)
			act_replace(look, SWEEP_EDIT, path, text, length, edited, new_length, reason);
		else
			look->has_deferred = true;
		break;
	case SWEEP_FINE:
	case SWEEP_STAYS:
	case SWEEP_REPORT:
	case SWEEP_OPENED:
	case SWEEP_LEFT:
	case SWEEP_UNDO:
		break;
	}
}

void todo_look(struct look *look, const char *git_directory)
{
	for (size_t i = 0; i < TODO_FILES; i++)
		if (!scan_git_lacks(&look->found.git_seen, git_directory, todo_files[i]))
			look_at(look, path_join(look->arena, git_directory, todo_files[i]));
}
