/* SPDX-License-Identifier: Apache-2.0 */
/* How the limits of a plan are held on this machine, and the part of it that a process does to itself.
 *
 * For each limit the firmest mechanism that is there: the kernel's own (rlimits, a control group, the pid namespace's pid_max, the
 * set of processors), else berm looks at the sandbox from time to time (watch.h) and ends it. limits_choose decides; what is printed,
 * judged and done all follow from its choice. */
#ifndef BERM_LINUX_LIMITS_LIMITS_H
#define BERM_LINUX_LIMITS_LIMITS_H

#include "common/base/error.h"
#include "common/policy/guarantee.h"
#include "common/plan/plan.h"
#include "linux/limits/cgroup.h"

enum limit_hold {
	HOLD_NOT_SET,
	HOLD_RLIMIT,
	HOLD_PID_MAX,
	HOLD_AFFINITY,
	HOLD_GROUP,
	HOLD_SCOPE, /* systemd is asked for a group once init is there; then this is HOLD_GROUP or HOLD_WATCH */
	HOLD_TIMER,
	HOLD_WATCH,
};

struct limits_choice {
	enum limit_hold holds[LIMIT_COUNT];
	bool has_group, has_watch, has_scope; /* one of them is held so */
	uint64_t pid_max; /* for the sandbox's pid namespace; 0: left alone */
	unsigned long pid_max_inode; /* of the host's own */
};

/* Cheap unless the plan bounds memory, or root's processes. With `base` the place for a group is left open there, else closed. */
void limits_choose(const struct plan *plan, struct limits_choice *choice, struct cgroup_base *base);
/* The same for a sandbox without namespaces of its own: processes are held by a group or counted, as descendants of init, which has to
 * be their reaper. */
void limits_choose_shared(const struct plan *plan, struct limits_choice *choice, struct cgroup_base *base);
/* The choice for a machine that is known: what tests ask. */
struct limits_machine {
	bool has_memory_group, has_pids_group, has_pid_max;
	bool has_own_count; /* RLIMIT_NPROC counts per user namespace (5.14) */
	bool is_shared; /* no namespaces: what counts there counts the host's processes too */
	bool has_manager; /* systemd can be asked for a group */
};
void limits_choose_for(const struct plan *plan, const struct limits_machine *machine, struct limits_choice *choice);
/* The same when the group could not be made. */
void limits_without_group(const struct plan *plan, struct limits_choice *choice);

/* Once systemd has been asked for a scope: what it was to hold is held by it, or looked at. */
void limits_settle_scope(struct limits_choice *choice, bool is_held);
/* Does the policy refuse a run in which a limit is only looked at? */
bool limits_are_required(const struct plan *plan);
/* What a scope of this run has to hold. */
struct cgroup_limits limits_of_scope(const struct plan *plan, const struct limits_choice *choice);

/* The guarantee's state; with is_detailed each limit's too, in the plan's arena. */
void limits_describe(const struct plan *plan, const struct limits_choice *choice, bool is_detailed,
		     struct guarantee_state *state);
/* Chooses and describes. */
void limits_judge(const struct plan *plan, bool is_detailed, struct guarantee_state *state);
/* What the group of this run has to hold. */
struct cgroup_limits limits_of_group(const struct plan *plan, const struct cgroup_base *base);
/* How large a tmpfs inside may be: bytes, or 0 for the kernel's half of the memory. With is_disk it stands for a place on the disk. */
uint64_t limits_of_tmpfs(const struct plan *plan, bool is_disk);

/* In init, after the user namespace and before the view: what needs its capabilities and the host's /proc. */
int limits_bound_namespaces(const struct plan *plan, const struct limits_choice *choice, struct error *err);
/* In init, last: RLIMIT_NPROC then counts this sandbox only. Never raises a limit above what berm itself was started with. */
int limits_apply(const struct plan *plan, const struct limits_choice *choice, struct error *err);

/* "raise it: ..." under a sentence about a limit. */
int limits_hint(const struct plan *plan, enum limit limit, struct error *err);

#endif
