/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of the escape suite. A case is a row: number, title, what it needs, and an attack or a
 * function. Every case runs in its own process with a time limit and a scratch world, and
 * shows three things: the control (the attack works without berm), the verdict (it does not work
 * with it) and the host afterwards. A control that fails is never counted as a pass. */
#ifndef BERM_TESTS_ESCAPE_HARNESS_H
#define BERM_TESTS_ESCAPE_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>

#include "world.h"

enum need {
	NEED_ROOT = 1, /* the control needs root */
	NEED_USER = 2, /* proves nothing as root */
	NEED_TERMINAL = 4, /* runs on a pseudo-terminal of the test's own */
	NEED_NETWORK = 8, /* runs in a network namespace of the test's own */
	ABOUT_LAUNCHER = 32, /* a bare run does it right too: nothing to find in the self-test */
	NEED_WALL = 16, /* the command would harm a host without a wall: left out when the suite tests itself */
};

/* Times are those of a quiet machine; a busy one gets PATIENCE times as much before something is
 * held to hang. */
enum { ATTACK_ARGUMENTS = 12, CASE_SECONDS = 10, PATIENCE = 8 };

struct trial;

struct escape_case {
	int number;
	const char *title;
	unsigned needs;
	void (*set_up)(
		struct trial
			*trial); /* builds the targets in a fresh world; called before the control and before the verdict */
	const char *attack[ATTACK_ARGUMENTS]; /* with $VARIABLES of the world; see trial_expand */
	void (*host_check)(struct trial *trial); /* after the verdict */
	void (*run)(struct trial *trial); /* instead of `attack`, where one comparison is not enough */
	int seconds; /* 0: CASE_SECONDS */
};

/* A case that this version does not hold yet, or that another kind of test holds. Listed, never
 * counted. */
struct open_case {
	int number;
	const char *title, *label, *reason;
};

/* Cases of PART_HOST attack processes, files and sockets of the whole host: nothing may run beside
 * them. Cases of PART_PROJECT stay in their own worlds. */
enum part { PART_ALL, PART_HOST, PART_PROJECT };

extern const struct escape_case cases_terminal[], cases_proc[], cases_descriptors[], cases_sockets[], cases_files[],
	cases_planting[], cases_kernel[], cases_network[], cases_lifetime[], cases_launch[], cases_honesty[], cases_harm[],
	cases_many[], cases_settings[], cases_rules[], cases_git[], cases_sweep[], cases_guard[], cases_repair[];
extern const struct open_case cases_open[];

enum status { STATUS_PASSED, STATUS_FAILED, STATUS_SKIPPED, STATUS_MODEL };

/* Shared between the suite and the process of a case, so that nothing is lost when that one
 * dies. */
struct result {
	bool is_finished;
	bool is_noticed; /* self-test: the case saw that there is no wall */
	enum status status;
	int reached; /* probes whose control worked */
	int stopped; /* of those, the ones that berm stopped */
	int unsupported; /* this kernel lacks the call: only the simulator can tell */
	int refused; /* the control failed for another reason */
	int checks; /* further expectations that held */
	char skip_reason[256];
	char failures[8192]; /* one line each */
	struct world_created created;
};

struct outcome {
	int exit_code; /* 128 + signal if it died of one; -1 if it was stopped after its time */
	char out[1 << 16], err[1 << 14];
};

/* The terminal before and after a command, as the shell that started it sees it. */
struct terminal_state {
	struct termios before, after;
	pid_t job, foreground;
	int discipline, exclusive, flags; /* line discipline, exclusive mode, flags of the shared open file */
	int queued; /* bytes waiting to be read that were not typed */
	bool is_stopped; /* output blocks */
	struct winsize size;
};

struct trial {
	const struct escape_case *self;
	struct world world;
	struct result *result;
	bool is_inside; /* which half is running: decides the value of $TARGET */
	pid_t victim, server;
	int terminal; /* master side, -1 without NEED_TERMINAL */
	struct terminal_state *terminal_state; /* shared; filled by the session's leader around each run */
	const char *pid_file; /* in the project: gets the pid of berm inside, of the victim in the control */
	const char *berm_options[16]; /* for `berm run`, end with NULL */
	const char *variables[48]; /* NAME=VALUE, added to the environment of both halves */
	const char *directory; /* working directory; the project by default */
	void (*before_exec)(struct trial *trial); /* in the child: descriptors, limits, signals */
	void *data; /* the case's own */
	struct outcome outcome; /* of the last run */
};

/* One expectation about the state of things. Returns `holds`. */
bool expect(struct trial *trial, bool holds, const char *format, ...) __attribute__((format(printf, 3, 4)));
void skip(struct trial *trial, const char *format, ...) __attribute__((format(printf, 2, 3)));
void note(const char *format, ...) __attribute__((format(printf, 1, 2))); /* only with --verbose */

/* Control, verdict and host check of an attack. Ends with NULL. */
void contain(struct trial *trial, const char *const *attack);
#define CONTAIN(trial, ...) contain(trial, (const char *const[]){ __VA_ARGS__, NULL })

/* A new scratch project, with the case's targets. */
void trial_renew(struct trial *trial);
/* Runs a program bare, `berm run OPTIONS -- PROGRAM`, or berm with other arguments; the
 * outcome is in the trial. Arguments are expanded. Returns the exit code. */
int run_bare(struct trial *trial, const char *const *argv);
int run_inside(struct trial *trial, const char *const *argv);
int run_berm(struct trial *trial, const char *const *argv);
#define BARE(trial, ...) run_bare(trial, (const char *const[]){ __VA_ARGS__, NULL })
#define INSIDE(trial, ...) run_inside(trial, (const char *const[]){ __VA_ARGS__, NULL })
#define BERM(trial, ...) run_berm(trial, (const char *const[]){ __VA_ARGS__, NULL })
/* Starts without waiting; the caller ends it. Output goes nowhere. */
pid_t start_inside(struct trial *trial, const char *const *argv);
#define START(trial, ...) start_inside(trial, (const char *const[]){ __VA_ARGS__, NULL })
int wait_exit(pid_t pid, int milliseconds); /* as outcome.exit_code; kills after the time */

/* $PROJECT $OUTSIDE $SECRET $READONLY $HOME $HOMESECRET $STATE $CONFIG $RUNTIME $TOKEN $ATTACK
 * $VICTIM, and $TARGET: the victim in the control, pid 1 inside. */
char *trial_expand(struct trial *trial, const char *text);
void trial_option(struct trial *trial, const char *option);
void trial_variable(struct trial *trial, const char *assignment);
/* A process of the test's own, with $TOKEN in its environment and its arguments. */
void trial_victim(struct trial *trial);
bool is_alive(pid_t pid);
/* For before_exec: from here on this system call fails, as in a container or on another kernel. */
void refuse_call(long number, int error_number);

extern const char *berm_path; /* of the program under test */
extern const char *attack_path; /* of the attacker */
extern bool is_self_test; /* the program under test is known to have no wall */

/* suite.c */
struct suite_options {
	int only; /* one case, 0: all */
	enum part part;
	bool is_verbose, must_run;
};
int suite_run(const struct suite_options *options);
void suite_list(void);

#endif
