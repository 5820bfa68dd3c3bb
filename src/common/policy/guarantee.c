/* SPDX-License-Identifier: Apache-2.0 */
/* The table of guarantees and the refusal rule. */
#include "common/policy/guarantee.h"

#include <string.h>

#include "common/base/text.h"

const struct guarantee_info guarantee_table[GUARANTEE_COUNT] = {
#define GUARANTEE_ROW(constant, name, scale, default_level, promise)                                                           \
	[GUARANTEE_##constant] = { name, promise, scale, default_level },
	GUARANTEE_LIST(GUARANTEE_ROW)
#undef GUARANTEE_ROW
};

static const char *const level_names[] = {
	[LEVEL_MISSING] = "missing", [LEVEL_PARTIAL] = "partial", [LEVEL_LAUNCH] = "launch",
	[LEVEL_REPAIR] = "repair",   [LEVEL_STRICT] = "strict",	  [LEVEL_ENFORCED] = "enforced",
};

/* LEVEL_STRICT and LEVEL_ENFORCED are one level with two names. */
static enum level level_rank(enum level level)
{
	return level == LEVEL_STRICT ? LEVEL_ENFORCED : level;
}

const char *level_name(enum guarantee guarantee, enum level level)
{
	enum level_scale scale = guarantee_table[guarantee].scale;
	if (scale == SCALE_GUARD)
		return level_names[level == LEVEL_ENFORCED ? LEVEL_STRICT : level];
	if (level == LEVEL_LAUNCH || level == LEVEL_REPAIR)
		return level_names[scale == SCALE_LAUNCH ? LEVEL_LAUNCH : LEVEL_PARTIAL];
	return level_names[level_rank(level)];
}

bool guarantee_parse(const char *name, enum guarantee *guarantee)
{
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		if (strcmp(name, guarantee_table[i].name) == 0) {
			*guarantee = (enum guarantee)i;
			return true;
		}
	}
	return false;
}

/* LEVEL_MISSING falls short of every requirement: a plan that requires no level must not let it
 * pass. */
bool guarantee_falls_short(enum level required, enum level level)
{
	return level == LEVEL_MISSING || level_rank(level) < level_rank(required);
}

static int refuse(enum guarantee guarantee, enum level required, const struct guarantee_state *state, struct error *err)
{
	const char *name = guarantee_table[guarantee].name;

	if (state->level == LEVEL_MISSING)
		error_set(err, "the guarantee `%s` (%s) does not hold here", name, guarantee_table[guarantee].promise);
	else
		error_set(err, "the guarantee `%s` (%s) is only `%s` here and the policy requires `%s`", name,
			  guarantee_table[guarantee].promise, level_name(guarantee, state->level),
			  level_name(guarantee, required));
	if (state->reason)
		error_hint(err, "why: %s", state->reason);
	if (state->fix)
		error_hint(err, "fix: %s", state->fix);
	error_hint(err, "details: berm doctor");
	return error_hint(err, "to run anyway: --accept-weaker=%s", name);
}

/* Adds a hint with all further guarantees that fall short: one refusal shows everything to fix. */
static void mention_others(const enum level required[], const bool accepted[], const struct guarantee_state states[], int first,
			   struct error *err)
{
	struct text names = { 0 };

	for (int i = first + 1; i < GUARANTEE_COUNT; i++) {
		if (!accepted[i] && guarantee_falls_short(required[i], states[i].level))
			text_add(&names, "%s%s", names.length > 0 ? ", " : "", guarantee_table[i].name);
	}
	if (names.length > 0)
		error_hint(err, "also below the required level: %s", names.data);
	text_free(&names);
}

int guarantee_judge(const enum level required[GUARANTEE_COUNT], const bool accepted[GUARANTEE_COUNT],
		    const struct guarantee_state states[GUARANTEE_COUNT], struct error *err)
{
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		if (accepted[i] || !guarantee_falls_short(required[i], states[i].level))
			continue;
		refuse((enum guarantee)i, required[i], &states[i], err);
		mention_others(required, accepted, states, i, err);
		return -1;
	}
	return 0;
}
