/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration of git inside, through its environment. GIT_CONFIG_COUNT, which overrides every
 * file, has the settings that git needs where files are hidden. GIT_CONFIG_SYSTEM, which every
 * other file overrides, has the user's name and address. */
#include "common/plan/build.h"

struct entries {
	struct plan *plan;
	size_t count;
};

static void add(struct entries *entries, const char *key, const char *value)
{
	struct arena *arena = entries->plan->arena;
	environment_put(entries->plan, arena_printf(arena, "GIT_CONFIG_KEY_%zu", entries->count), key);
	environment_put(entries->plan, arena_printf(arena, "GIT_CONFIG_VALUE_%zu", entries->count), value);
	entries->count++;
}

void environment_add_git(struct plan *plan)
{
	struct entries entries = { .plan = plan };
	/* The policy passes or sets these variables itself. */
	if (environment_has(plan, "GIT_CONFIG_COUNT"))
		return;
	add(&entries, "core.excludesFile", path_join(plan->arena, plan->state.documents, DOCUMENT_GIT_EXCLUDES));
	/* A mask has the size and time of the hidden file, not its inode. With this, a tracked file
	 * that is hidden counts as unchanged. */
	add(&entries, "core.checkStat", "minimal");
	/* Hard links are denied on macOS, and git would try one for each object first. */
	if (plan->context.os == OS_MACOS)
		add(&entries, "core.createObject", "rename");
	environment_put(plan, "GIT_CONFIG_COUNT", arena_printf(plan->arena, "%zu", entries.count));
	/* Lowest precedence, as on the host: the repository and the private home override the
	 * user's name and address. */
	if (plan->home != HOME_HOST || plan->context.os == OS_LINUX)
		environment_put(plan, "GIT_CONFIG_SYSTEM", path_join(plan->arena, plan->state.documents, DOCUMENT_GIT_CONFIG));
}
