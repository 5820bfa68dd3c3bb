/* SPDX-License-Identifier: Apache-2.0 */
/* Merges one layer over another by the key table: lists unite, scalars are replaced, required
 * levels only rise. In narrowing mode, no value is taken that could grant more than before; the
 * others go to `ignored`, which the plan shows. Never fails. */
#include "common/policy/policy.h"

#include <string.h>

#include "common/policy/value.h"

struct merge {
	struct arena *arena;
	struct policy *into;
	const struct policy *from;
	bool is_narrowing;
};

static void ignore(struct merge *merge, const struct rule *rule)
{
	*arena_push(merge->arena, &merge->into->ignored) = *rule;
}

static bool has_same_base(const struct rule *a, const struct rule *b)
{
	return a->base && b->base ? strcmp(a->base, b->base) == 0 : a->base == b->base;
}

static struct rule *find_rule(const struct rules *rules, const struct rule *wanted)
{
	for (size_t i = 0; i < rules->count; i++) {
		struct rule *rule = &rules->items[i];
		/* The first byte decides most of the many comparisons. */
		if (rule->text[0] == wanted->text[0] && strcmp(rule->text, wanted->text) == 0 && has_same_base(rule, wanted))
			return rule;
	}
	return NULL;
}

static void merge_rules(struct merge *merge, const struct key *key, struct rules *into, const struct rules *from)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct rule *rule = &from->items[i];
		struct rule *present = find_rule(into, rule);

		/* The rule gets the authority of the later layer (its `write` lifts a `protect`),
		 * except that rules of the floor stay. */
		if (present && !merge->is_narrowing && present->layer != LAYER_FLOOR)
			*present = *rule;
		else if (!present && merge->is_narrowing && !(key->flags & KEY_NARROWS))
			ignore(merge, rule);
		else if (!present)
			*arena_push(merge->arena, into) = *rule;
	}
}

static struct assignment *find_assignment(const struct assignments *assignments, const char *name)
{
	for (size_t i = 0; i < assignments->count; i++) {
		if (strcmp(assignments->items[i].rule.text, name) == 0)
			return &assignments->items[i];
	}
	return NULL;
}

static void merge_assignments(struct merge *merge, struct assignments *into, const struct assignments *from)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct assignment *assignment = &from->items[i];
		struct assignment *present = find_assignment(into, assignment->rule.text);

		if (merge->is_narrowing) {
			if (!present || strcmp(present->value, assignment->value) != 0)
				ignore(merge, &assignment->rule);
		} else if (present) {
			*present = *assignment;
		} else {
			*arena_push(merge->arena, into) = *assignment;
		}
	}
}

static bool is_same(const struct key *key, const struct setting *a, const struct setting *b)
{
	if (!a->is_set || !b->is_set)
		return false;
	return key->kind == KEY_NAME ? strcmp(a->rule.text, b->rule.text) == 0 : a->value == b->value;
}

/* True if `from` grants no more than `into`. */
static bool narrows(const struct key *key, const struct setting *into, const struct setting *from)
{
	const struct key_choice *choice;

	if (!(key->flags & KEY_NARROWS))
		return false;
	if (key->kind == KEY_SIZE || key->kind == KEY_DURATION || key->kind == KEY_COUNT)
		return !into->is_set || from->value < into->value;
	choice = policy_value_choice(key, from->rule.text);
	return choice && choice->narrows;
}

/* True for a network mode that a mapping implies: its ignored entries are listed one by one. */
static bool is_implied(const struct merge *merge, const struct setting *from)
{
	const struct policy *policy = merge->from;
	return from == &policy->network.mode && from->value == NETWORK_ALLOW &&
	       policy->network.allow.count + policy->network.local.count + policy->network.publish.count > 0;
}

static void merge_setting(struct merge *merge, const struct key *key, struct setting *into, const struct setting *from)
{
	if (!from->is_set)
		return;
	if (merge->is_narrowing && !narrows(key, into, from)) {
		if (!is_same(key, into, from) && !is_implied(merge, from))
			ignore(merge, &from->rule);
		return;
	}
	if ((key->flags & KEY_RAISES) && into->is_set && into->value >= from->value)
		return;
	*into = *from;
}

void policy_merge(struct arena *arena, struct policy *into, const struct policy *from, bool is_narrowing)
{
	struct merge merge = { arena, into, from, is_narrowing };

	for (size_t i = 0; i < policy_key_count; i++) {
		const struct key *key = &policy_keys[i];
		void *target = (char *)into + key->offset;
		const void *source = (const char *)from + key->offset;

		switch (policy_key_storage(key)) {
		case STORAGE_RULES:
			merge_rules(&merge, key, target, source);
			break;
		case STORAGE_ASSIGNMENTS:
			merge_assignments(&merge, target, source);
			break;
		case STORAGE_SETTING:
			merge_setting(&merge, key, target, source);
			break;
		case STORAGE_NONE:
			break;
		}
	}
}
