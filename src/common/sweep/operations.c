/* SPDX-License-Identifier: Apache-2.0 */
/* An interrupted rebase, cherry-pick or am keeps its options in files, and `--continue` on the host
 * obeys them: it runs git-merge-STRATEGY, also by a path with a slash, and `git apply` with options
 * that overwrite any file. A text is fine if git writes it for its own strategies and the options
 * that its manual has for a user. Another one, if it was not there at launch, is moved: without the
 * file git goes on as usual. */
#include "common/sweep/internal.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "common/base/text.h"
#include "common/format/git_config.h"
#include "common/fs/path.h"

static const char reason[] = "git would run a program or overwrite a file that it names, when you continue";

static const char *const strategies[] = { "ort", "recursive", "resolve", "octopus", "ours", "subtree" };
/* Without the value of those that take one. */
static const char *const strategy_options[] = {
	"ours",
	"theirs",
	"ignore-space-change",
	"ignore-all-space",
	"ignore-space-at-eol",
	"ignore-cr-at-eol",
	"patience",
	"histogram",
	"diff-algorithm",
	"renormalize",
	"no-renormalize",
	"find-renames",
	"no-renames",
	"rename-threshold",
	"subtree",
};
/* What git am passes to git apply. */
static const char *const apply_options[] = {
	"--whitespace", "--directory", "--exclude", "--include", "--reject", "--ignore-space-change", "--ignore-whitespace",
};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static bool is_one_of(const char *word, size_t length, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == length && memcmp(list[i], word, length) == 0)
			return true;
	return false;
}

bool operations_is_strategy(const char *text)
{
	size_t length = strcspn(text, "\r\n");
	return text[length + strspn(text + length, "\r\n")] == '\0' &&
	       (length == 0 || is_one_of(text, length, strategies, COUNT(strategies)));
}

static bool is_strategy_option(const char *word)
{
	if (text_starts_with(word, "--"))
		word += 2;
	return is_one_of(word, strcspn(word, "="), strategy_options, COUNT(strategy_options));
}

/* Copies the next word as git's split_cmdline reads it, and moves *text behind it. False if a quote
 * is not closed, or a backslash is the last character. */
static bool next_word(const char **text, char *word)
{
	const char *at = *text;
	char quote = '\0';
	for (; *at && (quote || !strchr(" \t\r\n", *at)); at++) {
		if (quote ? *at == quote : *at == '\'' || *at == '"') {
			quote = quote ? '\0' : *at;
			continue;
		}
		if (*at == '\\' && quote != '\'' && !*++at)
			return false;
		*word++ = *at;
	}
	*word = '\0';
	*text = at;
	return !quote;
}

/* True if every word is fine. */
static bool are_words(struct arena *arena, const char *text, bool (*is_fine)(const char *word))
{
	char *word = arena_alloc(arena, strlen(text) + 1);
	for (text += strspn(text, " \t\r\n"); *text; text += strspn(text, " \t\r\n"))
		if (!next_word(&text, word) || !is_fine(word))
			return false;
	return true;
}

bool operations_are_strategy_options(struct arena *arena, const char *text)
{
	return are_words(arena, text, is_strategy_option);
}

/* -p1 and -C3 have a number, the others are spelled out. */
static bool is_apply_option(const char *word)
{
	if (word[0] == '-' && (word[1] == 'p' || word[1] == 'C'))
		return word[2] && word[2 + strspn(word + 2, "0123456789")] == '\0';
	return is_one_of(word, strcspn(word, "="), apply_options, COUNT(apply_options));
}

bool operations_are_apply_options(struct arena *arena, const char *text)
{
	return are_words(arena, text, is_apply_option);
}

bool operations_are_sequencer_options(struct arena *arena, const char *text)
{
	struct git_config_reader reader = { .arena = arena, .next = text };
	while (git_config_next(&reader)) {
		if (strcasecmp(reader.section, "options") != 0)
			continue;
		if (strcasecmp(reader.name, "strategy") == 0 && !operations_is_strategy(reader.value))
			return false;
		if (strcasecmp(reader.name, "strategy-option") == 0 && !is_strategy_option(reader.value))
			return false;
	}
	return true;
}

static bool is_strategy(struct arena *arena, const char *text)
{
	(void)arena;
	return operations_is_strategy(text);
}

static const struct operation {
	const char *directory, *file;
	bool (*is_fine)(struct arena *arena, const char *text);
} operations[] = {
	{ "rebase-merge", "rebase-merge/strategy", is_strategy },
	{ "rebase-merge", "rebase-merge/strategy_opts", operations_are_strategy_options },
	{ "sequencer", "sequencer/opts", operations_are_sequencer_options },
	{ "rebase-apply", "rebase-apply/apply-opt", operations_are_apply_options },
};

/* Most repositories have none of these directories. `*has` is the answer for the row before. */
static bool has_directory(struct arena *arena, const struct plan_git_seen *seen, const char *git_directory, size_t number,
			  bool *has)
{
	const char *name = operations[number].directory;
	struct stat info;
	if (number == 0 || strcmp(name, operations[number - 1].directory) != 0)
		*has = !scan_git_lacks(seen, git_directory, name) && lstat(path_join(arena, git_directory, name), &info) == 0;
	return *has;
}

/* Returns what act_read returns, and -1 for a text with a NUL. */
static int read_text(struct arena *arena, const char *path, char **text)
{
	size_t length;
	int status = act_read(arena, path, text, &length);
	return status == 0 && strlen(*text) != length ? -1 : status;
}

void operations_note(const struct plan *plan, struct sweep_facts *facts, const char *git_directory)
{
	struct arena *arena = plan->arena;
	bool has = false;
	for (size_t i = 0; i < COUNT(operations); i++) {
		const char *path;
		char *text;
		if (!has_directory(arena, &plan->scan->git_seen, git_directory, i, &has))
			continue;
		path = path_join(arena, git_directory, operations[i].file);
		if (read_text(arena, path, &text) == 0 && !operations[i].is_fine(arena, text))
			facts_add(arena, facts, FACT_STATE, path, text);
	}
}

static void look_at(struct look *look, const struct operation *operation, const char *path)
{
	struct sweep_question question = { .kind = SWEEP_GIT_PART };
	char *text = NULL;
	int status = read_text(look->arena, path, &text);
	if (status == 1)
		return;
	question.was_there = status == 0 && (operation->is_fine(look->arena, text) ||
					     facts_have(look->arena, look->baseline, FACT_STATE, path, text));
	if (sweep_judge(&question) == SWEEP_QUARANTINE)
		act_move(look, path, reason);
}

void operations_look(struct look *look, const char *git_directory)
{
	bool has = false;
	for (size_t i = 0; i < COUNT(operations); i++)
		if (has_directory(look->arena, &look->found.git_seen, git_directory, i, &has))
			look_at(look, &operations[i], path_join(look->arena, git_directory, operations[i].file));
}
