/* SPDX-License-Identifier: Apache-2.0 */
/* One launch: everything that is prepared outside, before the namespaces exist, and used on both sides. */
#ifndef BERM_LINUX_LAUNCH_LAUNCH_H
#define BERM_LINUX_LAUNCH_LAUNCH_H

#include <stdatomic.h>

#include "common/backend.h"
#include "common/plan/plan.h"
#include "common/state/state.h"
#include "linux/launch/command.h"
#include "linux/limits/cgroup.h"
#include "linux/egress/egress.h"
#include "linux/confine/filter.h"
#include "linux/limits/limits.h"
#include "linux/view/namespaces.h"
#include "linux/cpu_placement.h"
#include "linux/signals.h"
#include "linux/launch/terminal.h"
#include "linux/limits/watch.h"

/* How far init is: one page that both see. A message would wake the launcher, which has nothing to do with it but to remember it. */
struct progress {
	atomic_bool has_started; /* execve was imminent: from here on something may have run */
	atomic_bool is_running; /* the command exists: it gets by itself what its process group gets */
	atomic_bool is_in_background; /* the launcher's word: its group has lost the terminal since berm began */
};

struct launch {
	struct plan *plan; /* of init, without what the scan finds until findings_receive; NULL until early_await */
	void *early; /* where it will lie, of an init that is forked before it is known (early.h); NULL: it is known */
	uid_t uid;
	gid_t gid;
	struct state state;
	struct state_place root; /* the shape of the new root, if one is kept */
	bool has_terminal;
	struct command command;
	struct filter_program filter;
	struct namespaces_options namespaces;
	struct signal_state signals;
	bool has_own_group; /* the command leads a process group of its own, which gets the terminal */
	struct limits_choice limits;
	struct cgroup group;
	struct watch watch;
	int landlock_abi;
	bool has_egress; /* the policy names destinations or ports */
	struct egress egress;
	bool is_alone; /* the tier landlock: no namespaces, no mounts */
	bool has_listener; /* alone: init judges changes of metadata */
	int hand_over[2]; /* alone: the listener's way from the command, which makes it, to init: [0] init, [1] command */
	bool is_scoped; /* init, alone: what it signals is inside, whatever it is */
	int ends[2]; /* channel: [0] launcher, [1] init */
	struct progress *progress;
	struct processors processors; /* of the launcher: init works at the same time on another one */
	bool is_complete; /* the plan was scanned before init was forked */
};

/* What launcher and init talk by: ends and progress, before the fork. */
int launch_connect(struct launch *launch, struct error *err);
/* limits_launch.c: how this run's limits are held; makes the group if there is one, and notes if it could not be had. */
int launch_limits(struct launch *launch, struct run_result *result, struct error *err);
/* Forks init, into the group if there is one. As namespaces_fork. */
pid_t launch_fork(struct launch *launch, int *pidfd, struct run_result *result, struct error *err);
/* With limits.has_scope, once init is there: asks systemd for the scope, and tells init how it went, which waits for that before it
 * does anything. -1: the policy does not allow to go on without; init has been told nothing. */
int launch_scope(struct launch *launch, pid_t init, struct run_result *result, struct error *err);
/* In init, with limits.has_scope. */
void launch_await_scope(struct launch *launch);

/* init.c: the life of pid 1. Never returns. */
_Noreturn void init_main(struct launch *launch);

/* supervisor.c: the launcher's life from the birth of init to its death. */
struct supervision {
	const struct plan *plan;
	int channel; /* launcher's end */
	struct progress *progress;
	int pidfd; /* of init */
	pid_t pid; /* of init */
	int signals; /* signalfd */
	const struct terminal *terminal;
	bool has_own_group;
	bool is_hangup_ignored;
	struct watch *watch;
	struct cgroup *group;
	bool is_alone; /* init's death is not the death of all */
	bool owes_own; /* init has not said yet where its own files go, and waits for them (furnish.h); */
	bool owes_go; /* and then for this */
};
/* Before init is told to go on: a job that was stopped and continued in the background meanwhile has no right to the terminal. */
void supervisor_look_at_terminal(const struct supervision *supervision);
int supervisor_run(const struct supervision *supervision, struct run_result *result, struct error *err);

#endif
