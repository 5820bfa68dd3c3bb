/* SPDX-License-Identifier: Apache-2.0 */
/* What of the user's own git configuration git inside gets to know: single values that the caller names, and the patterns of files
 * that the user never wants to commit. The files themselves stay out of the view: they may hold credentials and name programs.
 * Symlinks are followed (dotfiles are often linked), includes are not. */
#include "common/plan_build.h"

#include <string.h>

#include "common/git_config.h"
#include "common/text.h"

enum { FILE_BYTES = 65536 };

static const char *read_text(const struct plan *plan, const char *path)
{
	const struct filesystem *fs = plan->context.fs;
	struct error ignored;
	size_t length;
	char *text;
	if (path_resolve(fs, plan->arena, path_absolute(plan->arena, plan->context.home, path), &path, NULL, NULL, &ignored) <
	    0)
		return NULL;
	if (plan_denied_by(plan, path, false) || fs->read_small(fs, plan->arena, path, FILE_BYTES, &text, &length) < 0)
		return NULL;
	return strlen(text) == length ? text : NULL;
}

/* The later file wins, as with git. */
static const char *user_value(const struct plan *plan, const char *section, const char *name)
{
	static const char *const files[] = { ".config/git/config", ".gitconfig" };
	const char *found = NULL;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		const char *text = read_text(plan, files[i]);
		const char *value = text ? git_config_value(plan->arena, text, section, name) : NULL;
		if (value)
			found = value;
	}
	return found;
}

static const char *user_ignores(const struct plan *plan)
{
	const char *path = user_value(plan, "core", "excludesFile");
	if (!path)
		path = ".config/git/ignore";
	else if (text_starts_with(path, "~/"))
		path += 2;
	return read_text(plan, path);
}

void build_git_user(struct builder *builder)
{
	struct plan *plan = builder->plan;
	plan->git_user = (struct plan_git_user){
		.name = user_value(plan, "user", "name"),
		.email = user_value(plan, "user", "email"),
		.ignores = user_ignores(plan),
	};
}
