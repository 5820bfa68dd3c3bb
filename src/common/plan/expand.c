/* SPDX-License-Identifier: Apache-2.0 */
/* From a rule's text to a path. It may begin with `~` or one of policy_path_variables. The home
 * comes from the context, never from $HOME, which the caller of berm can set. */
#include "common/plan/build.h"

#include <string.h>

/* Directories below the home, unless the environment moves them. */
static const struct {
	const char *name;
	const char *below_home;
} home_directories[] = {
	{ "XDG_CACHE_HOME", ".cache" },
	{ "XDG_CONFIG_HOME", ".config" },
	{ "XDG_DATA_HOME", ".local/share" },
	{ "XDG_STATE_HOME", ".local/state" },
};

/* Returns the directory of a variable, or NULL. A relative value is ignored: it would depend on
 * berm's working directory. */
static const char *variable_directory(const struct plan *plan, const char *name, bool is_pattern, bool is_default)
{
	const char *value = context_variable(&plan->context, name);
	if (strcmp(name, "HOME") == 0)
		return plan->context.home;
	if (value && value[0] != '/')
		value = NULL;
	/* A caller that may only narrow the policy must not move a grant. Patterns count at both
	 * paths. */
	if (plan->context.is_narrowing && !is_pattern) {
		is_default = true;
		value = strcmp(name, "XDG_RUNTIME_DIR") == 0
				? arena_printf(plan->arena, "/run/user/%lu", (unsigned long)plan->context.uid)
				: NULL;
	}
	for (size_t i = 0; i < sizeof home_directories / sizeof home_directories[0]; i++)
		if (strcmp(name, home_directories[i].name) == 0 && (is_default || !value))
			return path_join(plan->arena, plan->context.home, home_directories[i].below_home);
	return value;
}

const char *build_expand(const struct plan *plan, const char *text, bool is_pattern, bool is_default, const char **unset)
{
	size_t length = strcspn(text, "/");
	const char *directory, *name = "HOME";

	if (text[0] != '$' && !(text[0] == '~' && length == 1))
		return text;
	if (text[0] == '$')
		name = arena_copy_n(plan->arena, text + 1, length - 1);
	directory = variable_directory(plan, name, is_pattern, is_default);
	if (!directory) {
		*unset = name;
		return NULL;
	}
	if (is_pattern)
		directory = pattern_quote(plan->arena, directory);
	return arena_printf(plan->arena, "%s%s", directory, text + length);
}

const char *build_resolve(struct builder *builder, const struct rule *rule, struct path_links *links, struct file_info *info)
{
	const struct plan *plan = builder->plan;
	const char *unset = NULL, *canonical;
	const char *text = build_expand(plan, rule->text, false, false, &unset);
	struct error err;

	*links = (struct path_links){ 0 };
	if (!text) {
		build_note(builder, NOTE_MISSING, rule, "$%s is not set", unset);
		return NULL;
	}
	text = path_absolute(plan->arena, plan->context.project, text);
	if (path_resolve(plan->context.fs, plan->arena, text, &canonical, links, info, &err) < 0) {
		build_note(builder, NOTE_MISSING, rule, "%s", err.message);
		return NULL;
	}
	return canonical;
}
