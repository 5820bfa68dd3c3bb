/* SPDX-License-Identifier: Apache-2.0 */
/* `berm doctor`: tests the backend's claims about this machine. One program makes the same attempts
 * twice: bare, as the control, and in a real sandbox under the default policy. Never counts an
 * attempt without its control. An attempt that disproves a claim is a failure. */
#ifndef BERM_COMMON_DOCTOR_DOCTOR_H
#define BERM_COMMON_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/base/arena.h"
#include "common/backend.h"
#include "common/policy/guarantee.h"
#include "common/plan/plan.h"

/* Labels of a backend's claims: tested on this system, or not yet. */
#define DOCTOR_LABEL_RUN_HERE "run here"
#define DOCTOR_LABEL_MACOS "compiled and model-checked, never run on a Mac"

/* The victims of the attempts, all created by doctor: files in a private directory, sockets
 * and a process. */
struct doctor_world {
	const char *round; /* "bare" or "inside": consumed files exist once per round */
	const char *token; /* known to the host only */
	const char *project, *outside, *readable, *state, *home;
	unsigned tcp, tcp6, udp; /* ports on the host's loopback; 0: none */
	int victim; /* a process of the host */
	int segment; /* SysV shared memory of the host */
	unsigned open_files, processes; /* the limits of the plan */
	int *lingering; /* out: pid of a process that an attempt left */
};

/* Results of an attempt; other values are the errno that stopped it. */
enum { ATTEMPT_REACHED = 0, ATTEMPT_UNTRIED = -1, ATTEMPT_MAX = 56 };

struct attempt {
	const char *name;
	enum guarantee guarantee;
	/* The lowest level that must stop it. At lower levels an attempt that gets through is shown
	 * and disproves nothing. */
	enum level stopped_at;
	const char *what; /* "write to a file outside the project" */
	int (*attempt)(const struct doctor_world *world);
};
extern const struct attempt attempt_table[];
extern const size_t attempt_count;

/* Return the arguments of the hidden subcommand that makes every attempt and prints "NAME RESULT"
 * lines, and parse them. */
char **doctor_arguments(struct arena *arena, const char *program, const struct doctor_world *world);
bool doctor_world_parse(int argc, char **argv, struct doctor_world *world);

/* scratch.c: creates the private directory. Returns -1 with err. doctor_scratch_remove removes it
 * in any case. */
struct doctor_scratch {
	const char *directory;
	const char *project, *outside, *readable, *state;
	const char *program; /* copy of this berm in the project, visible inside */
	int lock;
};
int doctor_scratch_make(struct arena *arena, const char *token, struct doctor_scratch *scratch, struct error *err);
int doctor_scratch_remove(const struct doctor_scratch *scratch, struct error *err);

enum verification {
	VERIFIED_HELD, /* every attempt that works bare was stopped inside */
	VERIFIED_WEAKER, /* some got through, as the level allows */
	VERIFIED_NOT, /* no attempt had a control */
	VERIFIED_NOTHING_RAN, /* the guarantee is missing, so the sandbox refused to run */
	VERIFIED_DISPROVED,
};

struct doctor_result {
	int bare[ATTEMPT_MAX], inside[ATTEMPT_MAX];
	bool has_run; /* the sandbox started */
	struct error failure; /* the reason if it did not start, or a failure during the run */
};

/* rounds.c: makes both rounds of attempts in a separate session. */
void doctor_try(const struct plan *plan, const struct doctor_scratch *scratch, struct doctor_world *world,
		struct doctor_result *result);

/* judge.c: compares claims with results. */
struct doctor_report {
	const struct plan *plan;
	const struct guarantee_state *states;
	const struct machine *machine;
	const struct doctor_result *result;
	enum verification verified[GUARANTEE_COUNT];
	bool is_short, is_disproved, is_unverified;
	bool is_verbose;
};
void doctor_judge(struct doctor_report *report);
const char *verification_name(enum verification verification);
enum attempt_outcome { OUTCOME_STOPPED, OUTCOME_REACHED, OUTCOME_NO_CONTROL, OUTCOME_UNTRIED };
enum attempt_outcome doctor_outcome(const struct doctor_result *result, size_t attempt);
/* 0: the default policy holds and all of it was tested; 1: a guarantee is weaker; 2: a claim was
 * disproved or not tested. */
enum { DOCTOR_HOLDS = 0, DOCTOR_WEAKER = 1, DOCTOR_UNPROVEN = 2 };
int doctor_exit_code(const struct doctor_report *report);

struct text;
void doctor_print(const struct doctor_report *report, struct text *out);
void doctor_json(const struct doctor_report *report, struct text *out);

#endif
