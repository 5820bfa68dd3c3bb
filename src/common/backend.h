/* SPDX-License-Identifier: Apache-2.0 */
/* The contract that every system implements: probe the guarantees, and run a command with a plan. A
 * backend never runs a command that is not confined by its plan. Implemented in linux/launch,
 * linux/probe and macos/launch. */
#ifndef BERM_COMMON_BACKEND_H
#define BERM_COMMON_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/proxy/refusals.h"
#include "common/base/error.h"
#include "common/policy/guarantee.h"
#include "common/plan/plan.h"
#include "common/plan/wall.h"
#include "common/state/sessions.h"

enum exit_code {
	EXIT_ENDED = 123, /* ended by berm after it started; the reason is on stderr */
	EXIT_TIME = 124,
	EXIT_REFUSED = 125, /* nothing ran */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL_BASE = 128,
};

/* The directories of a copy (common/copies/copies.h), which takes the place of the project. */
struct run_copy {
	int upper, work; /* O_PATH fds, close-on-exec */
	const char *upper_path, *work_path; /* absolute: the backend opens them in its own namespace */
	bool is_full; /* upper has every file of the project, and there is no work */
};

/* A session: one sandbox that several commands share. */
struct run_session {
	int directory; /* of its record and socket (state/sessions.h) */
	const char *stem; /* of their names */
	/* The holder completes and writes it; a client has read it. */
	struct session_record *record;
	/* Of the holder: its lock, and a pipe that gets a byte when clients can connect; else
	 * -1. */
	int lock, ready;
};

struct run_request {
	char *const *argv;
	const int *pass_fds; /* inherited besides 0, 1 and 2; ascending */
	size_t pass_fd_count;
	/* Bytes of backend_prepare, perhaps from the cache; NULL: backend_run makes them. */
	const void *prepared;
	size_t prepared_size;
	/* Set exactly if plan_is_copy(). */
	const struct run_copy *copy;
	/* Set: a session is held instead of a run; argv is not used. */
	const struct run_session *session;
	/* Scans the project into *results, which plan->scan points to. Called before anything runs,
	 * on Linux while the sandbox is being built. -1 with err: nothing may run. NULL: the plan
	 * was scanned already. */
	int (*scan)(void *self, struct scan_results *results, struct error *err);
	struct scan_results *results; /* NULL without scan */
	/* Decides, after the scan and before anything runs, whether the plan may be run. -1 with
	 * err: it may not. May be NULL: it may. */
	int (*confirm)(void *self, struct error *err);
	/* Called by the launcher when it only has to wait for the end of the run. May be NULL. */
	void (*meanwhile)(void *self);
	/* Called with a sentence for the user while the command runs. May be NULL. */
	void (*notice)(void *self, const char *sentence);
	void *self;
};

/* The outcome of one attempt to run. In all but the first nothing ran, and err is set. */
enum run_outcome {
	RUN_DONE, /* the command ran or could not be executed; the result is set */
	RUN_REFUSED, /* another attempt would fail too */
	RUN_MOVED, /* a path changed between the scan and the mounts: another attempt may succeed */
	/* The host refuses the mechanisms of the plan's tier: a lower tier may work. */
	RUN_HOST_REFUSED,
	/* The copy cannot be an overlay here: a full copy may work. */
	RUN_NO_OVERLAY,
	/* Never returned by backend_run: its caller found that the cached plan is outdated. */
	RUN_STALE,
	/* Only of backend_join: no session takes the command, a cold launch may. */
	RUN_ELSEWHERE,
};

/* Reports of git inside that berm explains at the end of the run. Bits. */
enum {
	GIT_REFUSED_CONFIG = 1, /* a locked configuration of a repository */
	GIT_REFUSED_FILES = 2, /* hidden or protected files of the working tree */
	GIT_REFUSED_BESIDE = 4, /* a directory beside the project, for a worktree or a clone */
};

/* Names that the command has made in the private home, where the host does not look. */
enum { RUN_BESIDE_MAX = 3 };
struct run_beside {
	struct run_beside_item {
		const char *path; /* inside; the command chose its last component */
		bool is_directory;
		bool is_repository; /* a worktree, or another directory with a .git */
	} items[RUN_BESIDE_MAX];
	size_t count, total; /* total: with those that have no item */
};

/* Names that the guard has refused to create. */
enum { RUN_REFUSED_MAX = 8, RUN_REFUSED_BYTES = 256 };
struct run_refused_names {
	struct {
		char path[RUN_REFUSED_BYTES];
		char obeyed_by[RUN_REFUSED_BYTES]; /* "": a rule of the user's own */
		bool is_liftable; /* by an entry of files.write */
	} items[RUN_REFUSED_MAX];
	size_t count; /* of items; some names may be left out */
	unsigned total; /* of refused calls */
};

/* Events that the repair of masks and locks reports (linux/repair). */
enum repair_kind {
	REPAIR_HIDDEN, /* a hidden file was replaced on the host, and is hidden again */
	REPAIR_LOCKED, /* the same for a protected file */
	REPAIR_NEW_HIDDEN, /* a file of a denied name came from the host, and is hidden */
	REPAIR_NEW_LOCKED, /* the same for a protected name */
	REPAIR_NOT_PUBLIC, /* a file that was readable because of its content has changed, and is hidden */
	REPAIR_OWN, /* a file of a denied name that the command may have made; it stays readable */
	REPAIR_MOVED, /* a protected name appeared and was moved to quarantine */
	REPAIR_STUCK, /* the same, but it could not be moved */
};
struct repair_event {
	enum repair_kind kind;
	const char *path;
	int64_t exposed_us; /* the longest time, in microseconds */
	unsigned count; /* how often it happened */
	const char *detail; /* of REPAIR_MOVED: the id in quarantine; of REPAIR_STUCK: the reason */
};
struct repair_report {
	struct repair_event *items;
	size_t count;
	unsigned omitted; /* events that are not in the list */
	bool is_limited; /* some directories could not be watched */
	int64_t watched; /* directories that were, then */
};

struct run_result {
	int exit_code;
	int signal; /* that ended the command; 0 if it exited */
	struct error ended; /* for stderr: why berm ended the run or could not start the command */
	bool has_limit; /* a limit was reached */
	enum limit limit; /* which, then */
	unsigned git_refused; /* GIT_REFUSED_*: what git reported that it could not change */
	/* The command failed and tried to use the network, which the plan refuses. */
	bool has_tried_network;
	/* The guard held for the whole run: the command has created no protected name. */
	bool was_guarded;
	bool was_joined; /* it ran in a session, where other commands may go on */
	struct run_refused_names refused_names;
	struct run_beside beside;
	const struct repair_report *repaired; /* NULL: nothing to report */
	struct refusals *refused; /* connections that the proxy refused; NULL without a proxy */
	struct error note; /* for stderr; the run was not affected */
	const char *details; /* more lines for the note, printed with -v; or NULL */
};

/* Returns the best tier that this machine allows for this plan, by trying it in a child process.
 * Sets `why` if it is not the full one. */
enum tier backend_tier(const struct plan *plan, struct error *why);
/* Fills the state of every guarantee for this plan on this machine, by trying the mechanisms in a
 * child process. Never fails: a mechanism that cannot be tried is missing. */
void backend_probe(const struct plan *plan, struct guarantee_state states[GUARANTEE_COUNT]);
/* True if absent protected names can be refused for this plan here, by the kernel's version and the
 * plan's settings. Tries nothing. */
bool backend_can_guard(const struct plan *plan);
/* A property of the machine, or a mechanism that was tried. */
struct machine_fact {
	const char *name;
	const char *value; /* of a trial: the reason of its failure, or NULL */
	bool is_trial;
	bool is_for_programs; /* printed in the JSON only */
	int number; /* of a trial: 0 works, else its errno; -1: it could not be tried */
	const char *fix; /* or NULL */
};
struct machine {
	struct machine_fact *items;
	size_t count;
	/* How these claims were tested: "run here", or a label of doctor/doctor.h. */
	const char *label;
};
/* backend_probe for `doctor`: tries everything anew and fills *machine. Saves the trial in
 * state_directory unless that is NULL. */
void backend_examine(const struct plan *plan, const char *state_directory, struct guarantee_state states[GUARANTEE_COUNT],
		     struct machine *machine);
/* `doctor --install-apparmor`: installs the AppArmor profile that berm needs. *done is a sentence
 * for the user. */
int backend_install_profile(struct arena *arena, const char **done, struct error *err);
/* Undoes that. Never removes a profile that berm did not write, nor one that another installed
 * berm needs. */
int backend_remove_profile(struct arena *arena, const char **done, struct error *err);
/* Fills the same table as backend_probe without trying anything, for a run: there every mechanism
 * is used, and one that fails refuses the run. In the tier landlock the scan results count too. */
void backend_expect(const struct plan *plan, struct guarantee_state states[GUARANTEE_COUNT]);
/* Adds cause and fix to an error with which the host refused a run. Slow: for failures only. */
void backend_explain(struct error *err);
/* Makes the data that depends only on the plan and is slow to make, as bytes that can be cached
 * with the plan. They are in the plan's arena. */
int backend_prepare(const struct plan *plan, const void **prepared, size_t *size, struct error *err);
/* Enforces the plan, runs the command and waits for it. */
enum run_outcome backend_run(const struct plan *plan, const struct run_request *request, struct run_result *result,
			     struct error *err);
/* Refuses a plan whose promises a session cannot hold for each of its commands. With `keeps` what a
 * command leaves in the background goes on. */
int backend_session_judge(const struct plan *plan, bool keeps, struct error *err);
/* Runs the command in a session, as backend_run does in a new sandbox. */
enum run_outcome backend_join(const struct plan *plan, const struct run_request *request, const struct run_session *session,
			      struct run_result *result, struct error *err);
/* Asks a session how many commands it runs; with is_stop it ends, and this waits for the end. -1
 * with err if it does not answer. */
int backend_session_ask(const struct run_session *session, bool is_stop, struct error *err);
/* Refuses if this system cannot make a second wall around an agent's commands (wall.h). */
int backend_wall_judge(struct error *err);
/* Inside a sandbox: reads the wall that its commands must be behind. Returns 1 with it, 0 if there
 * is none or this process is behind it, -1 with err. */
int backend_wall_read(struct arena *arena, struct wall *wall, struct error *err);
/* Puts this process behind the wall, and closes its files but 0, 1 and 2. Variables are the
 * caller's part. */
int backend_wall_enter(struct arena *arena, const struct wall *wall, struct error *err);

#endif
