/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a git configuration that run a program or lead to another configuration. One that was
 * not there at launch becomes a comment; the rest of the file, a remote for example, stays. */
#include "common/sweep/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/text.h"
#include "common/fs/path.h"
#include "common/git/settings.h"

static const char mark[] = "# berm: ";

/* True if git, in the directory of this configuration, would write its files into a directory that
 * no command may write. A missing one counts by the part of its path that exists. */
static bool leads_out(struct arena *arena, const char *path, const char *value, const struct sweep_facts *facts)
{
	const char *target = value[0] == '/' ? value : path_join(arena, path_parent(arena, path), value), *name;
	char found[PATH_MAX];
	while (!realpath(target, found)) {
		name = path_base_name(target);
		if (errno != ENOENT || !*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			return true;
		target = path_parent(arena, target);
	}
	return !facts_have_place(facts, found);
}

/* core.worktree belongs to every submodule, and leads to a directory of its project. */
static bool is_obeyed(struct arena *arena, const char *path, const struct git_setting *setting, const struct sweep_facts *facts)
{
	if (git_setting_executes(setting))
		return true;
	if (!(setting->key->effects & GIT_REDIRECTS))
		return false;
	return strcasecmp(setting->name, "worktree") != 0 || (facts && leads_out(arena, path, setting->value, facts));
}

static const char *spell(struct arena *arena, const struct git_setting *setting)
{
	return arena_printf(arena, "%s=%s", git_setting_name(arena, setting), setting->value);
}

static bool is_new(struct arena *arena, const char *path, const struct git_setting *setting, struct sweep_facts *facts)
{
	return is_obeyed(arena, path, setting, facts) &&
	       !(facts && facts_have(arena, facts, FACT_SETTING, path, spell(arena, setting)));
}

/* Returns the number of new settings, or -1 for a text that cannot be read to its end. */
static int count_new(struct arena *arena, const char *path, const char *text, size_t length, struct sweep_facts *facts,
		     struct git_settings *settings)
{
	int count = 0;
	*settings = (struct git_settings){ 0 };
	if (!git_settings_parse(arena, path, text, length, settings) || settings->unread)
		return -1;
	for (size_t i = 0; i < settings->count; i++)
		count += is_new(arena, path, &settings->items[i], facts);
	return count;
}

static bool is_marked(struct arena *arena, const char *path, const struct git_settings *settings, unsigned line,
		      struct sweep_facts *facts)
{
	for (size_t i = 0; i < settings->count; i++)
		if (settings->items[i].line == line && is_new(arena, path, &settings->items[i], facts))
			return true;
	return false;
}

/* Comments the lines of new settings, with the lines that continue them. */
static char *comment(struct arena *arena, const char *path, const char *text, size_t length,
		     const struct git_settings *settings, struct sweep_facts *facts)
{
	struct text out = { 0 };
	bool is_continued = false, is_comment = false;
	unsigned line = 0;
	char *result;

	for (size_t at = 0, end; at < length; at = end) {
		const char *newline = memchr(text + at, '\n', length - at);
		end = newline ? (size_t)(newline - text) + 1 : length;
		line++;
		if (!is_continued)
			is_comment = is_marked(arena, path, settings, line, facts);
		is_continued = newline && newline > text + at &&
			       (newline[-1] == '\\' || (newline[-1] == '\r' && newline - 1 > text + at && newline[-2] == '\\'));
		text_add(&out, "%s", is_comment ? mark : "");
		text_add_n(&out, text + at, end - at);
	}
	result = arena_copy_n(arena, out.data ? out.data : "", out.length);
	text_free(&out);
	return result;
}

char *config_edit(struct arena *arena, const char *path, const char *text, size_t length, struct sweep_facts *facts,
		  bool *is_hopeless, const char **first)
{
	struct git_settings settings, after;
	int count = count_new(arena, path, text, length, facts, &settings);
	char *edited;

	*is_hopeless = count < 0;
	*first = NULL;
	if (count <= 0)
		return NULL;
	for (size_t i = 0; i < settings.count && !*first; i++)
		if (is_new(arena, path, &settings.items[i], facts))
			*first = git_setting_name(arena, &settings.items[i]);
	edited = comment(arena, path, text, length, &settings, facts);
	/* A header on the same line would be lost, and what follows would belong to another
	 * section. */
	*is_hopeless = count_new(arena, path, edited, strlen(edited), facts, &after) != 0 ||
		       after.count + (size_t)count != settings.count;
	for (size_t i = 0; i < settings.count && !*is_hopeless; i++) {
		const char *at = text;
		for (unsigned line = 1; line < settings.items[i].line && at; line++)
			at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
		*is_hopeless = !at || (at[strspn(at, " \t")] == '[' && is_new(arena, path, &settings.items[i], facts));
	}
	return *is_hopeless ? NULL : edited;
}

void config_note(struct arena *arena, struct sweep_facts *facts, const char *path)
{
	struct git_settings settings = { 0 };
	char *text;
	size_t length;
	if (act_read(arena, path, &text, &length) != 0)
		return;
	(void)git_settings_parse(arena, path, text, length, &settings);
	for (size_t i = 0; i < settings.count; i++)
		if (is_obeyed(arena, path, &settings.items[i], facts))
			facts_add(arena, facts, FACT_SETTING, path, spell(arena, &settings.items[i]));
}

void config_look(struct look *look, const char *path, bool is_born)
{
	struct sweep_question question = { .kind = SWEEP_GIT_CONFIG, .is_born = is_born };
	const char *first = NULL, *reason;
	char *text = NULL, *edited = NULL;
	size_t length = 0;
	bool is_hopeless = false;
	int status;

	/* Where it was there at launch and is the host's, it was read-only, or the user lets
	 * commands write it. */
	question.was_there = !is_born && facts_was_present(look->arena, look->baseline, path);
	status = question.was_there ? 1 : act_read(look->arena, path, &text, &length);
	if (status == 1)
		return;
	if (status == 0)
		edited = config_edit(look->arena, path, text, length, look->baseline, &is_hopeless, &first);
	question.is_readable = status == 0 && !is_hopeless;
	question.executes = edited != NULL;
	reason = first ? arena_printf(look->arena, "git would obey %s in it", first)
		       : "git would obey it, and berm cannot read all of it";
	switch (sweep_judge(&question)) {
	case SWEEP_QUARANTINE:
		act_move(look, path, reason);
		break;
	case SWEEP_EDIT:
		if (edited)
			act_replace(look, SWEEP_EDIT, path, text, length, edited, strlen(edited), reason);
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
