/* SPDX-License-Identifier: Apache-2.0 */
/* The system's side of a run: which guarantees can hold here, and the run itself. One implementation per system
 * (linux/backend.c, macos/backend.c). */
#ifndef BERM_COMMON_BACKEND_H
#define BERM_COMMON_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "common/proxy/refusals.h"
#include "common/base/error.h"
#include "common/policy/guarantee.h"
#include "common/plan/plan.h"

enum exit_code {
	EXIT_ENDED = 123, /* ended by berm after it started; the reason is on stderr */
	EXIT_TIME = 124,
	EXIT_REFUSED = 125, /* nothing ran */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL_BASE = 128,
};

/* A sandbox that is being made before its plan is known. */
struct begun;

struct run_request {
	char *const *argv;
	struct begun *begun; /* of backend_begin, for this plan; NULL: none. backend_run makes use of it or ends it */
	const int *pass_fds; /* kept open besides 0, 1, 2; ascending */
	size_t pass_fd_count;
	const void *prepared; /* of backend_prepare, perhaps of an earlier launch; NULL: made anew */
	size_t prepared_size;
	/* What is still to be done to the plan (the scan at least; the backend adds the documents), once the backend has time for it: while the sandbox is being made, if
	 * it can be, and always before anything runs. -1 with err: nothing may run. NULL: the plan is complete. */
	int (*complete)(void *self, struct plan *plan, struct error *err);
	/* Asked afterwards, and always before anything runs: may this plan be run? -1 with err: it may not. NULL: it may. */
	int (*confirm)(void *self, struct plan *plan, struct error *err);
	/* Called in the launcher when nothing waits for it any more but the end of the run: for what can wait. May be NULL. */
	void (*meanwhile)(void *self);
	void *self;
};

struct run_result {
	int exit_code;
	int signal; /* the one that ended the command, 0 if it exited */
	struct error ended; /* set when berm ended the run or could not start the command: a sentence for stderr */
	bool is_git_refused; /* git inside says that it could not write the configuration of a repository, which is locked */
	bool is_network_sought; /* the command failed, looked for a network, and the plan has none */
	struct egress_reports *refused; /* connections that the policy does not allow; NULL if nobody judged any */
	bool is_refused_by_host; /* with -1: the host does not allow what the plan's tier is made of; a lower one may do */
	struct error note; /* something the user should know about the run; the run was not affected */
	const char *details; /* lines that say more of the note, for -v; NULL: none */
};

/* The best tier that this machine allows for this plan, found by trying it in a throwaway child; `why` says why it is not the full one. */
enum tier backend_tier(const struct plan *plan, struct error *why);
/* Is this process behind berm's wall in a tier that shows in no view? */
bool backend_is_inside(void);
/* Fills a state for every guarantee, for this plan on this machine, after trying the mechanisms in a throwaway child. Never fails:
 * what cannot be probed is missing. */
void backend_probe(const struct plan *plan, struct guarantee_state states[GUARANTEE_COUNT]);
/* One thing that is known about the machine: a value, or a mechanism that was tried. */
struct machine_fact {
	const char *name;
	const char *value; /* of a trial: why it failed, or NULL */
	bool is_trial;
	bool is_for_programs; /* in the JSON only */
	int number; /* of a trial: 0 works, else the errno; -1 could not be tried */
	const char *fix; /* or NULL */
};
struct machine {
	struct machine_fact *items;
	size_t count;
	const char *label; /* how far these claims were seen to be true: "run here", or the words in doctor.h */
};
/* backend_probe for `doctor`: tries everything anew, and tells what was found out. The trial is kept in state_directory unless that is
 * NULL. */
void backend_examine(const struct plan *plan, const char *state_directory, struct guarantee_state states[GUARANTEE_COUNT],
		     struct machine *machine);
/* `doctor --install-apparmor`: what the administrator has to do so that berm works, done. *done is a sentence. */
int backend_install_profile(struct arena *arena, const char **done, struct error *err);
/* The same table without the trial, for a run: there every mechanism is used for real, and one that fails refuses the run. In the
 * tier landlock what a scan has found counts too. */
void backend_expect(const struct plan *plan, struct guarantee_state states[GUARANTEE_COUNT]);
/* Adds the cause and the fix to what a run was refused with by the host. Takes time: for failures only. */
void backend_explain(struct error *err);
/* What depends on the plan alone and takes time to make, as bytes that may be stored with it. In the plan's arena. */
int backend_prepare(const struct plan *plan, const void **prepared, size_t *size, struct error *err);
/* May a sandbox for this plan be begun before the plan is read? */
bool backend_can_begin(const struct plan *plan);
/* Begins one. What is allocated in the arena from here on has to be no more than the plan. NULL: it cannot be, and backend_run does it
 * all. */
struct begun *backend_begin(struct arena *arena);
/* Nothing will come of it. NULL, or one that backend_run has had, is nothing to do. */
void backend_abandon(struct begun *begun);
/* Enforces the plan, runs, waits. -1 with err if nothing ran. */
int backend_run(struct plan *plan, const struct run_request *request, struct run_result *result, struct error *err);

#endif
