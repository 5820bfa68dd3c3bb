/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks settings of the repository, as git resolves them. */

#include "common/githooks/hooks.h"
#include <string.h>

#include "common/base/text.h"
#include "common/githooks/git.h"

bool hooks_is_dispatcher(struct arena *arena, const struct context *context, const char *value)
{
	const char *ours, *canonical;
	struct error ignored;
	if (value[0] != '/')
		return false;
	if (path_resolve(context->fs, arena, path_absolute(arena, "/", value), &canonical, NULL, NULL, &ignored) < 0 ||
	    path_resolve(context->fs, arena, hooks_directory(arena, context->home), &ours, NULL, NULL, &ignored) < 0)
		return false;
	return strcmp(ours, canonical) == 0;
}

const char *hooks_own_directory(struct arena *arena, const struct context *context, struct error *err)
{
	static const char *const all[] = {
		"config", "--null", "--includes", "--type=path", "--get-all", "core.hooksPath", NULL
	};
	static const char *const common[] = { "rev-parse", "--git-common-dir", NULL };
	struct git_answer answer;
	const char *own = NULL;

	if (git_ask(arena, all, &answer, err) < 0)
		return NULL;
	/* Status 1: the key is not set. */
	if (answer.status > 1) {
		error_set(err, "git cannot read its configuration (git config --get-all core.hooksPath)");
		return NULL;
	}
	for (const char *at = answer.text; at < answer.text + answer.length; at += strlen(at) + 1)
		if (!hooks_is_dispatcher(arena, context, at))
			own = at;
	if (own)
		return own;
	own = git_ask_line(arena, common, err);
	return own ? path_join(arena, own, "hooks") : NULL;
}

bool hooks_are_in_force(struct arena *arena, const struct context *context, const char **setting)
{
	static const char *const question[] = { "config",      "--null", "--show-origin",  "--includes",
						"--type=path", "--get",	 "core.hooksPath", NULL };
	struct git_answer answer;
	struct error ignored;
	const char *value;

	*setting = "core.hooksPath is not set";
	if (git_ask(arena, question, &answer, &ignored) < 0 || answer.status != 0)
		return false;
	/* "file:PATH" NUL "VALUE" NUL */
	value = answer.text + strlen(answer.text) + 1;
	if (value >= answer.text + answer.length)
		return false;
	*setting =
		arena_printf(arena, "core.hooksPath is %s (%s)", text_visible(arena, value), text_visible(arena, answer.text));
	return hooks_is_dispatcher(arena, context, value);
}

const char *hooks_repository_config(struct arena *arena, const struct context *context, struct error *err)
{
	static const char *const question[] = { "rev-parse", "--git-common-dir", NULL };
	const char *common = git_ask_line(arena, question, err);
	if (common)
		return path_join(arena, path_absolute(arena, context->working_directory, common), "config");
	error_set(err, "%s is not in a git repository", context->working_directory);
	error_hint(err, "cd into a repository, or: berm hooks install --global");
	return NULL;
}
