/* SPDX-License-Identifier: Apache-2.0 */
/* The user's own hooks. Agents treat a hook whose program is missing as one that does not block.
 * A guard that the sandbox hides would be off without a message. */
#include "common/agents/agents.h"

#include <string.h>

enum { SETTINGS_MAX = 1 << 20 };

struct guards {
	struct arena *arena;
	const struct plan *plan;
	const char *file; /* below the home */
};

/* Returns the file that a word of a command names, or NULL. */
static const char *file_of(const struct guards *guards, const char *word)
{
	static const char variable[] = "$HOME/";
	const char *home = guards->plan->context.home;
	if (text_starts_with(word, "~/"))
		return path_join(guards->arena, home, word + 2);
	if (text_starts_with(word, variable))
		return path_join(guards->arena, home, word + strlen(variable));
	return word[0] == '/' && word[1] ? word : NULL;
}

/* Refuses a file that exists outside and cannot be read inside. */
static int judge_word(const struct guards *guards, const char *word, struct error *err)
{
	const struct context *context = &guards->plan->context;
	const char *path = file_of(guards, word), *canonical;
	struct file_info info;
	struct error ignored;

	if (!path ||
	    path_resolve(context->fs, guards->arena, path_absolute(guards->arena, "/", path), &canonical, NULL, &info,
			 &ignored) < 0 ||
	    info.type != FILE_REGULAR)
		return 0;
	if (plan_grant_for(guards->plan, canonical) && plan_check_path(guards->plan, ACCESS_READ, canonical, false).is_allowed)
		return 0;
	error_set(err, "a hook in ~/%s uses %s, which is hidden inside: the agent would go on without it", guards->file, path);
	return error_hint(err, "add --allow-read=%s, or put the program below ~/%s/hooks", canonical,
			  path_parent(guards->arena, guards->file));
}

static int judge_command(const struct guards *guards, const char *command, struct error *err)
{
	static const char ends[] = " \t\n;&|()<>\"'`";
	char *copy = arena_copy(guards->arena, command), *word;
	while ((word = strsep(&copy, ends)))
		if (judge_word(guards, word, err) < 0)
			return -1;
	return 0;
}

/* Every member `command` below `hooks`, whatever is around it. */
static int judge_value(const struct guards *guards, const struct jsonc_value *value, struct error *err)
{
	for (size_t i = 0; i < value->count; i++) {
		const struct jsonc_child *child = &value->children[i];
		if (child->value.type == JSONC_STRING && child->key && strcmp(child->key, "command") == 0 &&
		    judge_command(guards, child->value.string, err) < 0)
			return -1;
		if (judge_value(guards, &child->value, err) < 0)
			return -1;
	}
	return 0;
}

/* Settings that cannot be parsed are the agent's to complain about. */
int agent_guards_judge(struct arena *arena, const struct agent *agent, const struct plan *plan, struct error *err)
{
	const struct filesystem *fs = plan->context.fs;
	for (size_t i = 0; agent->hooks[i]; i++) {
		struct guards guards = { arena, plan, agent->hooks[i] };
		const struct jsonc_value *hooks;
		struct jsonc_value root;
		struct jsonc_text text;
		struct error ignored;
		const char *path;
		char *bytes;

		if (path_resolve(fs, arena, path_join(arena, plan->context.home, agent->hooks[i]), &path, NULL, NULL,
				 &ignored) < 0 ||
		    fs->read_small(fs, arena, path, SETTINGS_MAX, &bytes, &text.length) < 0)
			continue;
		text.data = bytes;
		if (jsonc_parse(arena, JSONC_COMMENTS, path, text, &root, &ignored) < 0)
			continue;
		hooks = jsonc_member(&root, "hooks");
		if (hooks && judge_value(&guards, hooks, err) < 0)
			return -1;
	}
	return 0;
}
