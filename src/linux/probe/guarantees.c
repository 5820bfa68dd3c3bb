/* SPDX-License-Identifier: Apache-2.0 */
/* The level of each guarantee, tier by tier.
 *
 * Tier landlock: Landlock grants whole hierarchies and cannot exclude a part of one. It does not
 * restrict changes of metadata, reads of /proc or, before ABI 9, path sockets. The rows state the
 * consequences; guarantee.c refuses a run whose policy asks for more. */
#include "linux/probe/guarantees.h"

#include <stddef.h>
#include <string.h>

#include "common/base/text.h"
#include "common/plan/plan.h"
#include "common/policy/file.h"
#include "linux/confine/landlock.h"
#include "linux/guard/guard.h"
#include "linux/probe/outer.h"

enum { NAMES_SHOWN = 5 };

static bool lacks_landlock(const struct guarantee_inputs *inputs)
{
	return inputs->abi < LANDLOCK_ABI_USEFUL;
}

static bool lacks_truncate(const struct guarantee_inputs *inputs)
{
	return inputs->abi < LANDLOCK_ABI_TRUNCATE;
}

static bool has_read_only_inside(const struct guarantee_inputs *inputs)
{
	return inputs->read_only[0] != '\0';
}

static bool lacks_listener(const struct guarantee_inputs *inputs)
{
	return !inputs->has_listener;
}

static bool lacks_listener_outside(const struct guarantee_inputs *inputs)
{
	return lacks_listener(inputs) && inputs->held->are_writes_same;
}

static bool is_strict_outside(const struct guarantee_inputs *inputs)
{
	return inputs->held->planting >= LEVEL_STRICT;
}

static bool is_repaired_outside(const struct guarantee_inputs *inputs)
{
	return inputs->held->planting >= LEVEL_REPAIR;
}

static bool is_hidden_outside(const struct guarantee_inputs *inputs)
{
	return inputs->held->secrets >= LEVEL_REPAIR;
}

static bool has_secrets(const struct guarantee_inputs *inputs)
{
	return inputs->secrets[0] != '\0';
}

static bool has_plants(const struct guarantee_inputs *inputs)
{
	return inputs->plants[0] != '\0';
}

static bool has_own(const struct guarantee_inputs *inputs)
{
	return inputs->own[0] != '\0';
}

static bool has_unheld_setting(const struct guarantee_inputs *inputs)
{
	return inputs->unheld[0] != '\0';
}

static bool has_no_network(const struct guarantee_inputs *inputs)
{
	return inputs->plan->network.mode == NETWORK_NONE;
}

static bool has_all_network(const struct guarantee_inputs *inputs)
{
	return inputs->plan->network.mode == NETWORK_ALL;
}

static bool publishes_with_all(const struct guarantee_inputs *inputs)
{
	return has_all_network(inputs) && inputs->plan->network.publish.count > 0;
}

static bool denies_with_all(const struct guarantee_inputs *inputs)
{
	return has_all_network(inputs) && inputs->plan->network.deny.count > 0;
}

static bool has_destinations(const struct guarantee_inputs *inputs)
{
	const struct plan *plan = inputs->plan;
	return plan->network.mode == NETWORK_ALLOW || plan->network.deny.count > 0 || plan->network.local.count > 0 ||
	       plan->network.publish.count > 0;
}

static bool lacks_scopes(const struct guarantee_inputs *inputs)
{
	return inputs->abi < LANDLOCK_ABI_SCOPES;
}

static bool lacks_scopes_with_all(const struct guarantee_inputs *inputs)
{
	return lacks_scopes(inputs) && has_all_network(inputs);
}

static bool lacks_unix(const struct guarantee_inputs *inputs)
{
	return inputs->abi < LANDLOCK_ABI_UNIX;
}

static bool has_unlisted_sockets(const struct guarantee_inputs *inputs)
{
	return lacks_unix(inputs) && inputs->unlisted[0] != '\0';
}

static bool has_unrestricted_sockets(const struct guarantee_inputs *inputs)
{
	return inputs->plan->sockets.count > 0 && lacks_unix(inputs);
}

static bool has_guard(const struct guarantee_inputs *inputs)
{
	return inputs->plan->guards_creation && guard_fits_plan(inputs->plan, inputs->abi);
}

static bool is_only_copy(const struct guarantee_inputs *inputs)
{
	return plan_is_only_copy(inputs->plan);
}

/* A policy that requires more has no such session. */
static bool keeps_leftovers(const struct guarantee_inputs *inputs)
{
	const struct plan *plan = inputs->plan;
	return plan_setting(plan, SETTING_SESSIONS) == SESSIONS_AUTO &&
	       plan_setting(plan, SETTING_LEFTOVERS) == LEFTOVERS_KEEP &&
	       !guarantee_falls_short(plan->required[GUARANTEE_PROCESSES], LEVEL_PARTIAL);
}

static bool asks_launch(const struct guarantee_inputs *inputs)
{
	return inputs->plan->guard <= LEVEL_LAUNCH && !plan_setting(inputs->plan, SETTING_NESTING);
}

static bool has_nesting(const struct guarantee_inputs *inputs)
{
	return plan_setting(inputs->plan, SETTING_NESTING);
}

static bool requires_audit(const struct guarantee_inputs *inputs)
{
	return inputs->plan->required[GUARANTEE_AUDIT] >= LEVEL_ENFORCED;
}

static const char audit_required[] =
	"a record in the state directory; a run that cannot be recorded does not start, or ends with 123";
static const char audit_usual[] = "a record in the state directory";
static const char audit_gap[] = "a full disk does not stop a run: events that cannot be written are counted";
static const char audit_fix[] = "`require: {audit: enforced}`";
static const char newer_kernel[] = "Linux 6.12 or newer";
const char guarantees_fix_landlock[] = "a kernel with a newer Landlock";
const char guarantees_fix_namespaces[] = "allow user namespaces here (`berm plan` names what refuses them)";

#define NAMES(member) offsetof(struct guarantee_inputs, member)

const struct guarantee_row guarantees_full[] = {
	{ GUARANTEE_WRITES, "Landlock before ABI 2", lacks_landlock, LEVEL_PARTIAL, "mount namespace",
	  "a file that the caller passes as stdin, stdout or stderr can be opened again with more rights",
	  guarantees_fix_landlock, 0 },
	{ GUARANTEE_WRITES, "otherwise", NULL, LEVEL_ENFORCED, "mount namespace, Landlock", NULL, NULL, 0 },

	{ GUARANTEE_SECRETS, "`files.guard: launch`", asks_launch, LEVEL_LAUNCH, "absent from the view, or masked",
	  "masks cover what exists at launch", "leave files.guard out", 0 },
	{ GUARANTEE_SECRETS, "`nesting: true`", has_nesting, LEVEL_LAUNCH, "absent from the view, or masked",
	  "masks cover what exists at launch: a lost one cannot be put back in nested namespaces", "leave nesting out", 0 },
	{ GUARANTEE_SECRETS, "otherwise", NULL, LEVEL_REPAIR, "absent from the view, or masked; masks are put back",
	  "a file that the host replaces can be read until its mask is back; a new one that the command may have made is "
	  "hidden from the next launch on",
	  NULL, 0 },

	{ GUARANTEE_PLANTING, "a setting of git names a directory that must stay writable", has_unheld_setting, LEVEL_PARTIAL,
	  "read-only mounts, pinned ancestors", "git on the host obeys files that commands can write",
	  "let that setting name a file or directory of its own", NAMES(unheld) },
	{ GUARANTEE_PLANTING, "`--copy`, no other writable directory", is_only_copy, LEVEL_STRICT,
	  "the project is a copy (overlay); protected names and what the sweep would move are never applied", NULL, NULL, 0 },
	{ GUARANTEE_PLANTING, "`files.guard: strict`, Linux 6.6, Landlock ABI 2", has_guard, LEVEL_STRICT,
	  "read-only mounts, pinned ancestors; init judges and performs every creation (seccomp notification, Landlock)", NULL,
	  NULL, 0 },
	{ GUARANTEE_PLANTING, "`files.guard: launch`", asks_launch, LEVEL_LAUNCH, "read-only mounts, pinned ancestors",
	  "names that do not exist at launch can be created", "leave files.guard out", 0 },
	{ GUARANTEE_PLANTING, "`nesting: true`", has_nesting, LEVEL_LAUNCH, "read-only mounts, pinned ancestors",
	  "names that do not exist at launch can be created: with nesting neither guard nor repair is possible",
	  "leave `nesting` out", 0 },
	{ GUARANTEE_PLANTING, "otherwise", NULL, LEVEL_REPAIR, "read-only mounts, pinned ancestors; new names are quarantined",
	  "a protected name that the command creates exists until it is moved to quarantine",
	  "`files: {guard: strict}`, or --strict, on Linux 6.6 or newer with Landlock", 0 },

	{ GUARANTEE_NETWORK, "`network: all` with published ports", publishes_with_all, LEVEL_MISSING, NULL,
	  "network.publish means nothing with `network: all`: ports inside are the host's", "leave it out", 0 },
	{ GUARANTEE_NETWORK, "`network: all` with denied destinations", denies_with_all, LEVEL_MISSING, NULL,
	  "network.deny cannot be enforced with `network: all` yet",
	  "name what may be reached in `network: {allow: [...]}`, with the same deny; or `network: none`", 0 },
	{ GUARANTEE_NETWORK, "`network: all`", has_all_network, LEVEL_ENFORCED,
	  "the policy allows everything: the host's network is shared", NULL, NULL, 0 },
	{ GUARANTEE_NETWORK, "`network: none`", has_no_network, LEVEL_ENFORCED,
	  "network namespace with nothing but its own loopback", NULL, NULL, 0 },
	{ GUARANTEE_NETWORK, "otherwise", NULL, LEVEL_ENFORCED,
	  "network namespace with nothing but its own loopback and, outside, a proxy: programs that ignore proxy "
	  "settings cannot connect",
	  NULL, NULL, 0 },

	{ GUARANTEE_PROCESSES, "`sessions: auto` with `leftovers: keep`", keeps_leftovers, LEVEL_PARTIAL, "pid namespace",
	  "background processes live until the session ends", "sessions: {leftovers: end}", 0 },
	{ GUARANTEE_PROCESSES, "Landlock before ABI 6", lacks_scopes, LEVEL_PARTIAL, "pid namespace",
	  "the command can signal the process group that berm was started in", guarantees_fix_landlock, 0 },
	{ GUARANTEE_PROCESSES, "otherwise", NULL, LEVEL_ENFORCED, "pid namespace, Landlock signal scope", NULL, NULL, 0 },

	{ GUARANTEE_IPC, "`network: all`, Landlock before ABI 6", lacks_scopes_with_all, LEVEL_PARTIAL,
	  "ipc namespace; host sockets are not in the view", "with `network: all` abstract sockets of the host are reachable",
	  guarantees_fix_landlock, 0 },
	{ GUARANTEE_IPC, "the host's sockets cannot be listed, Landlock before ABI 9", has_unlisted_sockets, LEVEL_PARTIAL,
	  "ipc namespace; host sockets are not in the view, or hidden where files are searched",
	  "sockets in directories that are not searched stay reachable", "mount /proc, or a kernel with Landlock ABI 9",
	  NAMES(unlisted) },
	{ GUARANTEE_IPC, "Landlock before ABI 9", lacks_unix, LEVEL_LAUNCH,
	  "ipc namespace; host sockets are not in the view or hidden; keyring calls refused",
	  "sockets that the host binds in visible directories after the start are reachable; so are those of "
	  "containers in directories that are not searched",
	  "Linux 7.1 or newer", 0 },
	{ GUARANTEE_IPC, "otherwise", NULL, LEVEL_ENFORCED,
	  "ipc namespace; host sockets are not in the view or hidden, and Landlock refuses them; keyring calls refused", NULL,
	  NULL, 0 },

	{ GUARANTEE_ENVIRONMENT, "otherwise", NULL, LEVEL_ENFORCED, "built from the policy", NULL, NULL, 0 },

	{ GUARANTEE_KERNEL, "otherwise", NULL, LEVEL_ENFORCED, "seccomp allow-list, no capabilities", NULL, NULL, 0 },

	{ GUARANTEE_INTEGRITY, "otherwise", NULL, LEVEL_ENFORCED, "policy protected, state outside the view", NULL, NULL, 0 },

	{ GUARANTEE_AUDIT, "`require: {audit: enforced}`", requires_audit, LEVEL_ENFORCED, audit_required, NULL, NULL, 0 },
	{ GUARANTEE_AUDIT, "otherwise", NULL, LEVEL_PARTIAL, audit_usual, audit_gap, audit_fix, 0 },
};
const size_t guarantees_full_count = sizeof guarantees_full / sizeof guarantees_full[0];

const struct guarantee_row guarantees_landlock[] = {
	{ GUARANTEE_WRITES, "Landlock before ABI 3", lacks_truncate, LEVEL_MISSING, NULL,
	  "this kernel's Landlock does not stop truncation", newer_kernel, 0 },
	{ GUARANTEE_WRITES, "a writable directory contains something that is only readable", has_read_only_inside,
	  LEVEL_PARTIAL, "Landlock", "Landlock cannot make a part of a writable directory read-only", guarantees_fix_namespaces,
	  NAMES(read_only) },
	{ GUARANTEE_WRITES, "no listener is available; the berm around this one lets commands write the same directories",
	  lacks_listener_outside, LEVEL_ENFORCED,
	  "Landlock; all else of the host is read-only in the berm around this one, in whose private home and /tmp modes "
	  "and times can be changed",
	  NULL, NULL, 0 },
	{ GUARANTEE_WRITES, "no listener is available: a supervisor around berm has the only one", lacks_listener,
	  LEVEL_PARTIAL, "Landlock", "modes, owners, times and attributes of the user's other files can be changed",
	  "start berm outside of the other sandbox, or give a berm around this one the same files.write or "
	  "`files: {guard: repair}`",
	  0 },
	{ GUARANTEE_WRITES, "otherwise", NULL, LEVEL_ENFORCED,
	  "Landlock; berm checks changes of metadata (seccomp notification)", NULL, NULL, 0 },

	{ GUARANTEE_SECRETS, "a writable directory contains a denied name", has_secrets, LEVEL_PARTIAL, "Landlock",
	  "Landlock cannot hide a part of a writable directory", "move it out of the project, or allow user namespaces here",
	  NAMES(secrets) },
	{ GUARANTEE_SECRETS, "the berm around this one repairs, for the same names", is_hidden_outside, LEVEL_REPAIR,
	  "Landlock: not granted; the berm around this one: absent or masked, and masks are put back",
	  "a file that the host replaces can be read until its mask is back", NULL, 0 },
	{ GUARANTEE_SECRETS, "otherwise", NULL, LEVEL_LAUNCH, "Landlock: not granted",
	  "files that exist at launch cannot be opened; their names, sizes and times stay visible", NULL, 0 },

	{ GUARANTEE_PLANTING, "a writable directory contains a protected name", has_plants, LEVEL_MISSING, NULL,
	  "Landlock cannot make a part of a writable directory read-only", guarantees_fix_namespaces, NAMES(plants) },
	{ GUARANTEE_PLANTING, "the berm around this one is strict, for the same names and directories", is_strict_outside,
	  LEVEL_STRICT, "the berm around this one: its init judges and performs every creation", NULL, NULL, 0 },
	{ GUARANTEE_PLANTING, "the berm around this one repairs, for the same names and directories", is_repaired_outside,
	  LEVEL_REPAIR, "the berm around this one: new names are quarantined",
	  "a protected name that the command creates exists until it is moved to quarantine", NULL, 0 },
	{ GUARANTEE_PLANTING, "otherwise", NULL, LEVEL_LAUNCH, "Landlock: not granted",
	  "names that do not exist at launch can be created", NULL, 0 },

	{ GUARANTEE_NETWORK, "destinations, local or published ports are named", has_destinations, LEVEL_MISSING, NULL,
	  "destinations cannot be filtered without a network namespace", "use `network: none` or `network: all`", 0 },
	{ GUARANTEE_NETWORK, "`network: all`", has_all_network, LEVEL_ENFORCED,
	  "the policy allows everything: the host's network is shared", NULL, NULL, 0 },
	{ GUARANTEE_NETWORK, "otherwise", NULL, LEVEL_ENFORCED, "no sockets (seccomp), no ports (Landlock)", NULL, NULL, 0 },

	{ GUARANTEE_PROCESSES, "Landlock before ABI 6", lacks_scopes, LEVEL_MISSING, NULL,
	  "this kernel's Landlock does not stop signals to the user's other processes", newer_kernel, 0 },
	{ GUARANTEE_PROCESSES, "otherwise", NULL, LEVEL_PARTIAL,
	  "Landlock signal scope; all processes inside end with the command",
	  "/proc shows the host's processes; if both processes of berm are killed, processes that left the "
	  "command's group survive",
	  guarantees_fix_namespaces, 0 },

	{ GUARANTEE_IPC, "a socket is named, Landlock before ABI 9", has_unrestricted_sockets, LEVEL_PARTIAL,
	  "no shared memory, queues or keyrings (seccomp)",
	  "if one socket is named, every socket that the user may use is reachable", "Linux 7.1 or newer, or name no socket",
	  0 },
	{ GUARANTEE_IPC, "otherwise", NULL, LEVEL_ENFORCED,
	  "only named sockets; no shared memory, queues or keyrings (seccomp, Landlock)", NULL, NULL, 0 },

	{ GUARANTEE_ENVIRONMENT, "otherwise", NULL, LEVEL_ENFORCED, "built from the policy", NULL, NULL, 0 },

	{ GUARANTEE_KERNEL, "otherwise", NULL, LEVEL_ENFORCED, "seccomp allow-list, no capabilities", NULL, NULL, 0 },

	{ GUARANTEE_INTEGRITY, "a writable directory contains a policy, berm's state or berm itself", has_own, LEVEL_MISSING,
	  NULL, "Landlock cannot make a part of a writable directory read-only (a changed policy is no longer trusted)",
	  guarantees_fix_namespaces, NAMES(own) },
	{ GUARANTEE_INTEGRITY, "otherwise", NULL, LEVEL_ENFORCED, "neither policy nor state is granted", NULL, NULL, 0 },

	{ GUARANTEE_AUDIT, "`require: {audit: enforced}`", requires_audit, LEVEL_ENFORCED, audit_required, NULL, NULL, 0 },
	{ GUARANTEE_AUDIT, "otherwise", NULL, LEVEL_PARTIAL, audit_usual, audit_gap, audit_fix, 0 },
};
const size_t guarantees_landlock_count = sizeof guarantees_landlock / sizeof guarantees_landlock[0];

/* The first names of a list, for a message; `berm plan` shows all of them. */
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

static bool is_own(const struct plan_match *match)
{
	const struct rule *rule = match->rule;
	return rule == &rule_state || rule == &rule_config || rule == &rule_policy_file || rule == &rule_executable ||
	       strcmp(path_base_name(match->path), POLICY_FILE_NAME) == 0;
}

static const char *name_matches(const struct plan *plan, const struct plan_matches *matches)
{
	struct names names = { .plan = plan };
	for (size_t i = 0; i < matches->count; i++) {
		const struct plan_match *match = &matches->items[i];
		/* The filter blocks sockets. What protects a FIFO is in the list of locked
		 * paths. */
		if (match->rule != &rule_host_socket && match->rule != &rule_host_fifo && !is_own(match) &&
		    plan_is_below_writable(plan, match->path) &&
		    !outer_holds(plan, match->path, matches == &plan->scan->masked))
			add_name(&names, match->path);
	}
	return finish_names(&names);
}

static const char *name_own(const struct plan *plan)
{
	const struct plan_matches *lists[] = { &plan->scan->masked, &plan->scan->locked };
	struct names names = { .plan = plan };
	for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
		for (size_t i = 0; i < lists[k]->count; i++)
			if (is_own(&lists[k]->items[i]) && plan_is_below_writable(plan, lists[k]->items[i].path) &&
			    !outer_holds(plan, lists[k]->items[i].path, k == 0))
				add_name(&names, lists[k]->items[i].path);
	return finish_names(&names);
}

static const char *name_read_only(const struct plan *plan)
{
	struct names names = { .plan = plan };
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind != GRANT_WRITE && plan_is_below_writable(plan, plan->grants.items[i].path))
			add_name(&names, plan->grants.items[i].path);
	return finish_names(&names);
}

static struct guarantee_state state_of(const struct guarantee_row *row, const struct guarantee_inputs *inputs)
{
	struct guarantee_state state = {
		.level = row->level, .mechanism = row->mechanism, .reason = row->reason, .fix = row->fix
	};
	const char *names;
	if (row->names == 0)
		return state;
	memcpy(&names, (const char *)inputs + row->names, sizeof names);
	state.reason = arena_printf(inputs->plan->arena, "%s: %s", row->reason, names);
	return state;
}

static void apply_rows(const struct guarantee_row *rows, size_t count, const struct guarantee_inputs *inputs,
		       struct guarantee_state states[GUARANTEE_COUNT])
{
	bool is_done[GUARANTEE_COUNT] = { false };
	for (size_t i = 0; i < count; i++) {
		if (is_done[rows[i].guarantee] || (rows[i].applies && !rows[i].applies(inputs)))
			continue;
		states[rows[i].guarantee] = state_of(&rows[i], inputs);
		is_done[rows[i].guarantee] = true;
	}
}

void guarantees_expect(const struct plan *plan, int abi, bool has_listener, const struct held *held,
		       struct guarantee_state states[GUARANTEE_COUNT])
{
	struct guarantee_inputs inputs = { .plan = plan, .abi = abi, .has_listener = has_listener, .held = held };
	inputs.unlisted = plan->scan->unlisted_sockets ? plan->scan->unlisted_sockets : "";
	inputs.unheld = plan->scan->unheld_setting ? plan->scan->unheld_setting : "";
	if (plan->context.tier != TIER_LANDLOCK) {
		apply_rows(guarantees_full, guarantees_full_count, &inputs, states);
		return;
	}
	inputs.secrets = name_matches(plan, &plan->scan->masked);
	inputs.plants = name_matches(plan, &plan->scan->locked);
	inputs.own = name_own(plan);
	inputs.read_only = name_read_only(plan);
	apply_rows(guarantees_landlock, guarantees_landlock_count, &inputs, states);
}
