/* SPDX-License-Identifier: Apache-2.0 */
/* Scalar keys that a backend reads as they are. One row resolves, caches and prints a key. */
#include "common/plan/build.h"

#include <stddef.h>
#include <string.h>

const struct plan_setting_info plan_setting_table[SETTING_COUNT] = {
	[SETTING_NESTING] = { "nesting", offsetof(struct policy, nesting), false },
	[SETTING_COPY] = { "workspace.copy", offsetof(struct policy, workspace.copy), COPY_NEVER },
	[SETTING_UNDO] = { "workspace.undo", offsetof(struct policy, workspace.undo), false },
	[SETTING_UNDO_KEEP] = { "workspace.keep", offsetof(struct policy, workspace.keep), 20 },
	[SETTING_AUDIT_SYNC] = { "audit.sync", offsetof(struct policy, audit.sync), false },
	[SETTING_AUDIT_KEEP] = { "audit.keep", offsetof(struct policy, audit.keep), UINT64_C(30) * 24 * 60 * 60 * 1000 },
	[SETTING_UNDO_SIZE] = { "workspace.size", offsetof(struct policy, workspace.size), UINT64_C(1) << 30 },
	[SETTING_SESSIONS] = { "sessions.use", offsetof(struct policy, sessions.use), SESSIONS_NEVER },
	[SETTING_LEFTOVERS] = { "sessions.leftovers", offsetof(struct policy, sessions.leftovers), LEFTOVERS_KEEP },
	[SETTING_SESSION_IDLE] = { "sessions.idle", offsetof(struct policy, sessions.idle), 300000 },
};

void build_settings(struct builder *builder)
{
	struct plan *plan = builder->plan;
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const char *field = (const char *)plan->policy + plan_setting_table[i].offset;
		plan->settings[i] = *(const struct setting *)(const void *)field;
	}
}

uint64_t plan_setting(const struct plan *plan, enum plan_setting setting)
{
	const struct setting *value = &plan->settings[setting];
	return value->is_set ? value->value : plan_setting_table[setting].fallback;
}

bool plan_is_copy(const struct plan *plan)
{
	return plan_setting(plan, SETTING_COPY) == COPY_ALWAYS || plan_setting(plan, SETTING_UNDO);
}

bool plan_is_only_copy(const struct plan *plan)
{
	if (!plan_is_copy(plan))
		return false;
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE &&
		    !path_is_within(plan->grants.items[i].path, plan->context.project))
			return false;
	return true;
}
