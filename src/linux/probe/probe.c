/* SPDX-License-Identifier: Apache-2.0 */
/* Which guarantees hold here, and at what level. The table says what the mechanisms give when they work; backend_probe tries them in
 * throwaway children first (probe_trial.c), once per boot (probe_cache.c). Changes nothing on the machine. */
#include "common/backend.h"

#include <errno.h>
#include <string.h>

#include "linux/confine/filter.h"
#include "linux/confine/landlock.h"
#include "linux/limits/limits.h"
#include "linux/launch/metadata_broker.h"
#include "linux/probe/trial_cache.h"
#include "linux/probe/trial.h"
#include "linux/probe/landlock_tier.h"

enum { ABI_WITH_SCOPES = 6 };

static void set(struct guarantee_state *state, enum level level, const char *mechanism, const char *reason, const char *fix)
{
	*state = (struct guarantee_state){ .level = level, .mechanism = mechanism, .reason = reason, .fix = fix };
}

/* Only where something is missing: reading what the machine tells about itself takes time. */
static const char *landlock_fix(int abi)
{
	struct probe_host host;
	probe_host_read(&host);
	return fix_for(&host, abi > 0 ? FIX_KERNEL_612 : cause_of(&host, STAGE_LANDLOCK, landlock_refusal()).fix);
}

static void judge_network(const struct plan *plan, struct guarantee_state *state)
{
	switch (plan->network.mode) {
	case NETWORK_NONE:
		set(state, LEVEL_ENFORCED, "network namespace with nothing but its own loopback", NULL, NULL);
		break;
	case NETWORK_ALL:
		set(state, LEVEL_ENFORCED, "the policy allows everything: the host's network is shared", NULL, NULL);
		break;
	case NETWORK_ALLOW:
		set(state, LEVEL_ENFORCED,
		    "network namespace with nothing but its own loopback and, outside, a proxy: programs that ignore proxy "
		    "settings "
		    "cannot connect",
		    NULL, NULL);
		break;
	}
	if (plan->network.deny.count > 0 && plan->network.mode == NETWORK_ALL)
		set(state, LEVEL_MISSING, NULL, "network.deny cannot be enforced with `network: all` yet",
		    "name what may be reached in `network: {allow: [...]}`, with the same deny; or `network: none`");
	if (plan->network.publish.count > 0 && plan->network.mode == NETWORK_ALL)
		set(state, LEVEL_MISSING, NULL,
		    "network.publish means nothing with `network: all`: ports inside are the host's", "leave it out");
}

static void judge_ipc(const struct plan *plan, int abi, struct guarantee_state *state)
{
	set(state, LEVEL_ENFORCED, "ipc namespace; host sockets are not in the view or hidden; keyring calls refused", NULL,
	    NULL);
	if (plan->network.mode == NETWORK_ALL && abi < ABI_WITH_SCOPES)
		set(state, LEVEL_PARTIAL, "ipc namespace; host sockets are not in the view",
		    "with `network: all` abstract sockets of the host are reachable", landlock_fix(abi));
}

static void judge_writes(int abi, struct guarantee_state *state)
{
	set(state, LEVEL_ENFORCED, "mount namespace, Landlock", NULL, NULL);
	if (abi < LANDLOCK_ABI_USEFUL)
		set(state, LEVEL_PARTIAL, "mount namespace",
		    "a file that the caller passes as stdin, stdout or stderr can be opened again with more rights",
		    landlock_fix(abi));
}

static void judge_processes(int abi, struct guarantee_state *state)
{
	set(state, LEVEL_ENFORCED, "pid namespace, Landlock signal scope", NULL, NULL);
	if (abi < ABI_WITH_SCOPES)
		set(state, LEVEL_PARTIAL, "pid namespace", "the command can signal the process group that berm was started in",
		    landlock_fix(abi));
}

void backend_expect(const struct plan *plan, struct guarantee_state states[GUARANTEE_COUNT])
{
	int abi = landlock_abi();
	if (plan->context.tier == TIER_LANDLOCK) {
		tier_judge(plan, abi, metadata_can_listen(), states);
		limits_judge(plan, false, &states[GUARANTEE_LIMITS]);
		return;
	}
	judge_writes(abi, &states[GUARANTEE_WRITES]);
	set(&states[GUARANTEE_SECRETS], LEVEL_LAUNCH, "absent from the view, or masked", "masks cover what exists at launch",
	    NULL);
	set(&states[GUARANTEE_PLANTING], LEVEL_LAUNCH, "read-only mounts, pinned ancestors",
	    "names that do not exist at launch can be created", NULL);
	judge_network(plan, &states[GUARANTEE_NETWORK]);
	judge_processes(abi, &states[GUARANTEE_PROCESSES]);
	judge_ipc(plan, abi, &states[GUARANTEE_IPC]);
	set(&states[GUARANTEE_ENVIRONMENT], LEVEL_ENFORCED, "built from the policy", NULL, NULL);
	limits_judge(plan, false, &states[GUARANTEE_LIMITS]);
	set(&states[GUARANTEE_KERNEL], LEVEL_ENFORCED, "seccomp allow-list, no capabilities", NULL, NULL);
	set(&states[GUARANTEE_INTEGRITY], LEVEL_ENFORCED, "policy protected, state outside the view", NULL, NULL);
}

/* In the state directory's usual place only: XDG_STATE_HOME may lead to where a command has prepared one. */
static const char *cache_directory(const struct plan *plan)
{
	const char *usual = path_join(plan->arena, plan->context.home, ".local/state/berm");
	return strcmp(plan->context.state_directory, usual) == 0 ? usual : NULL;
}

static enum tier tier_for(const struct probe_trial *trial)
{
	enum stage failure = probe_trial_failure(trial);
	bool has_landlock = trial->number[STAGE_FILTER] == 0 && trial->landlock_abi >= LANDLOCK_ABI_USEFUL;
	return failure != STAGE_NONE && failure <= STAGE_PROC && has_landlock ? TIER_LANDLOCK : TIER_FULL;
}

/* What would allow namespaces, by the name it has on this machine. */
static void name_namespace_fix(const struct probe_host *host, const struct probe_trial *trial,
			       struct guarantee_state states[GUARANTEE_COUNT])
{
	enum stage failure = probe_trial_failure(trial);
	const char *fix = fix_for(host, cause_of(host, failure, trial->number[failure]).fix);
	for (size_t i = 0; fix && i < GUARANTEE_COUNT; i++)
		if (states[i].fix == tier_allow_namespaces)
			states[i].fix = fix;
}

static void judge_trial(const struct plan *plan, const struct probe_host *host, const struct probe_trial *trial,
			struct guarantee_state states[GUARANTEE_COUNT])
{
	enum stage failure = probe_trial_failure(trial);
	struct cause cause;

	backend_expect(plan, states);
	limits_judge(plan, true, &states[GUARANTEE_LIMITS]);
	if (plan->context.tier == TIER_LANDLOCK && tier_for(trial) == TIER_LANDLOCK) {
		name_namespace_fix(host, trial, states);
		return;
	}
	if (failure != STAGE_NONE) {
		cause = cause_of(host, failure, trial->number[failure]);
		for (size_t i = 0; i < GUARANTEE_COUNT; i++)
			set(&states[i], LEVEL_MISSING, NULL, cause.text, fix_for(host, cause.fix));
		return;
	}
	if (trial->number[STAGE_PROC] != 0) {
		cause = cause_of(host, STAGE_PROC, trial->number[STAGE_PROC]);
		states[GUARANTEE_PROCESSES].reason = "/proc is empty: this host does not allow a fresh one";
		states[GUARANTEE_PROCESSES].fix = fix_for(host, cause.fix);
	}
}

static void take_trial(const struct plan *plan, struct probe_host *host, struct probe_trial *trial)
{
	bool has_host_network = plan->network.mode == NETWORK_ALL;
	const char *directory = cache_directory(plan);
	char key[65];

	probe_host_read(host);
	if (!directory || !probe_cache_key(host, has_host_network, key)) {
		probe_trial_run(has_host_network, trial);
	} else if (!probe_cache_load(plan->arena, directory, key, trial)) {
		probe_trial_run(has_host_network, trial);
		probe_cache_save(plan->arena, directory, key, trial);
	}
}

enum tier backend_tier(const struct plan *plan, struct error *why)
{
	struct probe_host host;
	struct probe_trial trial;
	enum stage failure;

	take_trial(plan, &host, &trial);
	failure = probe_trial_failure(&trial);
	if (failure != STAGE_NONE)
		error_set(why, "%s", cause_of(&host, failure, trial.number[failure]).text);
	return tier_for(&trial);
}

bool backend_is_inside(void)
{
	return filter_is_marked();
}

void backend_probe(const struct plan *plan, struct guarantee_state states[GUARANTEE_COUNT])
{
	struct probe_host host;
	struct probe_trial trial;
	take_trial(plan, &host, &trial);
	judge_trial(plan, &host, &trial, states);
}

static void add_fact(struct arena *arena, struct machine *machine, const char *name, const char *value)
{
	*arena_push(arena, machine) = (struct machine_fact){ .name = name, .value = arena_copy(arena, value) };
}

static void add_stages(const struct plan *plan, const struct probe_host *host, const struct probe_trial *trial,
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
	struct probe_trial trial;
	char key[65];
	const char *lacks;

	probe_host_read(&host);
	probe_trial_run(has_host_network, &trial);
	lacks = landlock_describe(trial.landlock_abi);
	if (state_directory && probe_cache_key(&host, has_host_network, key))
		probe_cache_save(arena, state_directory, key, &trial);
	judge_trial(plan, &host, &trial, states);
	add_fact(arena, machine, "system", host.name);
	add_fact(arena, machine, "kernel", arena_printf(arena, "Linux %s %s", host.release, host.machine));
	add_fact(arena, machine, "tier",
		 probe_trial_failure(&trial) == STAGE_NONE ? "full"
		 : tier_for(&trial) == TIER_LANDLOCK	   ? "landlock"
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
