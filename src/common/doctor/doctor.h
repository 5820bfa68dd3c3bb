/* SPDX-License-Identifier: Apache-2.0 */
/* `berm doctor`: what this machine holds, claimed by the backend and then tried. The same attempts are made twice by the same program: bare,
 * which shows that they work, and inside a real sandbox under the default policy. A claim that an attempt disproves is a failure. */
#ifndef BERM_COMMON_DOCTOR_DOCTOR_H
#define BERM_COMMON_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/base/arena.h"
#include "common/backend.h"
#include "common/policy/guarantee.h"
#include "common/plan/plan.h"

/* What the macOS backend has to say of its claims until somebody ran them. */
#define DOCTOR_LABEL_RUN_HERE "run here"
#define DOCTOR_LABEL_MACOS "compiled and model-checked, never run on a Mac"

/* Victims of the attempts, all of doctor's own: files in a private directory, sockets and a process. */
struct doctor_world {
	const char *round; /* "bare" or "inside": files that an attempt uses up exist once for each */
	const char *token; /* what only the host knows */
	const char *project, *outside, *readable, *state, *home;
	unsigned tcp, tcp6, udp; /* ports on the host's loopback; 0: none */
	int victim; /* a process of the host */
	int segment; /* SysV shared memory of the host */
	unsigned open_files, processes; /* the limits of the plan */
	int *lingering; /* out: a process that an attempt left behind */
};

enum { ATTEMPT_REACHED = 0, ATTEMPT_UNTRIED = -1, ATTEMPT_MAX = 48 }; /* else: the errno that stopped it */

struct attempt {
	const char *name;
	enum guarantee guarantee;
	/* From this level on it has to be stopped. One that gets through although less is claimed is shown, and is no lie. */
	enum level stopped_at;
	const char *what; /* "write to a file outside the project" */
	int (*attempt)(const struct doctor_world *world);
};
extern const struct attempt attempt_table[];
extern const size_t attempt_count;

/* The arguments of the hidden subcommand that makes every attempt and writes "NAME RESULT" lines to stdout; and back. */
char **doctor_arguments(struct arena *arena, const char *program, const struct doctor_world *world);
bool doctor_world_parse(int argc, char **argv, struct doctor_world *world);

/* doctor_scratch.c: the private directory. NULL with err; removed by doctor_scratch_remove. */
struct doctor_scratch {
	const char *directory;
	const char *project, *outside, *readable, *state;
	const char *program; /* a copy of this berm, in the project: the one that runs may not be visible inside */
	int lock;
};
int doctor_scratch_make(struct arena *arena, const char *token, struct doctor_scratch *scratch, struct error *err);
int doctor_scratch_remove(const struct doctor_scratch *scratch, struct error *err);

enum verification {
	VERIFIED_HELD, /* every attempt that works bare was stopped inside */
	VERIFIED_WEAKER, /* some got through, as the level says */
	VERIFIED_NOT, /* no attempt could be compared */
	VERIFIED_NOTHING_RAN, /* missing, and so the sandbox refused to run anything */
	VERIFIED_DISPROVED,
};

struct doctor_result {
	int bare[ATTEMPT_MAX], inside[ATTEMPT_MAX];
	bool has_run; /* the sandbox started */
	struct error failure; /* why it did not, or what went wrong */
};

/* doctor_live.c: both rounds, in a session of their own. */
void doctor_try(const struct plan *plan, const struct doctor_scratch *scratch, struct doctor_world *world,
		struct doctor_result *result);

/* doctor_judge.c */
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
/* 0 the default policy holds fully and was seen to; 1 something is weaker; 2 a claim was disproved or could not be tried. */
enum { DOCTOR_HOLDS = 0, DOCTOR_WEAKER = 1, DOCTOR_UNPROVEN = 2 };
int doctor_exit_code(const struct doctor_report *report);

struct text;
void doctor_print(const struct doctor_report *report, struct text *out);
void doctor_json(const struct doctor_report *report, struct text *out);

#endif
