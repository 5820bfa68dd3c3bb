/* SPDX-License-Identifier: Apache-2.0 */
/* Asks git; see hooks_own.h. */
#include "common/githooks/repository_hooks.h"

#include <string.h>

#include "common/githooks/git.h"
#include "common/githooks/include_block.h"

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
	/* 1: there is no such key. */
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
