/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration that git inside gets through its environment: what it needs to live with hidden files (GIT_CONFIG_COUNT, stronger than
 * any file), and where it finds out who commits (GIT_CONFIG_SYSTEM, weaker than any other). */
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
	/* A policy that passes or sets these itself knows what it does. */
	if (environment_has(plan, "GIT_CONFIG_COUNT"))
		return;
	add(&entries, "core.excludesFile", path_join(plan->arena, plan->state.documents, DOCUMENT_GIT_EXCLUDES));
	/* A mask has the size and the time of what it hides, not its inode: so that a tracked file that is hidden counts as unchanged. */
	add(&entries, "core.checkStat", "minimal");
	environment_put(plan, "GIT_CONFIG_COUNT", arena_printf(plan->arena, "%zu", entries.count));
	/* The weakest place there is: what the repository or the private home says of the user is stronger, as it is on the host. */
	if (plan->home != HOME_HOST || plan->context.os == OS_LINUX)
		environment_put(plan, "GIT_CONFIG_SYSTEM", path_join(plan->arena, plan->state.documents, DOCUMENT_GIT_CONFIG));
}
