/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration that git inside gets through its environment (GIT_CONFIG_COUNT): who commits, and what it needs to live with hidden
 * files. Read from the user's own configuration are the name and the mail address, and nothing else: it may hold credentials. */
#include "common/plan_build.h"

#include <string.h>

#include "common/git_config.h"

enum { CONFIG_BYTES = 65536, ENTRY_MAX = 8 };

struct entries {
	struct plan *plan;
	size_t count;
};

static void add(struct entries *entries, const char *key, const char *value)
{
	struct arena *arena = entries->plan->arena;
	if (!value || !value[0])
		return;
	environment_put(entries->plan, arena_printf(arena, "GIT_CONFIG_KEY_%zu", entries->count), key);
	environment_put(entries->plan, arena_printf(arena, "GIT_CONFIG_VALUE_%zu", entries->count), value);
	entries->count++;
}

/* The later file wins, as with git. */
static const char *identity(const struct plan *plan, const char *name)
{
	static const char *const files[] = { ".config/git/config", ".gitconfig" };
	const struct filesystem *fs = plan->context.fs;
	const char *found = NULL;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		const char *value, *path = path_join(plan->arena, plan->context.home, files[i]);
		char *text;
		size_t length;
		if (fs->read_small(fs, plan->arena, path, CONFIG_BYTES, &text, &length) < 0 || strlen(text) != length)
			continue;
		value = git_config_value(plan->arena, text, "user", name);
		if (value)
			found = value;
	}
	return found;
}

void environment_add_git(struct plan *plan)
{
	struct entries entries = { .plan = plan };
	/* A policy that passes or sets these itself knows what it does. */
	if (environment_has(plan, "GIT_CONFIG_COUNT"))
		return;
	add(&entries, "core.excludesFile", PLAN_GIT_EXCLUDES);
	/* A mask has the size and the time of what it hides, not its inode: so that a tracked file that is hidden counts as unchanged. */
	add(&entries, "core.checkStat", "minimal");
	if (plan->home != HOME_HOST) {
		add(&entries, "user.name", identity(plan, "name"));
		add(&entries, "user.email", identity(plan, "email"));
	}
	environment_put(plan, "GIT_CONFIG_COUNT", arena_printf(plan->arena, "%zu", entries.count));
}
