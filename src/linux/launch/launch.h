/* SPDX-License-Identifier: Apache-2.0 */
/* One run: launcher, init, command. Nothing runs before its plan is verified, and the command never
 * runs unconfined.
 *
 * This header has the state of one launch. The launcher prepares it before the namespaces exist;
 * launcher and init both use it. */
#ifndef BERM_LINUX_LAUNCH_LAUNCH_H
#define BERM_LINUX_LAUNCH_LAUNCH_H

#include <signal.h>
#include <stdatomic.h>

#include "common/backend.h"
#include "common/plan/plan.h"
#include "common/state/state.h"
#include "linux/launch/command.h"
#include "linux/egress/egress.h"
#include "linux/confine/filter.h"
#include "linux/guard/guard.h"
#include "linux/limits/limits.h"
#include "linux/view/namespaces.h"
#include "linux/cpu_placement.h"
#include "linux/signals.h"
#include "linux/launch/terminal.h"
#include "linux/limits/watch.h"
#include "linux/repair/repair.h"
#include "linux/session/session.h"

/* Init's progress: one page that launcher and init share. A message would wake the launcher, which
 * only needs to read the flags later. */
struct progress {
	atomic_bool has_started; /* set before the vfork: the command may have run from here on */
	/* The command was executed: it receives the signals to its process group itself. */
	atomic_bool is_running;
	atomic_bool is_guarded; /* the guard serves the command */
	/* Set by the launcher: its group has lost the terminal since berm started. */
	atomic_bool is_in_background;
};

struct launch;
struct init_state;

/* The steps in which the tiers differ. tier_full.c and landlock_tier.c have one table each; no
 * other code of this room tests the tier. */
struct launch_tier {
	/* Launcher. */
	bool scans_first; /* before the fork: the results decide whether the plan can be enforced */
	bool can_fall_back; /* if the host refuses this tier, a lower one can be tried */
	void (*choose_filter)(const struct plan *plan, bool has_listener, struct filter_options *options);
	/* Refuses settings that the tier cannot enforce. */
	int (*check)(const struct plan *plan, struct error *err);
	int (*prepare)(struct launch *launch, const char *root_layout, struct error *err);
	/* Forks init. Returns as fork(2), with a pidfd in the launcher. */
	pid_t (*fork)(struct launch *launch, int *pidfd, struct run_result *result, struct error *err);
	/* Fills the run files if init has asked for them. Sets *is_pending if it has not: the
	 * supervisor fills them then. */
	int (*fill_run_files)(const struct launch *launch, bool *is_pending, struct error *err);
	/* Asks init over the channel to end every process inside. False if only SIGKILL of init is
	 * left. */
	bool (*ask_to_end)(int channel);
	/* Called after init has exited; false if processes may be left. */
	bool (*end_leftovers)(void);

	/* Init, up to receive_listener in this order. */
	int (*tie)(struct error *err); /* ties init's lifetime to the launcher's */
	/* Sets up namespaces and view. */
	int (*enter)(struct launch *launch, struct init_state *state, struct error *err);
	/* Gives up every privilege that init needs no more. */
	int (*confine)(struct launch *launch, struct error *err);
	/* Confines the command itself, between vfork and execve. */
	int (*lock_command)(const struct launch *launch, struct error *err);
	/* Receives the command's listener; *listener is -1 if init's loop has nothing to serve. */
	int (*receive_listener)(struct launch *launch, struct init_state *state, struct error *err);
	/* True if the command could not be locked because a mechanism is missing without which it
	 * may run; then lock_command does without it. */
	bool (*can_do_without)(struct launch *launch, const struct error *err);
	/* True if a signal from this sender to init was sent from outside. */
	bool (*is_from_outside)(pid_t sender);
	/* True if the command tried to use a network that the policy does not allow. */
	bool (*has_tried_network)(const struct plan *plan);
	/* True if no port of the command can be reached unless it is published. */
	bool (*has_own_network)(const struct plan *plan);
	void (*signal_all)(const struct launch *launch, int number); /* every process inside */
	void (*end_all)(const struct launch *launch); /* called before init exits */
};
extern const struct launch_tier tier_full, tier_landlock;
/* The command, between vfork and execve: sends the listener to init. */
int launch_pass_listener(const struct launch *launch, int listener, struct error *err);
/* Init: receives it. It was sent before execve, for which vfork waits: it has arrived or never
 * will. */
int launch_receive_listener(const struct launch *launch, int *listener, struct error *err);
/* Fills the filter options for this plan. has_listener: init can answer notifications. */
void launch_filter_options(const struct plan *plan, bool has_listener, struct filter_options *options);

/* The state of one launch. The launcher fills it before the fork; init has a copy. */
struct launch {
	const struct plan *plan;
	const struct launch_tier *tier;
	uid_t uid;
	gid_t gid;
	struct command command;
	struct filter_program filter;
	/* With the guard, the command's filter and init's own; count 0: no guard. */
	struct filter_program guarded, guarding;
	int landlock_abi;

	/* The scan. */
	bool is_scanned; /* before init was forked; otherwise init receives the results */
	struct scan_results *results; /* plan->scan points to them; NULL if there is no scan */
	struct plan_documents documents; /* set by the launcher after the scan */

	/* The view. */
	struct timespec since; /* the start, by the clock of file systems */
	struct state state;
	struct state_place root; /* the cached root layout; its path is NULL if there is none */
	bool has_terminal;
	const struct run_copy *copy; /* or NULL: the project itself is mounted */
	const struct run_session *session; /* or NULL: one command is run */
	struct namespaces_options namespaces;
	bool has_egress; /* the policy names destinations or ports: the proxy is needed */
	struct egress egress;

	/* Limits. */
	struct limits_choice limits;
	struct limits_inotify inotify;
	struct cgroup group;
	struct watch watch;

	struct repair repair;

	/* The guard, of the tier full. */
	bool has_guard; /* init's deputy performs creations; else only what exists is held */
	struct guard guard;
	struct guard *command_guard; /* of the command that is started next: in a session each has its own */

	/* The tier landlock. */
	bool has_listener; /* init answers system calls that change metadata */
	/* The command sends the listener to init: [0] is init's end, [1] the command's. */
	int listener_socket[2];
	bool is_scoped; /* init: Landlock limits its signals to the sandbox */

	/* Between launcher and init. */
	int ends[2]; /* of the channel: [0] is the launcher's, [1] init's */
	struct progress *progress;
	struct signal_state signals;
	bool has_own_group; /* the command leads its own process group, which gets the terminal */
	struct cpu_placement placement;
};

/* Init's state from its set-up to the end of the command. */
struct init_state {
	struct launch *launch;
	int channel, signals;
	int git_events, listener; /* fds; -1 if there is none */
	unsigned git_refused; /* GIT_REFUSED_* that were reported, which is done once for each */
	pid_t command;
	/* When this signal was sent to the process group from outside; 0: it was not. */
	int64_t group_at[NSIG];
	int64_t end_at; /* monotonic milliseconds; 0: no limit */
};

/* launch_limits.c */
/* Chooses how this run's limits are enforced and makes the control group if there is one. Sets
 * result->note if the group was expected but refused. */
int launch_limits(struct launch *launch, struct run_result *result, struct error *err);
/* Forks init, into the control group if there is one. Returns as namespaces_fork. */
pid_t launch_fork(struct launch *launch, int *pidfd, struct run_result *result, struct error *err);
/* Called with limits.has_scope after the fork: asks systemd for the scope and sends the result to
 * init, which waits for it before anything else. -1 if the policy requires the scope and there is
 * none; then nothing was sent to init. */
int launch_scope(struct launch *launch, pid_t init, struct run_result *result, struct error *err);
/* Called by init with limits.has_scope: waits for that result. */
void launch_await_scope(struct launch *launch);

/* copy_results.c: drops what the copy of launch->copy hides from the scan's results. */
void launch_keep_visible(const struct launch *launch, struct scan_results *results);

/* init.c: runs init from the fork to its exit. */
_Noreturn void init_main(struct launch *launch);

/* backend.c: fills result->ended for a command that could not be executed, with ended.number. */
void launch_explain_not_executed(const struct plan *plan, const char *name, struct run_result *result);

/* init_session.c: init of a session from its confinement to its exit: a fork server. */
_Noreturn void init_serve_session(struct init_state *state);

/* supervisor.c: the launcher's state from the fork of init to init's exit. */
struct supervision {
	const struct plan *plan;
	const struct launch_tier *tier;
	const struct plan_documents *documents;
	int channel; /* launcher's end */
	struct progress *progress;
	int pidfd; /* of init */
	pid_t pid; /* of init */
	int signals; /* signalfd */
	const struct terminal *terminal;
	bool has_own_group;
	bool is_hangup_ignored;
	struct watch *watch;
	struct repair *repair;
	struct cgroup *group;
	/* Init has not asked for its run files yet and will wait for them (view/run_files.h). */
	bool run_files_pending;
	bool go_pending; /* after the run files init waits for MESSAGE_GO */
	const struct run_request *request; /* its notice */
	/* Of a session, else NULL. */
	const struct run_session *session;
	const char *proxy_secret; /* or NULL */
};
/* Updates progress->is_in_background. Called before init may go on: a job that was stopped and
 * continued in the background meanwhile must not take the terminal. */
void supervisor_check_terminal(const struct supervision *supervision);
/* Waits for the end of the run and fills *result. -1 with err if nothing ran. */
int supervisor_run(const struct supervision *supervision, struct run_result *result, struct error *err);

#endif
