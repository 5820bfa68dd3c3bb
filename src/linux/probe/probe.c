/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the probe functions of backend.h. guarantees.h has the levels for working mechanisms;
 * backend_probe first tries the mechanisms in throwaway children (trial.h), once per boot
 * (trial_cache.h). Changes nothing on the machine but that cache. */
#include "common/backend.h"
#include "common/context/inside.h"

#include <errno.h>
#include <string.h>

#include "linux/confine/filter.h"
#include "linux/confine/landlock.h"
#include "linux/guard/guard.h"
#include "linux/limits/limits.h"
#include "linux/confine/listener.h"
#include "linux/probe/trial_cache.h"
#include "linux/probe/trial.h"
#include "linux/probe/guarantees.h"
#include "linux/probe/outer.h"

static void set(struct guarantee_state *state, enum level level, const char *mechanism, const char *reason, const char *fix)
{
	*state = (struct guarantee_state){ .level = level, .mechanism = mechanism, .reason = reason, .fix = fix };
}

/* Replaces a placeholder of guarantees.h with the fix for this machine. */
static void name_fix(struct guarantee_state states[GUARANTEE_COUNT], const char *placeholder, const char *fix)
{
	for (size_t i = 0; i < GUARANTEE_COUNT; i++)
		if (states[i].fix == placeholder)
			states[i].fix = fix;
}

static void name_landlock_fix(int abi, struct guarantee_state states[GUARANTEE_COUNT])
{
	struct probe_host host;
	probe_host_read(&host);
	name_fix(states, guarantees_fix_landlock,
		 fix_for(&host, abi > 0 ? FIX_KERNEL_612 : cause_of(&host, STAGE_LANDLOCK, landlock_refusal()).fix));
}

void backend_expect(const struct plan *plan, struct guarantee_state states[GUARANTEE_COUNT])
{
	int abi = landlock_abi();
	bool has_listener = plan->context.tier == TIER_LANDLOCK && listener_is_available();
	struct held held = { .planting = LEVEL_LAUNCH, .secrets = LEVEL_LAUNCH };
	if (plan->context.tier == TIER_LANDLOCK)
		outer_read(plan, &held);
	guarantees_expect(plan, abi, has_listener, &held, states);
	limits_judge(plan, false, &states[GUARANTEE_LIMITS]);
	/* Only for an old kernel: reading the host's files takes time. */
	if (plan->context.tier != TIER_LANDLOCK && abi < LANDLOCK_ABI_SCOPES)
		name_landlock_fix(abi, states);
}

/* Returns NULL if XDG_STATE_HOME moves the state directory: a command could have prepared a cache
 * there. */
static const char *cache_directory(const struct plan *plan)
{
	const char *usual = path_join(plan->arena, plan->context.home, ".local/state/berm");
	return strcmp(plan->context.state_directory, usual) == 0 ? usual : NULL;
}

static enum tier tier_for(const struct trial *trial)
{
	enum stage failure = trial_failure(trial);
	bool has_landlock = trial->number[STAGE_FILTER] == 0 && trial->landlock_abi >= LANDLOCK_ABI_USEFUL;
	return failure != STAGE_NONE && failure <= STAGE_ENTER && has_landlock ? TIER_LANDLOCK : TIER_FULL;
}

/* The guard needs a listener, replies with an fd, calls that only a fatal signal interrupts, and
 * /proc. */
static void lower_planting(const struct plan *plan, const struct probe_host *host, const struct trial *trial,
			   struct guarantee_state *state)
{
	static const enum stage needed[] = { STAGE_LISTENER, STAGE_ADDFD, STAGE_ADDFD_SEND, STAGE_KILLABLE, STAGE_PROC };
	for (size_t i = 0; state->level >= LEVEL_STRICT && i < sizeof needed / sizeof needed[0]; i++)
		if (trial->number[needed[i]] > 0) {
			struct cause cause = cause_of(host, needed[i], trial->number[needed[i]]);
			if (plan->guard >= LEVEL_REPAIR)
				set(state, LEVEL_REPAIR, "read-only mounts, pinned ancestors; new names are quarantined",
				    cause.text, fix_for(host, cause.fix));
			else
				set(state, LEVEL_LAUNCH, "read-only mounts, pinned ancestors", cause.text,
				    fix_for(host, cause.fix));
		}
}

static void judge_trial(const struct plan *plan, const struct probe_host *host, const struct trial *trial,
			struct guarantee_state states[GUARANTEE_COUNT])
{
	enum stage failure = trial_failure(trial);
	struct cause cause;
	const char *fix;

	backend_expect(plan, states);
	limits_judge(plan, true, &states[GUARANTEE_LIMITS]);
	if (plan->context.tier == TIER_LANDLOCK && tier_for(trial) == TIER_LANDLOCK) {
		fix = fix_for(host, cause_of(host, failure, trial->number[failure]).fix);
		name_fix(states, guarantees_fix_namespaces, fix ? fix : guarantees_fix_namespaces);
		return;
	}
	if (failure != STAGE_NONE) {
		cause = cause_of(host, failure, trial->number[failure]);
		for (size_t i = 0; i < GUARANTEE_COUNT; i++)
			set(&states[i], LEVEL_MISSING, NULL, cause.text, fix_for(host, cause.fix));
		return;
	}
	lower_planting(plan, host, trial, &states[GUARANTEE_PLANTING]);
	if (trial->number[STAGE_PROC] != 0) {
		cause = cause_of(host, STAGE_PROC, trial->number[STAGE_PROC]);
		states[GUARANTEE_PROCESSES].reason = "/proc is empty: this host refuses a new one";
		states[GUARANTEE_PROCESSES].fix = fix_for(host, cause.fix);
	}
}

static void take_trial(const struct plan *plan, struct probe_host *host, struct trial *trial)
{
	bool has_host_network = plan->network.mode == NETWORK_ALL;
	const char *directory = cache_directory(plan);
	char key[65];

	probe_host_read(host);
	if (!directory || !trial_cache_key(host, has_host_network, key)) {
		trial_run(has_host_network, trial);
	} else if (!trial_cache_load(plan->arena, directory, key, trial)) {
		trial_run(has_host_network, trial);
		trial_cache_save(plan->arena, directory, key, trial);
	}
}

enum tier backend_tier(const struct plan *plan, struct error *why)
{
	struct probe_host host;
	struct trial trial;
	enum stage failure;

	take_trial(plan, &host, &trial);
	failure = trial_failure(&trial);
	if (failure != STAGE_NONE)
		error_set(why, "%s", cause_of(&host, failure, trial.number[failure]).text);
	return tier_for(&trial);
}

bool backend_can_guard(const struct plan *plan)
{
	return guard_fits_plan(plan, landlock_abi());
}

bool inside_is_marked(void)
{
	return filter_is_marked();
}

void backend_probe(const struct plan *plan, struct guarantee_state states[GUARANTEE_COUNT])
{
	struct probe_host host;
	struct trial trial;
	take_trial(plan, &host, &trial);
	judge_trial(plan, &host, &trial, states);
}

static void add_fact(struct arena *arena, struct machine *machine, const char *name, const char *value)
{
	*arena_push(arena, machine) = (struct machine_fact){ .name = name, .value = arena_copy(arena, value) };
}

static void add_stages(const struct plan *plan, const struct probe_host *host, const struct trial *trial,
		       struct machine *machine)
{
	for (int i = STAGE_NONE + 1; i < STAGE_COUNT; i++) {
		struct machine_fact *fact = arena_push(plan->arena, machine);
		*fact = (struct machine_fact){ .name = stage_name((enum stage)i),
					       .is_trial = true,
					       .number = trial->number[i] };
		if (trial->number[i] <= 0)
			continue;
		struct cause cause = cause_of(host, (enum stage)i, trial->number[i]);
		fact->value = cause.text;
		fact->fix = fix_for(host, cause.fix);
	}
}

void backend_examine(const struct plan *plan, const char *state_directory, struct guarantee_state states[GUARANTEE_COUNT],
		     struct machine *machine)
{
	bool has_host_network = plan->network.mode == NETWORK_ALL;
	struct arena *arena = plan->arena;
	struct probe_host host;
	struct trial trial;
	char key[65];
	const char *lacks;

	probe_host_read(&host);
	trial_run(has_host_network, &trial);
	lacks = landlock_describe(trial.landlock_abi);
	if (state_directory && trial_cache_key(&host, has_host_network, key))
		trial_cache_save(arena, state_directory, key, &trial);
	judge_trial(plan, &host, &trial, states);
	add_fact(arena, machine, "system", host.name);
	add_fact(arena, machine, "kernel", arena_printf(arena, "Linux %s %s", host.release, host.machine));
	add_fact(arena, machine, "tier",
		 trial_failure(&trial) == STAGE_NONE ? "full"
		 : tier_for(&trial) == TIER_LANDLOCK ? "landlock"
						     : "none");
	add_fact(arena, machine, "landlock_abi", arena_printf(arena, "%d", trial.landlock_abi));
	machine->items[machine->count - 1].is_for_programs = true;
	add_fact(arena, machine, "Landlock", arena_printf(arena, "ABI %d%s%s", trial.landlock_abi, *lacks ? ": " : "", lacks));
	add_fact(arena, machine, "modules", host.modules);
	add_fact(arena, machine, "profile", host.profile);
	add_fact(arena, machine, "container", host.container);
	add_stages(plan, &host, &trial, machine);
	machine->label = "run here";
}
