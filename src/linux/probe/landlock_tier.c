/* SPDX-License-Identifier: Apache-2.0 */
/* The tier landlock, guarantee by guarantee. Landlock grants whole hierarchies and takes nothing back, does not see metadata, /proc or
 * path sockets: what follows from that is said here, once, and what cannot hold is refused by the rule of guarantee.c. */
#include "linux/probe/landlock_tier.h"

#include <stddef.h>
#include <string.h>

#include "common/plan/build.h"
#include "common/base/text.h"
#include "linux/confine/landlock.h"

enum { NAMES_SHOWN = 5 };

static bool lacks_truncate(const struct tier_facts *facts)
{
	return facts->abi < LANDLOCK_ABI_TRUNCATE;
}

static bool has_read_only_inside(const struct tier_facts *facts)
{
	return facts->read_only[0] != '\0';
}

static bool lacks_listener(const struct tier_facts *facts)
{
	return !facts->has_listener;
}

static bool has_secrets(const struct tier_facts *facts)
{
	return facts->secrets[0] != '\0';
}

static bool has_plants(const struct tier_facts *facts)
{
	return facts->plants[0] != '\0';
}

static bool has_own(const struct tier_facts *facts)
{
	return facts->own[0] != '\0';
}

static bool has_destinations(const struct tier_facts *facts)
{
	const struct plan *plan = facts->plan;
	return plan->network.mode == NETWORK_ALLOW || plan->network.deny.count > 0 || plan->network.local.count > 0 ||
	       plan->network.publish.count > 0;
}

static bool has_all_network(const struct tier_facts *facts)
{
	return facts->plan->network.mode == NETWORK_ALL;
}

static bool lacks_scopes(const struct tier_facts *facts)
{
	return facts->abi < LANDLOCK_ABI_SCOPES;
}

static bool has_unjudged_sockets(const struct tier_facts *facts)
{
	return facts->plan->sockets.count > 0 && facts->abi < LANDLOCK_ABI_UNIX;
}

static const char newer_kernel[] = "Linux 6.12 or newer";
const char tier_allow_namespaces[] = "allow user namespaces here (`berm plan` says what refuses them)";

#define NAMES(member) offsetof(struct tier_facts, member)

const struct tier_row tier_table[] = {
	{ GUARANTEE_WRITES, "Landlock before ABI 3", lacks_truncate, LEVEL_MISSING, NULL,
	  "this kernel's Landlock does not stop truncation", newer_kernel, 0 },
	{ GUARANTEE_WRITES, "something is only readable inside a writable directory", has_read_only_inside, LEVEL_PARTIAL,
	  "Landlock", "Landlock cannot take a part of a writable directory back", tier_allow_namespaces, NAMES(read_only) },
	{ GUARANTEE_WRITES, "no listener can be had: a supervisor around berm has the only one", lacks_listener, LEVEL_PARTIAL,
	  "Landlock", "modes, owners, times and attributes of the user's other files can be changed",
	  "start berm outside of the other sandbox", 0 },
	{ GUARANTEE_WRITES, "otherwise", NULL, LEVEL_ENFORCED,
	  "Landlock; changes of metadata are judged by berm (notification)", NULL, NULL, 0 },

	{ GUARANTEE_SECRETS, "a denied name lies in a writable directory", has_secrets, LEVEL_PARTIAL, "Landlock",
	  "Landlock cannot hide a part of a writable directory", "move it out of the project, or allow user namespaces here",
	  NAMES(secrets) },
	{ GUARANTEE_SECRETS, "otherwise", NULL, LEVEL_LAUNCH, "Landlock: not granted",
	  "what exists at launch is out of reach; that a file exists, its size and times can be seen", NULL, 0 },

	{ GUARANTEE_PLANTING, "a protected name lies in a writable directory", has_plants, LEVEL_MISSING, NULL,
	  "Landlock cannot make a part of a writable directory read-only", tier_allow_namespaces, NAMES(plants) },
	{ GUARANTEE_PLANTING, "otherwise", NULL, LEVEL_LAUNCH, "Landlock: not granted",
	  "names that do not exist at launch can be created", NULL, 0 },

	{ GUARANTEE_NETWORK, "destinations, local or published ports are named", has_destinations, LEVEL_MISSING, NULL,
	  "without a network namespace destinations cannot be told apart", "use `network: none` or `network: all`", 0 },
	{ GUARANTEE_NETWORK, "`network: all`", has_all_network, LEVEL_ENFORCED,
	  "the policy allows everything: the host's network is shared", NULL, NULL, 0 },
	{ GUARANTEE_NETWORK, "otherwise", NULL, LEVEL_ENFORCED, "no sockets (seccomp), no ports (Landlock)", NULL, NULL, 0 },

	{ GUARANTEE_PROCESSES, "Landlock before ABI 6", lacks_scopes, LEVEL_MISSING, NULL,
	  "this kernel's Landlock does not stop signals to the user's other processes", newer_kernel, 0 },
	{ GUARANTEE_PROCESSES, "otherwise", NULL, LEVEL_PARTIAL, "Landlock signal scope; all inside is ended with the command",
	  "the host's processes are seen in /proc; if both processes of berm are killed, what left the command's group "
	  "survives",
	  tier_allow_namespaces, 0 },

	{ GUARANTEE_IPC, "a socket is named, Landlock before ABI 9", has_unjudged_sockets, LEVEL_PARTIAL,
	  "no shared memory, queues or keyrings (seccomp)",
	  "where one socket is named, all that the user may use can be reached", "Linux 7.1 or newer, or name no socket", 0 },
	{ GUARANTEE_IPC, "otherwise", NULL, LEVEL_ENFORCED,
	  "no sockets but those named, no shared memory, queues or keyrings (seccomp, Landlock)", NULL, NULL, 0 },

	{ GUARANTEE_ENVIRONMENT, "otherwise", NULL, LEVEL_ENFORCED, "built from the policy", NULL, NULL, 0 },

	{ GUARANTEE_KERNEL, "otherwise", NULL, LEVEL_ENFORCED, "seccomp allow-list, no capabilities", NULL, NULL, 0 },

	{ GUARANTEE_INTEGRITY, "a policy, berm's state or berm itself lies in a writable directory", has_own, LEVEL_MISSING,
	  NULL, "Landlock cannot make a part of a writable directory read-only (a policy that is changed is no longer trusted)",
	  tier_allow_namespaces, NAMES(own) },
	{ GUARANTEE_INTEGRITY, "otherwise", NULL, LEVEL_ENFORCED, "neither policy nor state is granted", NULL, NULL, 0 },
};
const size_t tier_table_count = sizeof tier_table / sizeof tier_table[0];

/* A few names for the user; all of them are in `berm plan`. */
struct names {
	const struct plan *plan;
	struct text text;
	size_t count;
};

static void add_name(struct names *names, const char *path)
{
	const char *project = names->plan->context.project;
	if (names->count++ >= NAMES_SHOWN)
		return;
	if (path_is_within(path, project) && strcmp(path, project) != 0)
		path += strlen(project) + 1;
	text_add(&names->text, "%s%s", names->text.length > 0 ? ", " : "", path);
}

static const char *finish_names(struct names *names)
{
	const char *result;
	if (names->count > NAMES_SHOWN)
		text_add(&names->text, " and %zu more", names->count - NAMES_SHOWN);
	result = names->count > 0 ? arena_copy(names->plan->arena, names->text.data) : "";
	text_free(&names->text);
	return result;
}

static bool is_in_writable(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE && path_is_within(path, plan->grants.items[i].path))
			return true;
	return false;
}

static bool is_own(const struct plan_match *match)
{
	const struct rule *rule = match->rule;
	return rule == &rule_state || rule == &rule_config || rule == &rule_policy_file || rule == &rule_executable ||
	       strcmp(path_base_name(match->path), "berm.yml") == 0;
}

static const char *name_matches(const struct plan *plan, const struct plan_matches *matches)
{
	struct names names = { .plan = plan };
	for (size_t i = 0; i < matches->count; i++) {
		const struct plan_match *match = &matches->items[i];
		/* Sockets are kept away by the filter. */
		if (match->rule != &rule_host_socket && !is_own(match) && is_in_writable(plan, match->path) &&
		    !tier_is_held_outside(plan, match->path, matches == &plan->masked))
			add_name(&names, match->path);
	}
	return finish_names(&names);
}

static const char *name_own(const struct plan *plan)
{
	const struct plan_matches *lists[] = { &plan->masked, &plan->locked };
	struct names names = { .plan = plan };
	for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
		for (size_t i = 0; i < lists[k]->count; i++)
			if (is_own(&lists[k]->items[i]) && is_in_writable(plan, lists[k]->items[i].path) &&
			    !tier_is_held_outside(plan, lists[k]->items[i].path, k == 0))
				add_name(&names, lists[k]->items[i].path);
	return finish_names(&names);
}

static const char *name_read_only(const struct plan *plan)
{
	struct names names = { .plan = plan };
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind != GRANT_WRITE && is_in_writable(plan, plan->grants.items[i].path))
			add_name(&names, plan->grants.items[i].path);
	return finish_names(&names);
}

static struct guarantee_state state_of(const struct tier_row *row, const struct tier_facts *facts)
{
	struct guarantee_state state = {
		.level = row->level, .mechanism = row->mechanism, .reason = row->reason, .fix = row->fix
	};
	const char *names;
	if (row->named == 0)
		return state;
	memcpy(&names, (const char *)facts + row->named, sizeof names);
	state.reason = arena_printf(facts->plan->arena, "%s: %s", row->reason, names);
	return state;
}

void tier_judge(const struct plan *plan, int abi, bool has_listener, struct guarantee_state states[GUARANTEE_COUNT])
{
	const struct tier_facts facts = {
		.plan = plan,
		.abi = abi,
		.has_listener = has_listener,
		.secrets = name_matches(plan, &plan->masked),
		.plants = name_matches(plan, &plan->locked),
		.own = name_own(plan),
		.read_only = name_read_only(plan),
	};
	bool is_done[GUARANTEE_COUNT] = { false };
	for (size_t i = 0; i < tier_table_count; i++) {
		const struct tier_row *row = &tier_table[i];
		if (is_done[row->guarantee] || (row->applies && !row->applies(&facts)))
			continue;
		states[row->guarantee] = state_of(row, &facts);
		is_done[row->guarantee] = true;
	}
}
