/* SPDX-License-Identifier: Apache-2.0 */
/* Which mechanism holds each limit, and how that is told. Looks at the machine only as far as the plan's limits need it: an ordinary
 * launch asks for the kernel's version and nothing else. Changes nothing. */
#include "linux/limits/limits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "linux/limits/systemd_scope.h"

enum {
	PID_RESERVED = 300, /* numbers that the kernel does not give out again once they have gone round */
	PID_MAX_USEFUL = 1024, /* of fewer processes too many would be refused then */
	PID_MAX_MAX = 4194304,
};
enum { NAMESPACE_COUNT_MAJOR = 5, NAMESPACE_COUNT_MINOR = 14, PID_MAX_MAJOR = 6, PID_MAX_MINOR = 14 };

static const char pid_max[] = "/proc/sys/kernel/pid_max";

static bool is_kernel_since(int major, int minor)
{
	struct utsname name;
	long here_major, here_minor;
	char *end;
	if (uname(&name) < 0)
		return false;
	here_major = strtol(name.release, &end, 10);
	here_minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	return here_major > major || (here_major == major && here_minor >= minor);
}

/* RLIMIT_NPROC does not bind the kernel's own user. */
static enum limit_hold hold_processes(const struct plan *plan, const struct limits_machine *machine, bool has_group)
{
	bool is_root = plan->context.uid == 0;
	if (has_group && machine->has_pids_group)
		return HOLD_GROUP;
	if (machine->is_shared)
		return machine->has_pids_group ? HOLD_GROUP : HOLD_WATCH;
	if (!is_root && machine->has_own_count)
		return HOLD_RLIMIT;
	if (machine->has_pid_max && plan->limits[LIMIT_PROCESSES].value >= PID_MAX_USEFUL)
		return HOLD_PID_MAX;
	return machine->has_pids_group ? HOLD_GROUP : HOLD_WATCH;
}

/* Never more than the limit where it holds by itself; where processes are counted, the bound for what outruns the counting. */
static uint64_t pid_max_for(uint64_t processes, enum limit_hold hold)
{
	uint64_t wanted = processes < PID_MAX_MAX ? processes + 2 : PID_MAX_MAX; /* from 1, which is init, to this minus 1 */
	if (hold == HOLD_WATCH || hold == HOLD_SCOPE)
		wanted += PID_RESERVED;
	return wanted < PID_MAX_MAX ? wanted : PID_MAX_MAX;
}

void limits_choose_for(const struct plan *plan, const struct limits_machine *machine, struct limits_choice *choice)
{
	static const enum limit_hold usual[LIMIT_COUNT] = {
		[LIMIT_CPUS] = HOLD_AFFINITY,	  [LIMIT_TIME] = HOLD_TIMER,	   [LIMIT_DISK] = HOLD_WATCH,
		[LIMIT_OPEN_FILES] = HOLD_RLIMIT, [LIMIT_FILE_SIZE] = HOLD_RLIMIT,
	};
	*choice = (struct limits_choice){ 0 };
	for (int i = 0; i < LIMIT_COUNT; i++) {
		enum limit_hold hold = usual[i];
		if (!plan->limits[i].is_set)
			continue;
		/* Memory comes before processes: a group that is there for the one serves the other. */
		if (i == LIMIT_MEMORY)
			hold = machine->has_memory_group ? HOLD_GROUP : HOLD_WATCH;
		else if (i == LIMIT_PROCESSES)
			hold = hold_processes(plan, machine, choice->has_group);
		if (hold == HOLD_WATCH && i != LIMIT_DISK && machine->has_manager && !machine->is_shared)
			hold = HOLD_SCOPE;
		choice->holds[i] = hold;
		choice->has_group |= hold == HOLD_GROUP;
		choice->has_watch |= hold == HOLD_WATCH;
		choice->has_scope |= hold == HOLD_SCOPE;
		if (i == LIMIT_PROCESSES && machine->has_pid_max && !machine->is_shared &&
		    (hold == HOLD_PID_MAX || hold == HOLD_WATCH || hold == HOLD_SCOPE))
			choice->pid_max = pid_max_for(plan->limits[i].value, hold);
	}
}

static unsigned long pid_max_inode(void)
{
	struct stat info;
	return stat(pid_max, &info) == 0 ? (unsigned long)info.st_ino : 0;
}

static bool has_pid_max(void)
{
	/* A container's /proc/sys is read-only. */
	return is_kernel_since(PID_MAX_MAJOR, PID_MAX_MINOR) && (geteuid() != 0 || access(pid_max, W_OK) == 0);
}

/* One base for all that is wanted; where that is not to be had, memory alone, which nothing else can bound. Without any, systemd may
 * be asked once init is there. */
static void find_base(const struct plan *plan, struct limits_machine *machine, struct cgroup_base *base)
{
	bool wants_memory = plan->limits[LIMIT_MEMORY].is_set;
	unsigned wanted = (wants_memory ? CGROUP_MEMORY : 0) | (plan->limits[LIMIT_PROCESSES].is_set ? CGROUP_PIDS : 0);
	if (!cgroup_find(wanted, base) && (!wants_memory || !cgroup_find(CGROUP_MEMORY, base))) {
		machine->has_manager = !machine->is_shared && scope_can_ask(plan->context.uid);
		return;
	}
	machine->has_memory_group = (base->controllers & CGROUP_MEMORY) != 0;
	machine->has_pids_group = (base->controllers & CGROUP_PIDS) != 0;
}

static bool needs_group(const struct plan *plan, const struct limits_machine *machine)
{
	enum limit_hold hold = hold_processes(plan, machine, false);
	return hold != HOLD_RLIMIT && hold != HOLD_PID_MAX;
}

static void choose(const struct plan *plan, bool is_shared, struct limits_choice *choice, struct cgroup_base *base)
{
	struct limits_machine machine = { .is_shared = is_shared };
	bool has_processes = plan->limits[LIMIT_PROCESSES].is_set;
	bool is_root = plan->context.uid == 0;

	/* A group needs a process that is born into it, which hosts that refuse namespaces may refuse as well (clone3). */
	if (plan->context.tier == TIER_LANDLOCK) {
		machine.is_shared = true;
		limits_choose_for(plan, &machine, choice);
		return;
	}
	if (has_processes && !is_root && !is_shared)
		machine.has_own_count = is_kernel_since(NAMESPACE_COUNT_MAJOR, NAMESPACE_COUNT_MINOR);
	if (has_processes && !machine.has_own_count && !is_shared)
		machine.has_pid_max = has_pid_max();
	if (base && (plan->limits[LIMIT_MEMORY].is_set || (has_processes && needs_group(plan, &machine))))
		find_base(plan, &machine, base);
	limits_choose_for(plan, &machine, choice);
	if (choice->pid_max)
		choice->pid_max_inode = pid_max_inode();
}

static void choose_and_close(const struct plan *plan, bool is_shared, struct limits_choice *choice, struct cgroup_base *base)
{
	struct cgroup_base found = { .fd = -1 };
	choose(plan, is_shared, choice, &found);
	if (base)
		*base = found;
	else if (found.fd >= 0)
		close(found.fd);
}

void limits_choose(const struct plan *plan, struct limits_choice *choice, struct cgroup_base *base)
{
	choose_and_close(plan, false, choice, base);
}

void limits_choose_shared(const struct plan *plan, struct limits_choice *choice, struct cgroup_base *base)
{
	choose_and_close(plan, true, choice, base);
}

void limits_without_group(const struct plan *plan, struct limits_choice *choice)
{
	choose(plan, false, choice, NULL);
}

void limits_settle_scope(struct limits_choice *choice, bool is_held)
{
	for (int i = 0; i < LIMIT_COUNT; i++)
		if (choice->holds[i] == HOLD_SCOPE)
			choice->holds[i] = is_held ? HOLD_GROUP : HOLD_WATCH;
	choice->has_group |= choice->has_scope && is_held;
	choice->has_watch |= choice->has_scope && !is_held;
	choice->has_scope = false;
}

bool limits_are_required(const struct plan *plan)
{
	return plan->required[GUARANTEE_LIMITS] == LEVEL_ENFORCED && !plan->accepted_weaker[GUARANTEE_LIMITS];
}

struct cgroup_limits limits_of_scope(const struct plan *plan, const struct limits_choice *choice)
{
	const struct setting *limits = plan->limits;
	return (struct cgroup_limits){
		.memory = choice->holds[LIMIT_MEMORY] == HOLD_SCOPE ? limits[LIMIT_MEMORY].value : 0,
		.processes = choice->holds[LIMIT_PROCESSES] == HOLD_SCOPE ? limits[LIMIT_PROCESSES].value : 0,
	};
}

struct cgroup_limits limits_of_group(const struct plan *plan, const struct cgroup_base *base)
{
	const struct setting *limits = plan->limits;
	struct cgroup_limits result = { 0 };
	if (limits[LIMIT_MEMORY].is_set && (base->controllers & CGROUP_MEMORY))
		result.memory = limits[LIMIT_MEMORY].value;
	if (limits[LIMIT_PROCESSES].is_set && (base->controllers & CGROUP_PIDS))
		result.processes = limits[LIMIT_PROCESSES].value;
	if (limits[LIMIT_CPUS].is_set && (base->controllers & CGROUP_CPU))
		result.cpus = limits[LIMIT_CPUS].value;
	return result;
}

uint64_t limits_of_tmpfs(const struct plan *plan, bool is_disk)
{
	const struct setting *memory = &plan->limits[LIMIT_MEMORY], *disk = &plan->limits[LIMIT_DISK];
	if (!is_disk || !disk->is_set)
		return memory->is_set ? memory->value : 0;
	return memory->is_set && memory->value < disk->value ? memory->value : disk->value;
}

static struct limit_state describe(enum limit limit, enum limit_hold hold, bool is_required)
{
	switch (hold) {
	case HOLD_NOT_SET:
		break;
	case HOLD_RLIMIT:
		return (struct limit_state){ "rlimit", true,
					     limit == LIMIT_OPEN_FILES ? "for each process"
					     : limit == LIMIT_FILE_SIZE
						     ? "for each file; output to a pipe or terminal is not counted"
						     : "more cannot be started; the command is told (EAGAIN), berm is not" };
	case HOLD_PID_MAX:
		return (struct limit_state){ "pid_max of the pid namespace", true,
					     "up to 300 fewer once the numbers have gone round" };
	case HOLD_AFFINITY:
		return (struct limit_state){ "set of processors, which the command cannot change", true, NULL };
	case HOLD_GROUP:
		return (struct limit_state){ "control group", true, NULL };
	case HOLD_SCOPE:
		return is_required ? (struct limit_state){ "scope of systemd, asked for at launch", true,
							   "without it the run is refused" }
				   : (struct limit_state){
					     "scope of systemd, asked for at launch, else looked at every 10 to 100 ms", false,
					     "no control group is delegated here"
				     };
	case HOLD_TIMER:
		return (struct limit_state){ "timer", true, NULL };
	case HOLD_WATCH:
		return (struct limit_state){
			"looked at every 10 to 100 ms", false,
			limit == LIMIT_MEMORY ? "no control group is delegated here"
			: limit == LIMIT_DISK
				? "growth of what is writable"
				: "no rlimit counts them here (root, or no namespaces), and there is no control group"
		};
	}
	return (struct limit_state){ 0 };
}

void limits_describe(const struct plan *plan, const struct limits_choice *choice, bool is_detailed,
		     struct guarantee_state *state)
{
	bool is_required = limits_are_required(plan);
	struct limit_state *limits = is_detailed ? arena_alloc(plan->arena, LIMIT_COUNT * sizeof *limits) : NULL;

	*state = (struct guarantee_state){ .level = LEVEL_ENFORCED, .mechanism = "rlimits, timer", .limits = limits };
	if (choice->holds[LIMIT_PROCESSES] == HOLD_PID_MAX)
		state->mechanism = "rlimits, pid namespace, timer";
	if (choice->has_group)
		state->mechanism =
			choice->has_watch ? "control group, rlimits, timer, polling" : "control group, rlimits, timer";
	else if (choice->has_scope)
		state->mechanism = choice->has_watch || !is_required ? "scope of systemd, rlimits, timer, polling"
								     : "scope of systemd, rlimits, timer";
	else if (choice->has_watch)
		state->mechanism = "rlimits, timer, polling";
	/* Where it is required the run is refused without it, so what runs is held. */
	if (choice->has_scope && !is_required) {
		state->level = LEVEL_PARTIAL;
		state->reason =
			"systemd is asked for a scope at launch; where it gives none, memory and processes are looked at "
			"every 10 to 100 ms";
		state->fix =
			"require: {limits: enforced} refuses a run without the scope; a delegated control group needs none "
			"(systemd-run --user --scope -p Delegate=yes)";
	}
	if (choice->has_watch) {
		state->level = LEVEL_PARTIAL;
		state->reason = choice->holds[LIMIT_MEMORY] == HOLD_WATCH
					? "memory in total is looked at every 10 to 100 ms, not held by the kernel"
				: choice->holds[LIMIT_DISK] == HOLD_WATCH
					? "disk space is looked at every 10 to 100 ms, not held by the kernel"
					: "processes are counted every 10 to 100 ms, not held by the kernel";
		state->fix = choice->holds[LIMIT_MEMORY] == HOLD_WATCH || choice->holds[LIMIT_PROCESSES] == HOLD_WATCH
				     ? "run berm in a delegated control group (systemd-run --user --scope -p Delegate=yes)"
				     : NULL;
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
