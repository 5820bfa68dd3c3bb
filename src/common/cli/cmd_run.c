/* SPDX-License-Identifier: Apache-2.0 */
/* `berm run` and `berm -c`, and run_command, which every subcommand that runs a command uses:
 * policy, plan, backend. Failures before the command starts are reported here (exit status 125). */
#include "common/cli/commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/backend.h"
#include "common/base/descriptors.h"
#include "common/cli/progress.h"
#include "common/cli/session.h"
#include "common/base/text.h"
#include "common/policy/file.h"
#include "common/scan/scan.h"
#include "common/cli/run_copy.h"
#include "common/cli/run_joined.h"
#include "common/cli/run_notices.h"
#include "common/cli/run_record.h"
#include "common/cli/run_report.h"
#include "common/cli/run_sweep.h"
#include "common/state/trust.h"
#include "macos/profile/advice.h"

enum { MOVED_MAX = 3 }; /* attempts while paths of the project change */

static int print_help(void)
{
	return report_help("berm run [options] [--] COMMAND [ARGUMENT...]\n"
			   "berm -c STRING [NAME [ARGUMENT...]]   run a shell command line\n\n"
			   "Runs one command in a sandbox that the policy describes.\n",
			   COMMAND_RUN,
			   "Exit status: the command's own; 128+N if signal N ended it; 127 not found;\n"
			   "126 not executable; 125 refused, nothing ran; 124 time limit; 123 ended by berm.\n");
}

/* One run, in one or more attempts. */
struct run {
	struct session *session;
	struct scan_results results;
	struct sweep sweep;
	struct sweep_report left; /* of earlier runs that never finished */
	struct run_record record;
	char *const *command;
	struct run_copy_state copy;
	struct printed printed;
	struct run_notices notices;
	int moved; /* attempts that ended with RUN_MOVED */
	struct error host_refusal; /* of the full tier; not set if the host did not refuse it */
};

static int print_plan(const struct session *session, const struct guarantee_state *states)
{
	struct text out = { .width = report_width(stdout) };
	plan_print(&session->plan, states, session->options.is_verbose, &out);
	report_page(out.data);
	text_free(&out);
	return 0;
}

/* A trusted policy that is absent in a writable directory loses its trust: the command could create
 * it again, with the content that was trusted. Where the guard refuses that, or only a copy can
 * change, the trust stays. */
static void drop_absent(struct session *session)
{
	if (session->plan.is_guarded || plan_is_only_copy(&session->plan))
		return;
	for (size_t i = 0; i < session->absent.count; i++) {
		struct error err = { 0 };
		const char *path = session->absent.items[i], *shown = text_visible(&session->arena, path);
		int count = trust_drop(&session->arena, session->context.state_directory, path, NULL, &err);
		if (count < 0)
			fprintf(stderr, "berm: %s is absent and stays trusted: %s\n", shown, err.message);
		else if (count > 0)
			fprintf(stderr, "berm: %s is absent and no longer trusted\n", shown);
	}
}

/* Takes the plan from the cache, or makes a new one and caches it. */
static int open_plan(struct session *session, struct run_request *request, struct error *err)
{
	/* With -v the plan is made anew: a cached one has no notes. */
	if (!session->options.is_verbose && session_restore(session)) {
		request->prepared = cache_prepared(&session->cache, &request->prepared_size);
	} else {
		if (session_open(session, err) < 0)
			return -1;
		if (backend_prepare(&session->plan, &request->prepared, &request->prepared_size, err) < 0)
			return -1;
		drop_absent(session);
		if (session->options.is_verbose)
			run_report_ignored(session, &((struct run *)request->self)->printed);
		run_report_untrusted(session, &((struct run *)request->self)->printed);
		run_report_unmet(session, &((struct run *)request->self)->printed);
		cache_save(&session->cache, &session->arena, &session->plan, request->prepared, request->prepared_size);
	}
	session->plan.scan = request->results;
	return 0;
}

/* Refuses a plan whose guarantees do not satisfy the policy. */
static int judge(const struct plan *plan, struct printed *printed, struct guarantee_state states[GUARANTEE_COUNT],
		 struct error *err)
{
	backend_expect(plan, states);
	if (guarantee_judge(plan->required, plan->accepted_weaker, states, err) < 0)
		return -1;
	run_report_weaker(plan, states, printed->weaker);
	if (plan->context.tier == TIER_LANDLOCK)
		run_report_tier(states, printed);
	return 0;
}

/* Saves the levels of the full tier for run_report_tier. */
static void note_full(const struct plan *plan, struct printed *printed)
{
	struct guarantee_state states[GUARANTEE_COUNT] = { 0 };
	backend_expect(plan, states);
	for (size_t i = 0; i < GUARANTEE_COUNT; i++)
		printed->full[i] = states[i].level;
}

/* Files of an earlier run may be moved only by a valid plan. */
static int check_plan(void *self, struct error *err)
{
	struct session *session = self;
	return cache_verify(&session->cache, &session->arena) ? 0 : error_set(err, "the cached plan is outdated");
}

/* Called by the backend while the sandbox is being built. What a killed run left is swept first:
 * otherwise the scan would take it for the host's. */
static int scan(void *self, struct scan_results *results, struct error *err)
{
	struct run *run = self;
	struct session *session = run->session;
	struct progress progress;
	int status;

	*results = plan_not_scanned; /* those of an earlier attempt are gone */
	run->left = (struct sweep_report){ 0 };
	status = sweep_leftovers(&run->sweep, &session->plan, check_plan, session, &run->left, err);
	if (status < 0)
		return -1;
	run_sweep_report(&session->plan, &run->left);
	progress_begin(&progress, "searching the project");
	status = scan_project(&session->plan, cache_index(&session->cache), results, err);
	progress_end(&progress);
	cache_commit_index(&session->cache, status == 0);
	return status;
}

/* A session that could not be joined has the record begun already. The process that holds a session
 * was forked with the client's record, and has its own. */
static int begin_record(struct run *run, const struct guarantee_state *states, struct error *err)
{
	static char words[][8] = { "berm", "session", "start" };
	char *const held[] = { words[0], words[1], words[2], NULL };
	struct session *session = run->session;
	if (session->joining.is_holder)
		run->record = (struct run_record){ 0 };
	if (!run->record.record.has_begun &&
	    run_record_begin(&run->record, session, session->joining.is_holder ? held : run->command, states, &run->left, err) <
		    0)
		return -1;
	/* The next attempt forks. */
	if (session->joining.is_tried)
		record_park(&run->record.record);
	return 0;
}

/* Called by the backend after the scan, before anything runs. In the tier landlock the scan results
 * decide whether the guarantees hold. */
static int confirm(void *self, struct error *err)
{
	struct guarantee_state states[GUARANTEE_COUNT] = { 0 };
	struct run *run = self;
	if (!cache_verify(&run->session->cache, &run->session->arena))
		return error_set(err, "the cached plan is outdated");
	if (judge(&run->session->plan, &run->printed, states, err) < 0 || run_copy_await(&run->copy, err) < 0 ||
	    begin_record(run, states, err) < 0)
		return -1;
	/* A command that changes only a copy leaves nothing to sweep. Its marker is given back:
	 * other runs would leave plants to this one, which sweeps nothing at its end. */
	if (plan_is_only_copy(&run->session->plan))
		sweep_forget(&run->sweep);
	else
		sweep_begin(&run->sweep, &run->session->plan, &run->results);
	return 0;
}

static void write_index(void *self)
{
	struct session *session = ((struct run *)self)->session;
	cache_write_index(&session->cache, &session->arena, session->plan.context.state_directory);
}

static void notice(void *self, const char *sentence)
{
	run_notices_add(&((struct run *)self)->notices, sentence);
}

static void meanwhile(void *self)
{
	run_record_meanwhile(&((struct run *)self)->record);
	write_index(self);
}

/* A caller that may only narrow must keep its own working directory. */
static int refuse_moving(const struct session *session, struct error *err)
{
	if (!session->is_narrowing || session->plan.context.working_directory)
		return 0;
	error_set(err, "the policy hides the current directory");
	return error_hint(err, "`berm plan` shows which directories are visible");
}

/* Names what the program cannot do here before it fails in a way that does not. */
static void advise(const struct session *session, char *const *argv)
{
	const char *advice = advice_for(session->plan.arena, &session->plan, argv);
	if (advice)
		fprintf(stderr, "berm: %s\n", advice);
}

/* Lets the session's owner inspect the plan before anything runs. */
static int show_plan(struct session *session, struct error *err)
{
	if (refuse_moving(session, err) < 0)
		return -1;
	return session->opened ? session->opened(session, err) : 0;
}

/* Every process of the run is dead, or in a session only those that it keeps. */
static void sweep(struct run *run, const struct run_result *result)
{
	struct session *session = run->session;
	struct sweep_report report = { 0 };
	run->sweep.companions = result->was_joined;
	/* Without progress: the command may have left the cursor in the middle of a line. */
	sweep_end(&run->sweep, &session->plan, cache_index_again(&session->cache), result->was_guarded, &report);
	run_sweep_report(&session->plan, &report);
	run_record_sweep(&run->record, &report, false);
}

/* The end of a session. */
static void sweep_held(void *self, const struct run_result *result)
{
	struct run *run = self;
	sweep(run, result);
	(void)run_record_end(&run->record, result, result->exit_code);
}

/* In a session if that is wanted and possible, else in a new sandbox. */
static enum run_outcome launch(struct session *session, struct run_request *request, struct run_result *result,
			       struct error *err)
{
	enum run_outcome outcome = RUN_ELSEWHERE;
	session->joining.is_tried = run_joined_applies(session, request);
	if (session->joining.is_tried)
		outcome = run_joined(session, request, sweep_held, result, err);
	if (outcome != RUN_ELSEWHERE)
		return outcome;
	if (session->joining.mode != JOIN_BY_POLICY)
		return RUN_REFUSED;
	*err = (struct error){ 0 };
	*result = (struct run_result){ 0 };
	return backend_run(&session->plan, request, result, err);
}

/* Makes one attempt in the session's tier. A failure with a cached plan counts only if the plan is
 * still valid. */
static enum run_outcome try_run(struct session *session, struct run_request *request, struct run_result *result,
				struct error *err)
{
	enum run_outcome outcome = RUN_REFUSED;
	bool has_plan = request->prepared != NULL;

	if (!has_plan && open_plan(session, request, err) < 0)
		return RUN_REFUSED;
	advise(session, request->argv);
	if ((has_plan || show_plan(session, err) == 0) &&
	    run_copy_prepare(session, &((struct run *)request->self)->copy, request, err) == 0)
		outcome = launch(session, request, result, err);
	if (outcome == RUN_DONE)
		return outcome;
	run_record_refused(&((struct run *)request->self)->record, err);
	sweep_forget(&((struct run *)request->self)->sweep);
	write_index(request->self); /* nothing has run, but the scan may have succeeded */
	return cache_verify(&session->cache, &session->arena) ? outcome : RUN_STALE;
}

/* True if another attempt must follow; prepares it. */
static bool try_again(struct run *run, enum run_outcome outcome, struct run_request *request, struct error *err)
{
	struct session *session = run->session;
	enum tier tier = session->tier;

	switch (outcome) {
	case RUN_DONE:
	case RUN_REFUSED:
	case RUN_ELSEWHERE:
		return false;
	case RUN_MOVED: /* again with the same plan */
		if (++run->moved == MOVED_MAX)
			return false;
		*err = (struct error){ 0 };
		return true;
	case RUN_NO_OVERLAY: /* again with the same plan and a full copy, once */
		if (error_is_set(&run->copy.no_overlay))
			return false;
		run->copy.no_overlay = *err;
		*err = (struct error){ 0 };
		return true;
	case RUN_STALE: /* again with a new plan */
		break;
	case RUN_HOST_REFUSED: /* again in the lower tier */
		run->host_refusal = *err;
		note_full(&session->plan, &run->printed);
		tier = TIER_LANDLOCK;
		break;
	}
	session_restart(session, tier);
	request->prepared = NULL;
	run->moved = 0;
	*err = (struct error){ 0 };
	return true;
}

/* Tries the full tier first, without a probe: if the host refuses it, nothing has run. */
static int run_attempts(struct run *run, struct run_request *request, struct run_result *result, struct error *err)
{
	enum run_outcome outcome;
	do {
		*result = (struct run_result){ 0 };
		outcome = try_run(run->session, request, result, err);
	} while (try_again(run, outcome, request, err));
	if (outcome == RUN_DONE)
		return 0;
	if (!error_is_set(&run->host_refusal))
		return -1;
	backend_explain(&run->host_refusal);
	return error_hint(err, "in the tier without namespaces, because: %s\n%s", run->host_refusal.message,
			  run->host_refusal.hint);
}

/* bash ends a script at Ctrl-C only if the program it waited for was killed by SIGINT. After an
 * exit status of 130 a loop over `berm run` would go on. Other shells do not distinguish the
 * two. */
static int end_as_interrupted(void)
{
	sigset_t interrupt;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
	sigprocmask(SIG_UNBLOCK, &interrupt, NULL);
	return EXIT_SIGNAL_BASE + SIGINT;
}

static int dry_run(struct session *session)
{
	struct guarantee_state states[GUARANTEE_COUNT] = { 0 };
	struct error err = { 0 };
	if (session_open_here(session, &err) < 0)
		return session->diagnostics.count ? report_diagnostics(&session->diagnostics) : report_error(&err);
	if (show_plan(session, &err) < 0 || progress_scan(&session->plan, &err) < 0)
		return report_error(&err);
	run_copy_note(session);
	backend_probe(&session->plan, states);
	return print_plan(session, states);
}

/* False if the policy requires a record of the run and it is not complete. */
static bool end_record(struct run *run, const struct run_result *result)
{
	bool is_fine = run_record_end(&run->record, result, result->exit_code);
	if (error_is_set(&run->record.problem))
		report_error(&run->record.problem);
	return is_fine;
}

int run_command(struct session *session, char *const *command)
{
	struct error err = { 0 };
	struct run_result result = { 0 };
	struct run run = { .session = session,
			   .command = command,
			   .sweep = { .markers = { .own = { .fd = -1 } }, .loose = -1 } };
	struct run_request request = {
		.argv = command,
		.pass_fds = session->options.pass_fds,
		.pass_fd_count = session->options.pass_fd_count,
		.scan = scan,
		.results = &run.results,
		.confirm = confirm,
		.meanwhile = meanwhile,
		.notice = notice,
		.self = &run,
	};

	if (descriptors_close_others(request.pass_fds, request.pass_fd_count, &err) < 0 ||
	    descriptors_refuse_directories(request.pass_fds, request.pass_fd_count, &err) < 0)
		return report_error(&err);
	if (session->options.is_dry_run)
		return dry_run(session);
	if (run_copy_take_variable(session, &err) < 0)
		return report_error(&err);
	if (run_attempts(&run, &request, &result, &err) < 0) {
		run_copy_forget(&run.copy);
		return session->diagnostics.count ? report_diagnostics(&session->diagnostics) : report_error(&err);
	}
	sweep(&run, &result);
	if (session->ended)
		session->ended(session);
	run_notices_end(&run.notices);
	run_report_result(session, command, &result, &run.printed);
	if (!run_copy_end(session, &run.copy) && result.exit_code == 0)
		result.exit_code = EXIT_ENDED;
	if (!end_record(&run, &result))
		return EXIT_ENDED;
	return result.exit_code == EXIT_SIGNAL_BASE + SIGINT && result.signal == SIGINT ? end_as_interrupted()
											: result.exit_code;
}

int cmd_run(int argc, char **argv)
{
	static struct session session; /* not freed: the process exits after this */
	struct error err = { 0 };
	int rest;

	if (options_parse(&session.arena, COMMAND_RUN, argc, argv, &session.options, &rest, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (rest >= argc && !session.options.is_dry_run) {
		error_set(&err, "no command to run");
		error_hint(&err, "berm run [options] -- COMMAND [ARGUMENT...]");
		return report_error(&err);
	}
	if (!session.options.is_dry_run)
		session.cache.words = session_words(&session.arena, argv, rest, NULL);
	return run_command(&session, argv + rest);
}

int cmd_shell_string(int argc, char **argv)
{
	static struct session session; /* as above */
	struct error err = { 0 };
	char **command;

	if (argc < 2) {
		error_set(&err, "-c needs a command line");
		error_hint(&err, "berm -c 'make test | tee log'");
		return report_error(&err);
	}
	command = arena_alloc(&session.arena, ((size_t)argc + 2) * sizeof *command);
	command[0] = arena_copy(&session.arena, "/bin/sh");
	command[1] = arena_copy(&session.arena, "-c");
	memcpy(command + 2, argv + 1, (size_t)(argc - 1) * sizeof *command);
	/* No options. */
	session.cache.words = arena_alloc(&session.arena, sizeof *session.cache.words);
	return run_command(&session, command);
}
