/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the mechanism that holds each limit. Inspects the machine only as far as the plan's
 * limits need it: an ordinary launch reads the kernel's version and nothing else. Changes
 * nothing. */
#include "linux/limits/limits.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/base/version.h"
#include "linux/limits/systemd_scope.h"

enum {
	PID_RESERVED = 300, /* pids that the kernel does not reuse once they have wrapped around */
	PID_MAX_USEFUL = 1024, /* below, the reserved pids are too large a share of the limit */
	PID_MAX_MAX = 4194304,
};
enum { NAMESPACE_COUNT_MAJOR = 5, NAMESPACE_COUNT_MINOR = 14, PID_MAX_MAJOR = 6, PID_MAX_MINOR = 14 };

static const char pid_max[] = "/proc/sys/kernel/pid_max";

static bool is_kernel_since(unsigned major, unsigned minor)
{
	struct utsname name;
	return uname(&name) == 0 && version_is_at_least(name.release, major, minor, false);
}

/* RLIMIT_NPROC does not bind uid 0 of the initial user namespace. */
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

/* Returns pid_max for this many processes. As HOLD_PID_MAX it never allows more than the limit.
 * Where processes are polled it stops a command that forks faster than it is polled. */
static uint64_t pid_max_for(uint64_t processes, enum limit_hold hold)
{
	/* Pids go from 1, which is init, to pid_max - 1. */
	uint64_t wanted = processes < PID_MAX_MAX ? processes + 2 : PID_MAX_MAX;
	if (hold == HOLD_WATCH || hold == HOLD_SCOPE)
		wanted += PID_RESERVED;
	return wanted < PID_MAX_MAX ? wanted : PID_MAX_MAX;
}

/* `has_group`: a limit before this one has a control group. */
static enum limit_hold hold_for(const struct plan *plan, const struct limits_machine *machine, enum limit limit, bool has_group)
{
	static const enum limit_hold usual[LIMIT_COUNT] = {
		[LIMIT_CPUS] = HOLD_AFFINITY,	  [LIMIT_TIME] = HOLD_TIMER,	   [LIMIT_DISK] = HOLD_WATCH,
		[LIMIT_OPEN_FILES] = HOLD_RLIMIT, [LIMIT_FILE_SIZE] = HOLD_RLIMIT,
	};
	enum limit_hold hold = usual[limit];
	if (!plan->limits[limit].is_set)
		return HOLD_NOT_SET;
	if (limit == LIMIT_MEMORY)
		hold = machine->has_memory_group ? HOLD_GROUP : HOLD_WATCH;
	else if (limit == LIMIT_PROCESSES)
		hold = hold_processes(plan, machine, has_group);
	if (hold == HOLD_WATCH && limit != LIMIT_DISK && machine->has_manager && !machine->is_shared)
		return HOLD_SCOPE;
	return hold;
}

static bool needs_pid_max(const struct limits_machine *machine, enum limit_hold processes)
{
	return machine->has_pid_max && !machine->is_shared &&
	       (processes == HOLD_PID_MAX || processes == HOLD_WATCH || processes == HOLD_SCOPE);
}

void limits_choose_for(const struct plan *plan, const struct limits_machine *machine, struct limits_choice *choice)
{
	*choice = (struct limits_choice){ 0 };
	/* Memory comes before processes: a group that exists for memory serves both. */
	for (int i = 0; i < LIMIT_COUNT; i++) {
		enum limit_hold hold = hold_for(plan, machine, (enum limit)i, choice->has_group);
		choice->holds[i] = hold;
		choice->has_group |= hold == HOLD_GROUP;
		choice->has_watch |= hold == HOLD_WATCH;
		choice->has_scope |= hold == HOLD_SCOPE;
	}
	if (needs_pid_max(machine, choice->holds[LIMIT_PROCESSES]))
		choice->pid_max = pid_max_for(plan->limits[LIMIT_PROCESSES].value, choice->holds[LIMIT_PROCESSES]);
}

static unsigned long pid_max_inode(void)
{
	struct stat info;
	return stat(pid_max, &info) == 0 ? (unsigned long)info.st_ino : 0;
}

static bool has_pid_max(void)
{
	/* A container's /proc/sys is read-only for root. */
	return is_kernel_since(PID_MAX_MAJOR, PID_MAX_MINOR) && (geteuid() != 0 || access(pid_max, W_OK) == 0);
}

/* Looks for one base with all wanted controllers, else for one with memory, which nothing else can
 * bound. Without a base systemd may be asked for a scope once init exists. */
static void find_base(const struct plan *plan, struct limits_machine *machine, struct cgroup_base *base)
{
	bool wants_memory = plan->limits[LIMIT_MEMORY].is_set;
	unsigned wanted = (wants_memory ? CGROUP_MEMORY : 0) | (plan->limits[LIMIT_PROCESSES].is_set ? CGROUP_PIDS : 0);
	if (!cgroup_find(wanted, base) && (!wants_memory || !cgroup_find(CGROUP_MEMORY, base))) {
		machine->has_manager = systemd_scope_can_ask(plan->context.uid);
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

/* Without `base` no control group is used. */
static void choose(const struct plan *plan, struct limits_choice *choice, struct cgroup_base *base)
{
	struct limits_machine machine = { .is_shared = plan->context.tier == TIER_LANDLOCK };
	bool has_processes = plan->limits[LIMIT_PROCESSES].is_set;

	/* A group needs clone3 with CLONE_INTO_CGROUP. Hosts that refuse namespaces may refuse that
	 * too. */
	if (machine.is_shared) {
		limits_choose_for(plan, &machine, choice);
		return;
	}
	if (has_processes && plan->context.uid != 0)
		machine.has_own_count = is_kernel_since(NAMESPACE_COUNT_MAJOR, NAMESPACE_COUNT_MINOR);
	if (has_processes && !machine.has_own_count)
		machine.has_pid_max = has_pid_max();
	if (base && (plan->limits[LIMIT_MEMORY].is_set || (has_processes && needs_group(plan, &machine))))
		find_base(plan, &machine, base);
	limits_choose_for(plan, &machine, choice);
	if (choice->pid_max)
		choice->pid_max_inode = pid_max_inode();
}

void limits_choose(const struct plan *plan, struct limits_choice *choice, struct cgroup_base *base)
{
	struct cgroup_base found = { .fd = -1 };
	choose(plan, choice, &found);
	if (base)
		*base = found;
	else if (found.fd >= 0)
		close(found.fd);
}

void limits_without_group(const struct plan *plan, struct limits_choice *choice)
{
	choose(plan, choice, NULL);
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
