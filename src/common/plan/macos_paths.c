/* SPDX-License-Identifier: Apache-2.0 */
/* What every program on macOS reads before it does anything, although no rule names it: the directories that every path starts
 * with (their own entries only, not what lies in those), and where the system keeps which tools and time zone are chosen. One
 * table for the verdicts and for the profile. Nothing here is of a user. */
#include "common/plan/build.h"

#include <string.h>

static const struct platform_path platform_paths[] = {
	{ "/", false },
	{ "/dev", false },
	{ "/dev/autofs_nowait", false },
	{ "/private", false },
	{ "/private/var", false },
	{ "/private/var/db/dyld", true },
	{ "/private/var/db/timezone", true },
	{ "/private/var/db/xcode_select_link", false },
	{ "/private/var/select", true },
};

const struct platform_path *plan_platform_at(size_t index)
{
	return index < sizeof platform_paths / sizeof platform_paths[0] ? &platform_paths[index] : NULL;
}

bool plan_is_platform(const struct plan *plan, const char *path)
{
	if (plan->context.os != OS_MACOS)
		return false;
	for (size_t i = 0; i < sizeof platform_paths / sizeof platform_paths[0]; i++) {
		const struct platform_path *platform = &platform_paths[i];
		bool is_within = platform->path[1] != '\0' && plan_is_within(plan, path, platform->path);
		if (is_within && (platform->is_tree || strlen(path) == strlen(platform->path)))
			return true;
		if (strcmp(path, platform->path) == 0)
			return true;
	}
	return false;
}

bool plan_is_own_place(const struct plan *plan, const char *path)
{
	if (plan->context.os != OS_MACOS || !plan->state.home)
		return false;
	return plan_is_within(plan, path, plan->state.home) || plan_is_within(plan, path, plan->state.tmp);
}
