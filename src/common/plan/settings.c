/* SPDX-License-Identifier: Apache-2.0 */
/* Scalar keys that a backend reads as they are. One row resolves, caches and prints a key. */
#include "common/plan/build.h"

#include <stddef.h>

const struct plan_setting_info plan_setting_table[SETTING_COUNT] = {
	[SETTING_NESTING] = { "nesting", offsetof(struct policy, nesting), false },
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
