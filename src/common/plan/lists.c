/* SPDX-License-Identifier: Apache-2.0 */
/* List keys whose values are strings: PLAN_LISTS as tables. Never interprets a value. */
#include "common/plan/build.h"

#include <stddef.h>
#include <string.h>

#include "common/plan/names.h"

const struct plan_list_info plan_list_table[] = {
#define PLAN_LIST_INFO(field, key, member, title, nothing) { #field, member, title, nothing, offsetof(struct plan, field) },
	PLAN_LISTS(PLAN_LIST_INFO)
#undef PLAN_LIST_INFO
};
const size_t plan_list_count = sizeof plan_list_table / sizeof plan_list_table[0];

static const struct {
	size_t offset; /* of the key's rules in struct policy */
	void (*resolve)(struct builder *builder, const struct rule *rule);
} resolvers[] = {
#define PLAN_LIST_KEY(field, key, ...) { offsetof(struct policy, key), resolve_##field },
	PLAN_LISTS(PLAN_LIST_KEY)
#undef PLAN_LIST_KEY
};

void build_item(struct builder *builder, struct plan_items *list, const char *value, const struct rule *rule)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].value, value) == 0)
			return;
	*(struct plan_item *)arena_push(builder->plan->arena, list) = (struct plan_item){ value, rule };
}

void build_lists(struct builder *builder)
{
	for (size_t i = 0; i < sizeof resolvers / sizeof resolvers[0]; i++) {
		const char *field = (const char *)builder->plan->policy + resolvers[i].offset;
		const struct rules *rules = (const struct rules *)(const void *)field;
		for (size_t k = 0; k < rules->count; k++)
			resolvers[i].resolve(builder, &rules->items[k]);
	}
}
