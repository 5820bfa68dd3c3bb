/* SPDX-License-Identifier: Apache-2.0 */
/* The table of promises and the one rule of refusal. Nothing else in berm decides whether a run may start with less than the
 * policy asks for. */
#include "common/policy/guarantee.h"

#include <string.h>

#include "common/base/text.h"

const struct guarantee_info guarantee_table[GUARANTEE_COUNT] = {
	[GUARANTEE_WRITES] = { "writes", "nothing outside the writable set changes: content, metadata, names", false,
			       LEVEL_ENFORCED },
	/* The aim for secrets and planting is repair; this version holds what exists at launch and asks for no more than that. */
	[GUARANTEE_SECRETS] = { "secrets",
				"what files.deny names cannot be read, written, renamed, linked or replaced into view", true,
				LEVEL_LAUNCH },
	[GUARANTEE_PLANTING] = { "planting",
				 "what the host would run later (hooks, editor tasks, settings) is not changed or created",
				 true, LEVEL_LAUNCH },
	[GUARANTEE_NETWORK] = { "network", "only allowed destinations are reached; names are resolved only if allowed", false,
				LEVEL_ENFORCED },
	[GUARANTEE_PROCESSES] = { "processes", "host processes are neither seen nor signalled; nothing survives the command",
				  false, LEVEL_PARTIAL },
	[GUARANTEE_IPC] = { "ipc", "no host socket, bus, agent, shared memory or keyring is reachable unless named", false,
			    LEVEL_ENFORCED },
	[GUARANTEE_ENVIRONMENT] = { "environment", "only named variables are passed", false, LEVEL_ENFORCED },
	[GUARANTEE_LIMITS] = { "limits",
			       "what the policy sets for memory, processes, CPU, time, disk and files is not exceeded", false,
			       LEVEL_PARTIAL },
	[GUARANTEE_KERNEL] = { "kernel", "dangerous and unknown system calls fail", false, LEVEL_PARTIAL },
	[GUARANTEE_INTEGRITY] = { "integrity", "policy, stored plan, state and audit log cannot be changed from inside", false,
				  LEVEL_ENFORCED },
};

static const char *const level_names[] = {
	[LEVEL_MISSING] = "missing", [LEVEL_PARTIAL] = "partial", [LEVEL_LAUNCH] = "launch",
	[LEVEL_REPAIR] = "repair",   [LEVEL_STRICT] = "strict",	  [LEVEL_ENFORCED] = "enforced",
};

/* Strict is what `enforced` is called for the guarded ones: the two are one level with two names. */
static enum level level_rank(enum level level)
{
	return level == LEVEL_STRICT ? LEVEL_ENFORCED : level;
}

const char *level_name(enum guarantee guarantee, enum level level)
{
	if (guarantee_table[guarantee].is_guarded)
		return level_names[level == LEVEL_ENFORCED ? LEVEL_STRICT : level];
	if (level == LEVEL_LAUNCH || level == LEVEL_REPAIR)
		return level_names[LEVEL_PARTIAL];
	return level_names[level_rank(level)];
}

bool level_parse(const char *name, enum level *level)
{
	for (int i = LEVEL_MISSING; i <= LEVEL_ENFORCED; i++) {
		if (strcmp(name, level_names[i]) == 0) {
			*level = (enum level)i;
			return true;
		}
	}
	return false;
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

/* Missing is short whatever is asked for, so that a plan without a level for it cannot let it pass in silence. */
bool guarantee_falls_short(enum level required, enum level level)
{
	return level == LEVEL_MISSING || level_rank(level) < level_rank(required);
}

static int refuse(enum guarantee guarantee, enum level required, const struct guarantee_state *state, struct error *err)
{
	const char *name = guarantee_table[guarantee].name;

	if (state->level == LEVEL_MISSING)
		error_set(err, "the guarantee `%s` (%s) cannot be given here", name, guarantee_table[guarantee].promise);
	else
		error_set(err, "the guarantee `%s` (%s) is only `%s` here and the policy asks for `%s`", name,
			  guarantee_table[guarantee].promise, level_name(guarantee, state->level),
			  level_name(guarantee, required));
	if (state->reason)
		error_hint(err, "why: %s", state->reason);
	if (state->fix)
		error_hint(err, "fix: %s", state->fix);
	error_hint(err, "details: berm doctor");
	return error_hint(err, "to run with less, knowingly: --accept-weaker=%s", name);
}

/* One refusal shows everything that has to be accepted or mended, so that the user does not learn it one run at a time. */
static void mention_others(const enum level required[], const bool accepted[], const struct guarantee_state states[], int first,
			   struct error *err)
{
	struct text names = { 0 };

	for (int i = first + 1; i < GUARANTEE_COUNT; i++) {
		if (!accepted[i] && guarantee_falls_short(required[i], states[i].level))
			text_add(&names, "%s%s", names.length > 0 ? ", " : "", guarantee_table[i].name);
	}
	if (names.length > 0)
		error_hint(err, "also below what is asked for: %s", names.data);
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
