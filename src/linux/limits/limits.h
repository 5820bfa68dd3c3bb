/* SPDX-License-Identifier: Apache-2.0 */
/* The room limits: chooses a mechanism for each limit of the plan, applies it, or polls the
 * sandbox. It never raises a limit, and never reports a polled limit as held by the kernel.
 *
 * Each limit gets the strongest available mechanism of the kernel: rlimits, a control group
 * (cgroup.h, systemd_scope.h), the pid namespace's pid_max, CPU affinity. Otherwise the launcher
 * polls the sandbox (watch.h) and kills it. limits_choose decides; the plan's output, the guarantee
 * and the launch all follow its choice. */
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
	HOLD_SCOPE, /* systemd is asked once init exists; then HOLD_GROUP or HOLD_WATCH */
	HOLD_TIMER,
	HOLD_WATCH,
	HOLD_COUNT,
};

struct limits_choice {
	enum limit_hold holds[LIMIT_COUNT];
	bool has_group, has_watch, has_scope; /* at least one limit is held by it */
	uint64_t pid_max; /* for the sandbox's pid namespace; 0: unchanged */
	unsigned long pid_max_inode; /* of the host's pid_max file */
};

/* Chooses for this machine. Cheap unless the plan limits memory, or processes as root. The caller
 * closes base->fd; `base` may be NULL. */
void limits_choose(const struct plan *plan, struct limits_choice *choice, struct cgroup_base *base);
/* The same for a machine with these properties; for tests. */
struct limits_machine {
	bool has_memory_group, has_pids_group, has_pid_max;
	bool has_own_count; /* RLIMIT_NPROC counts per user namespace (5.14) */
	bool is_shared; /* landlock tier: without namespaces the host's processes count too */
	bool has_manager; /* systemd can be asked for a scope */
};
void limits_choose_for(const struct plan *plan, const struct limits_machine *machine, struct limits_choice *choice);
/* Chooses again when the group could not be created. */
void limits_without_group(const struct plan *plan, struct limits_choice *choice);

/* Replaces HOLD_SCOPE once systemd has been asked: HOLD_GROUP if is_held, else HOLD_WATCH. */
void limits_settle_scope(struct limits_choice *choice, bool is_held);
/* True if the policy refuses a run in which a limit is only polled. */
bool limits_are_required(const struct plan *plan);
/* Returns the limits for this run's scope. */
struct cgroup_limits limits_of_scope(const struct plan *plan, const struct limits_choice *choice);

/* Writes the guarantee's state; with is_detailed each limit's too, in the plan's arena. */
void limits_describe(const struct plan *plan, const struct limits_choice *choice, bool is_detailed,
		     struct guarantee_state *state);
/* limits_choose and limits_describe. */
void limits_judge(const struct plan *plan, bool is_detailed, struct guarantee_state *state);
/* Returns the limits for this run's group. */
struct cgroup_limits limits_of_group(const struct plan *plan, const struct cgroup_base *base);
/* Returns the size of a tmpfs inside in bytes; 0: the kernel's default, half of the memory. With
 * is_disk the limit of disk space applies too. */
uint64_t limits_of_tmpfs(const struct plan *plan, bool is_disk);

/* The limits on inotify of the user namespace around berm; 0: unknown. */
enum { LIMITS_INOTIFY_COUNT = 2 };
struct limits_inotify {
	uint64_t maximum[LIMITS_INOTIFY_COUNT]; /* instances, watches */
};
/* Called by the launcher: init is in the new user namespace already. */
void limits_inotify_read(struct limits_inotify *inotify);
/* Called by init before the view: sets sysctls, which needs capabilities in the user namespace and
 * the host's /proc. */
int limits_bound_namespaces(const struct plan *plan, const struct limits_choice *choice, const struct limits_inotify *inotify,
			    struct error *err);
/* Called by init last: RLIMIT_NPROC then counts this sandbox only. Never raises a limit above the
 * one with which berm was started. */
int limits_apply(const struct plan *plan, const struct limits_choice *choice, struct error *err);

/* Adds the hint "raise it: ..." to an error about a limit. Returns -1. */
int limits_hint(const struct plan *plan, enum limit limit, struct error *err);

#endif
