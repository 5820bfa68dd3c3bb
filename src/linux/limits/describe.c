/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the chosen mechanisms, for `plan`, `doctor` and the guarantee `limits`. Decides
 * nothing. */
#include "linux/limits/limits.h"

/* One limit by its mechanism. The reason is that of `reasons` if the limit has one there. */
static const struct limit_state states[HOLD_COUNT] = {
	[HOLD_RLIMIT] = { "rlimit", true, NULL },
	[HOLD_PID_MAX] = { "pid_max of the pid namespace", true, "up to 300 fewer once pids have wrapped around" },
	[HOLD_AFFINITY] = { "CPU affinity, which the command cannot change", true, NULL },
	[HOLD_GROUP] = { "control group", true, NULL },
	[HOLD_SCOPE] = { "systemd scope, requested at launch, else polled every 10 to 100 ms", false,
			 "no control group is delegated here" },
	[HOLD_TIMER] = { "timer", true, NULL },
	[HOLD_WATCH] = { "polled every 10 to 100 ms", false, NULL },
};
static const struct limit_state required_scope = { "systemd scope, requested at launch", true,
						   "the run is refused without it" };

static const char *const reasons[HOLD_COUNT][LIMIT_COUNT] = {
	[HOLD_RLIMIT] = {
		[LIMIT_OPEN_FILES] = "for each process",
		[LIMIT_FILE_SIZE] = "for each file; output to a pipe or terminal is not counted",
		[LIMIT_PROCESSES] = "fork fails with EAGAIN in the command; berm is not notified",
	},
	[HOLD_WATCH] = {
		[LIMIT_MEMORY] = "no control group is delegated here",
		[LIMIT_DISK] = "growth of writable paths",
		[LIMIT_PROCESSES] = "no rlimit counts them here (root, or no namespaces), and there is no control group",
	},
};

/* The guarantee's mechanism: without and with polling. */
static const char *const mechanisms[HOLD_COUNT][2] = {
	[HOLD_NOT_SET] = { "rlimits, timer", "rlimits, timer, polling" },
	[HOLD_PID_MAX] = { "rlimits, pid namespace, timer", "rlimits, timer, polling" },
	[HOLD_GROUP] = { "control group, rlimits, timer", "control group, rlimits, timer, polling" },
	[HOLD_SCOPE] = { "systemd scope, rlimits, timer", "systemd scope, rlimits, timer, polling" },
};

/* The guarantee's reason: the first limit here that is polled. */
static const struct {
	enum limit limit;
	const char *reason;
} polled[] = {
	{ LIMIT_MEMORY, "memory in total is polled every 10 to 100 ms, not held by the kernel" },
	{ LIMIT_DISK, "disk space is polled every 10 to 100 ms, not held by the kernel" },
	{ LIMIT_PROCESSES, "processes are polled every 10 to 100 ms, not held by the kernel" },
};

static const char delegate[] = "run berm in a delegated control group (systemd-run --user --scope -p Delegate=yes)";
static const char scope_reason[] = "systemd is asked for a scope at launch; if it refuses, memory and processes are polled "
				   "every 10 to 100 ms";
static const char scope_fix[] =
	"require: {limits: enforced} refuses a run without the scope; a delegated control group needs none "
	"(systemd-run --user --scope -p Delegate=yes)";

static struct limit_state describe(enum limit limit, enum limit_hold hold, bool is_required)
{
	struct limit_state state = hold == HOLD_SCOPE && is_required ? required_scope : states[hold];
	if (reasons[hold][limit])
		state.reason = reasons[hold][limit];
	return state;
}

static const char *mechanism_of(const struct limits_choice *choice, bool is_required)
{
	bool is_polled = choice->has_watch;
	enum limit_hold hold = HOLD_NOT_SET;
	if (choice->has_group) {
		hold = HOLD_GROUP;
	} else if (choice->has_scope) {
		hold = HOLD_SCOPE;
		is_polled = is_polled || !is_required;
	} else if (choice->holds[LIMIT_PROCESSES] == HOLD_PID_MAX) {
		hold = HOLD_PID_MAX;
	}
	return mechanisms[hold][is_polled];
}

static void describe_polling(const struct limits_choice *choice, struct guarantee_state *state)
{
	size_t first = 0;
	while (first < sizeof polled / sizeof polled[0] - 1 && choice->holds[polled[first].limit] != HOLD_WATCH)
		first++;
	state->level = LEVEL_PARTIAL;
	state->reason = polled[first].reason;
	/* No control group bounds disk space. */
	if (choice->holds[LIMIT_MEMORY] == HOLD_WATCH || choice->holds[LIMIT_PROCESSES] == HOLD_WATCH)
		state->fix = delegate;
}

void limits_describe(const struct plan *plan, const struct limits_choice *choice, bool is_detailed,
		     struct guarantee_state *state)
{
	bool is_required = limits_are_required(plan);
	struct limit_state *limits = is_detailed ? arena_alloc(plan->arena, LIMIT_COUNT * sizeof *limits) : NULL;

	*state = (struct guarantee_state){
		.level = LEVEL_ENFORCED,
		.mechanism = mechanism_of(choice, is_required),
		.limits = limits,
	};
	if (choice->has_watch) {
		describe_polling(choice, state);
	} else if (choice->has_scope && !is_required) { /* without a required one the run is refused */
		state->level = LEVEL_PARTIAL;
		state->reason = scope_reason;
		state->fix = scope_fix;
	}
	for (int i = 0; limits && i < LIMIT_COUNT; i++)
		limits[i] = describe((enum limit)i, choice->holds[i], is_required);
}

void limits_judge(const struct plan *plan, bool is_detailed, struct guarantee_state *state)
{
	struct limits_choice choice;
	limits_choose(plan, &choice, NULL);
	limits_describe(plan, &choice, is_detailed, state);
}

int limits_hint(const struct plan *plan, enum limit limit, struct error *err)
{
	const struct rule *rule = &plan->limits[limit].rule;
	if (rule->layer <= LAYER_BASE)
		return error_hint(err, "raise it: set %s in your policy (now %s, %s:%u:%u)", rule->key, rule->text,
				  rule->origin.source, rule->origin.line, rule->origin.column);
	if (rule->origin.line == 0)
		return error_hint(err, "raise it: %s, %s", rule->key, rule->origin.source);
	return error_hint(err, "raise it: %s, %s:%u:%u", rule->key, rule->origin.source, rule->origin.line,
			  rule->origin.column);
}
