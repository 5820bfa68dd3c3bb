/* SPDX-License-Identifier: Apache-2.0 */
/* `berm doctor`: tests the guarantees of the default policy in a real sandbox and reports the
 * result. Removes its files. */
#include "common/cli/commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/cli/progress.h"
#include "common/copies/copies.h"
#include "common/doctor/doctor.h"
#include "common/base/text.h"
#include "common/scan/scan.h"

enum {
	TRIAL_OPEN_FILES = 64,
	/* High enough to be enforced like the default limit: lower limits for root
	 * use another mechanism. */
	TRIAL_PROCESSES = 1024,
	TRIAL_TIME_MS = 20000,
	TOKEN_BYTES = 6, /* twelve digits: a process name has room for fifteen */
};

struct doctor {
	struct arena arena;
	struct context context;
	struct policy policy;
	struct plan plan;
	struct diagnostics diagnostics;
	struct doctor_scratch scratch;
	struct doctor_world world;
	struct doctor_result result;
	struct guarantee_state states[GUARANTEE_COUNT];
	struct machine machine;
	const char *state_directory; /* the user's, with the cached probe */
	const char *copies; /* the directory of the state in which copies are made */
};

static int print_help(void)
{
	return report_help("berm doctor [options]\n\n"
			   "Reports which guarantees of the default policy hold on this machine, by which\n"
			   "mechanism, and how to get the others. Tests each with attempts that work outside\n"
			   "the sandbox. Uses scratch files in /tmp and removes them.\n",
			   COMMAND_DOCTOR,
			   "Exit status: 0 the default policy holds and all of it was tested; 1 a guarantee\n"
			   "is weaker, so `berm run` refuses (in the tier landlock: projects with a secret,\n"
			   "a git repository or a policy); 2 a claim was disproved, or could not be tested;\n"
			   "125 doctor itself failed.\n");
}

static int make_token(struct doctor *doctor, struct error *err)
{
	unsigned char bytes[TOKEN_BYTES];
	char *token = arena_alloc(&doctor->arena, 2 * TOKEN_BYTES + 1);
	if (getentropy(bytes, sizeof bytes) < 0)
		return error_errno(err, errno, "cannot get random numbers");
	text_hex(bytes, sizeof bytes, token);
	doctor->world.token = token;
	return 0;
}

static void set_limit(struct policy *policy, enum limit limit, uint64_t value)
{
	policy->limits[limit].is_set = true;
	policy->limits[limit].value = value;
	policy->limits[limit].rule = (struct rule){
		.key = "limits", .text = "doctor", .origin = { .source = "doctor" }, .layer = LAYER_COMMAND_LINE
	};
}

/* Makes a plan from the default policy, without the user's file. Adds one readable directory and
 * limits that are quick to reach. */
static int make_plan(struct doctor *doctor, struct error *err)
{
	struct policy extra = { 0 };
	struct policy_request request = { .home = doctor->context.home, .command_line = &extra };

	*arena_push(&doctor->arena, &extra.files.read) = (struct rule){ .key = "files.read",
									.text = doctor->scratch.readable,
									.origin = { .source = "doctor" },
									.layer = LAYER_COMMAND_LINE };
	set_limit(&extra, LIMIT_OPEN_FILES, TRIAL_OPEN_FILES);
	set_limit(&extra, LIMIT_PROCESSES, TRIAL_PROCESSES);
	set_limit(&extra, LIMIT_TIME, TRIAL_TIME_MS);
	doctor->diagnostics.arena = &doctor->arena;
	if (policy_load(&doctor->arena, &request, &doctor->policy, &doctor->diagnostics) < 0)
		return -1;
	if (plan_resolve(&doctor->arena, &doctor->policy, &doctor->context, &doctor->plan, &doctor->diagnostics) < 0)
		return -1;
	(void)err;
	return 0;
}

/* Fills the context: the user's own, with the scratch project and a separate state directory. */
static int make_world(struct doctor *doctor, struct error *err)
{
	struct context_request request = { 0 };
	struct doctor_world *world = &doctor->world;
	const char *usual;

	if (make_token(doctor, err) < 0)
		return -1;
	/* The sandbox must not pass this variable on. */
	if (setenv("DOCTOR_TOKEN", world->token, 1) < 0)
		return error_errno(err, errno, "cannot set an environment variable");
	if (doctor_scratch_make(&doctor->arena, world->token, &doctor->scratch, err) < 0)
		return -1;
	request.project = doctor->scratch.project;
	if (context_detect(&doctor->arena, &request, &doctor->context, err) < 0)
		return -1;
	usual = path_join(&doctor->arena, doctor->context.home, ".local/state/berm");
	doctor->copies = doctor->context.state_directory;
	if (strcmp(usual, doctor->context.state_directory) == 0)
		doctor->state_directory = usual;
	doctor->context.state_directory = doctor->scratch.state;
	doctor->context.working_directory = NULL;
	world->project = doctor->context.project;
	world->outside = doctor->scratch.outside;
	world->readable = doctor->scratch.readable;
	world->state = doctor->scratch.state;
	world->home = doctor->context.home;
	world->open_files = TRIAL_OPEN_FILES;
	world->processes = TRIAL_PROCESSES;
	return 0;
}

/* Makes the plan for the tier that this machine allows. Scans it in the landlock tier, where the
 * project's files decide. */
static int make_plan_here(struct doctor *doctor, struct error *err)
{
	struct error ignored = { 0 };
	if (make_plan(doctor, err) < 0)
		return -1;
	if (backend_tier(&doctor->plan, &ignored) == TIER_FULL)
		return 0;
	doctor->context.tier = TIER_LANDLOCK;
	doctor->policy = (struct policy){ 0 };
	return make_plan(doctor, err) < 0 ? -1 : plan_scan(&doctor->plan, err);
}

/* Adds the kind of copies that --copy can make, tried with the scratch project. */
static void examine_copies(struct doctor *doctor)
{
	struct arena *arena = doctor->plan.arena;
	struct copy_outlook outlook;
	copy_foresee(arena, doctor->copies, doctor->plan.context.project, &outlook);
	*(struct machine_fact *)arena_push(arena, &doctor->machine) = (struct machine_fact){
		.name = "copies",
		.value = !outlook.reason ? "overlay"
					 : arena_printf(arena, "%s: %s",
							outlook.is_too_large ? "none" : "full copies of small projects only",
							outlook.reason),
	};
}

static int examine(struct doctor *doctor, struct error *err)
{
	struct progress progress;

	if (make_world(doctor, err) < 0 || make_plan_here(doctor, err) < 0)
		return -1;
	backend_examine(&doctor->plan, doctor->state_directory, doctor->states, &doctor->machine);
	examine_copies(doctor);
	progress_begin(&progress, "testing the guarantees in a sandbox");
	doctor_try(&doctor->plan, &doctor->scratch, &doctor->world, &doctor->result);
	progress_end(&progress);
	return 0;
}

static int report(const struct doctor *doctor, const struct options *options)
{
	struct doctor_report findings = { .plan = &doctor->plan,
					  .states = doctor->states,
					  .machine = &doctor->machine,
					  .result = &doctor->result,
					  .is_verbose = options->is_verbose };
	struct text out = { .width = report_width(stdout) };
	int status;
	doctor_judge(&findings);
	status = doctor_exit_code(&findings);
	if (options->wants_json) {
		doctor_json(&findings, &out);
		fputs(out.data, stdout);
	} else {
		doctor_print(&findings, &out);
		report_mark(status == DOCTOR_HOLDS ? MARK_GOOD : status == DOCTOR_WEAKER ? MARK_WEAKER : MARK_BAD);
		report_page(out.data);
	}
	text_free(&out);
	return status;
}

/* Blocks signals that would end berm until the scratch directory is removed. */
static int diagnose(const struct options *options)
{
	struct doctor doctor = { 0 };
	struct error err = { 0 }, cleaning = { 0 };
	sigset_t waiting, before;
	int status;

	sigemptyset(&waiting);
	sigaddset(&waiting, SIGINT);
	sigaddset(&waiting, SIGTERM);
	sigaddset(&waiting, SIGHUP);
	sigaddset(&waiting, SIGQUIT);
	sigprocmask(SIG_BLOCK, &waiting, &before);
	status = examine(&doctor, &err);
	if (doctor_scratch_remove(&doctor.scratch, &cleaning) < 0)
		report_error(&cleaning);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (status == 0)
		status = report(&doctor, options);
	else
		status = doctor.diagnostics.count ? report_diagnostics(&doctor.diagnostics) : report_error(&err);
	arena_free(&doctor.arena);
	return status;
}

int cmd_doctor_attempts(int argc, char **argv)
{
	int lingering = 0;
	struct doctor_world world = { .lingering = &lingering };
	if (!doctor_world_parse(argc, argv, &world))
		return EXIT_REFUSED;
	signal(SIGURG, SIG_IGN);
	signal(SIGWINCH, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IONBF, 0);
	for (size_t i = 0; i < attempt_count; i++)
		printf("%s %d\n", attempt_table[i].name, attempt_table[i].attempt(&world));
	printf("lingers %d\n", lingering);
	return 0;
}

/* Installs or removes the AppArmor profile. */
static int change_profile(struct arena *arena, int (*change)(struct arena *, const char **, struct error *))
{
	struct error err = { 0 };
	const char *done;
	if (change(arena, &done, &err) < 0)
		return report_error(&err);
	puts(done);
	return 0;
}

int cmd_doctor(int argc, char **argv)
{
	struct arena arena = { 0 };
	struct options options = { 0 };
	struct error err = { 0 };
	int rest, status;

	if (options_parse(&arena, COMMAND_DOCTOR, argc, argv, &options, &rest, &err) < 0)
		return report_error(&err);
	if (options.wants_help)
		return print_help();
	if (rest < argc) {
		error_set(&err, "`berm doctor` takes no arguments: %s", argv[rest]);
		return report_error(&err);
	}
	if (options.wants_apparmor && options.wants_no_apparmor) {
		error_set(&err, "--install-apparmor excludes --remove-apparmor");
		status = report_error(&err);
	} else if (options.wants_apparmor || options.wants_no_apparmor) {
		status = change_profile(&arena, options.wants_apparmor ? backend_install_profile : backend_remove_profile);
	} else {
		status = diagnose(&options);
	}
	arena_free(&arena);
	return status;
}
