/* SPDX-License-Identifier: Apache-2.0 */
/* `berm run` and `berm -c`, and what every other way of running a command comes to: policy → plan → backend. Whatever goes wrong before the command starts is told here, exit 125. */
#include "common/cli/commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/backend.h"
#include "common/base/descriptors.h"
#include "common/cli/session.h"
#include "common/base/text.h"

enum { LAUNCH_ATTEMPTS = 3 };

static int print_help(void)
{
	struct text out = { 0 };
	text_add(&out, "berm run [options] [--] COMMAND [ARGUMENT...]\n"
		       "berm -c STRING [NAME [ARGUMENT...]]   run a shell command line\n\n"
		       "Runs one command behind the wall that the policy describes.\n\n");
	options_help(COMMAND_RUN, &out);
	text_add(&out, "\nExit status: the command's own; 128+N if signal N ended it; 127 not found;\n"
		       "126 not executable; 125 berm refused, nothing ran; 124 time limit;\n"
		       "123 ended by berm.\n");
	fputs(out.data, stdout);
	text_free(&out);
	return 0;
}

/* What the user was told of this run, so that an attempt in a lower tier says only what is new. */
struct told {
	const char *weaker[GUARANTEE_COUNT]; /* the reasons */
	enum level full[GUARANTEE_COUNT]; /* what the full tier would have given */
	bool is_tier_told;
};

/* A weaker run is only ever explicit, and said every time. */
static void say_weaker(const struct plan *plan, const struct guarantee_state *states, const char *said[GUARANTEE_COUNT])
{
	for (size_t i = 0; i < GUARANTEE_COUNT; i++) {
		enum guarantee guarantee = (enum guarantee)i;
		const char *reason = states[i].reason ? states[i].reason : "no reason given";
		if (!plan->accepted_weaker[i] || !guarantee_falls_short(plan->required[i], states[i].level) ||
		    (said[i] && strcmp(said[i], reason) == 0))
			continue;
		fprintf(stderr, "berm: weaker, as accepted: %s is %s (%s)\n", guarantee_table[i].name,
			level_name(guarantee, states[i].level), text_visible(plan->arena, reason));
		said[i] = reason;
	}
}

/* What the policy asks for holds, but less than elsewhere: nobody should have to find that out by chance. */
static void say_tier(const struct guarantee_state *states, struct told *told)
{
	struct text names = { 0 };
	for (size_t i = 0; i < GUARANTEE_COUNT; i++)
		if (!told->weaker[i] && guarantee_falls_short(told->full[i], states[i].level))
			text_add(&names, "%s%s %s", names.length > 0 ? ", " : "", guarantee_table[i].name,
				 level_name((enum guarantee)i, states[i].level));
	if (!told->is_tier_told)
		fprintf(stderr, "berm: tier landlock, as this host refuses the full one%s%s (see berm doctor)\n",
			names.length > 0 ? ": " : "", names.length > 0 ? names.data : "");
	told->is_tier_told = true;
	text_free(&names);
}

/* One line at the end; with -v one for each destination. */
static void say_refused(const struct egress_reports *refused, bool is_verbose)
{
	struct text out = { 0 };
	egress_summary(refused, &out);
	if (out.length > 0)
		fprintf(stderr, "berm: %s\n", out.data);
	text_free(&out);
	if (!is_verbose || egress_reports_total(refused) == 0)
		return;
	out = (struct text){ 0 };
	egress_details(refused, &out);
	fputs(out.data, stderr);
	text_free(&out);
}

static int print_plan(const struct session *session, const struct guarantee_state *states)
{
	struct text out = { 0 };
	plan_print(&session->plan, states, session->options.is_verbose, &out);
	fputs(out.data, stdout);
	text_free(&out);
	return 0;
}

/* Not where somebody looks at the plan first, and perhaps asks the user: a sandbox would wait for the answer. */
static void begin(struct session *session, struct run_request *request)
{
	if (!session->opened && session_guess(session))
		request->begun = backend_begin(&session->arena);
}

static void abandon(struct run_request *request)
{
	backend_abandon(request->begun);
	request->begun = NULL;
}

/* The stored plan if there is one, else a new one. */
static int open_plan(struct session *session, struct run_request *request, struct error *err)
{
	begin(session, request);
	if (session_find(session) && session_restore(session)) {
		request->prepared = session->loaded.blob;
		request->prepared_size = session->loaded.blob_size;
		return 0;
	}
	abandon(request);
	if (session_open(session, err) < 0)
		return -1;
	if (backend_prepare(&session->plan, &request->prepared, &request->prepared_size, err) < 0)
		return -1;
	session_keep(session, request->prepared, request->prepared_size);
	return 0;
}

/* The refusal rule, before anything runs. */
static int judge(const struct plan *plan, struct told *told, struct error *err)
{
	struct guarantee_state states[GUARANTEE_COUNT] = { 0 };
	backend_expect(plan, states);
	if (guarantee_judge(plan->required, plan->accepted_weaker, states, err) < 0)
		return -1;
	say_weaker(plan, states, told->weaker);
	if (plan->context.tier == TIER_LANDLOCK)
		say_tier(states, told);
	return 0;
}

/* What the full tier would have been, which the host refuses. */
static void note_full(const struct plan *plan, struct told *told)
{
	struct guarantee_state states[GUARANTEE_COUNT] = { 0 };
	backend_expect(plan, states);
	for (size_t i = 0; i < GUARANTEE_COUNT; i++)
		told->full[i] = states[i].level;
}

struct attempt {
	struct session *session;
	struct told told;
};

/* With the index of earlier launches, once: where something moved while it was searched, all of it is searched. */
static int scan(struct attempt *attempt, struct plan *plan, struct error *err)
{
	struct walk_store *walks = &attempt->session->loaded.walks;
	int status = plan_scan_again(plan, walk_store_memory(walks), err);
	walk_store_settle(walks, status == 0);
	return status;
}

/* The index of what was found. */
static void keep_index(struct session *session)
{
	walk_store_write(&session->loaded.walks, &session->arena, session->plan.context.state_directory);
}

/* While the command starts: what makes the next launch faster. */
static void remember(void *self)
{
	struct session *session = ((struct attempt *)self)->session;
	session_learn(session, session_could_begin(session));
	keep_index(session);
}

/* While the sandbox is being made. */
static int complete(void *self, struct plan *plan, struct error *err)
{
	return scan(self, plan, err);
}

/* While what was found is being hidden. Without mounts it decides whether there may be a run at all. */
static int confirm(void *self, struct plan *plan, struct error *err)
{
	struct attempt *attempt = self;
	if (!session_confirm(attempt->session))
		return error_set(err, "the stored plan does not hold any more");
	return judge(plan, &attempt->told, err);
}

/* What is hidden is looked for and then mounted over; where something moved in between, both are done again. */
static int scan_and_run(struct plan *plan, struct run_request *request, struct run_result *result, struct error *err)
{
	for (int attempt = 1;; attempt++) {
		if (backend_run(plan, request, result, err) == 0)
			return 0;
		request->begun = NULL; /* ended */
		keep_index(((struct attempt *)request->self)->session); /* nothing has run, but the search was done */
		if (err->number != EAGAIN || attempt == LAUNCH_ATTEMPTS)
			return -1;
	}
}

/* Where nothing may be widened the command must also not find itself in another directory than its caller's. */
static int refuse_moving(const struct session *session, struct error *err)
{
	if (!session->is_narrowing || session->plan.context.working_directory)
		return 0;
	error_set(err, "the policy hides the current directory");
	return error_hint(err, "berm plan says what is visible");
}

/* Whoever made the session looks at the plan before anything runs. */
static int show_plan(struct session *session, struct error *err)
{
	if (refuse_moving(session, err) < 0)
		return -1;
	return session->opened ? session->opened(session, err) : 0;
}

/* In the session's tier. Whatever fails under a stored plan counts only if that still holds; else all is done again with a new one. */
static int open_and_run(struct session *session, struct run_request *request, struct run_result *result, struct error *err)
{
	for (;;) {
		if (open_plan(session, request, err) < 0)
			return -1;
		if (show_plan(session, err) == 0 && scan_and_run(&session->plan, request, result, err) == 0)
			return 0;
		abandon(request);
		if (session_confirm(session))
			return -1;
		session_restart(session, session->tier);
		request->prepared = NULL;
		*result = (struct run_result){ 0 };
		*err = (struct error){ 0 };
	}
}

/* The full tier first, without asking beforehand whether it can be had: where the host refuses it nothing has run yet. */
static int run_in_some_tier(struct session *session, struct run_request *request, struct run_result *result, struct error *err)
{
	struct attempt *attempt = request->self;
	struct error why;

	if (open_and_run(session, request, result, err) == 0)
		return 0;
	if (!result->is_refused_by_host)
		return -1;
	why = *err;
	note_full(&session->plan, &attempt->told);
	session_learn(session, false); /* it would be begun in vain */
	session_restart(session, TIER_LANDLOCK);
	request->prepared = NULL;
	*result = (struct run_result){ 0 };
	if (open_and_run(session, request, result, err) == 0)
		return 0;
	backend_explain(&why);
	return error_hint(err, "in the tier without namespaces, because: %s\n%s", why.message, why.hint);
}

/* bash ends a script at Ctrl-C only if the program it waited for died of SIGINT: an exit status of 130 says that the program dealt
 * with it, and a loop over `berm run` would go on. To everybody else both are 130. */
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

/* git says only that the file is busy. */
static void say_git_refused(void)
{
	struct error err = { 0 };
	error_set(&err,
		  "git could not change .git/config: it is locked, as hooks are, because git on the host obeys it; run that "
		  "git command outside berm");
	report_error(&err);
}

/* Programs say "Temporary failure in name resolution" then, as if it were about to pass. */
static void say_network_sought(void)
{
	struct error err = { 0 };
	error_set(&err, "the command seems to have looked for the network, and its policy has none");
	error_hint(&err, "for one destination: berm run --allow-net=HOST:443 -- COMMAND\n"
			 "or network: {allow: [\"HOST:443\"]} in ~/.config/berm/berm.yml");
	report_error(&err);
}

static int dry_run(struct session *session)
{
	struct guarantee_state states[GUARANTEE_COUNT] = { 0 };
	struct error err = { 0 };
	if (session_open_here(session, &err) < 0)
		return session->diagnostics.count ? report_diagnostics(&session->diagnostics) : report_error(&err);
	if (show_plan(session, &err) < 0 || plan_scan(&session->plan, &err) < 0)
		return report_error(&err);
	backend_probe(&session->plan, states);
	return print_plan(session, states);
}

int run_command(struct session *session, char *const *command)
{
	struct error err = { 0 };
	struct run_result result = { 0 };
	struct attempt attempt = { .session = session };
	struct run_request request = {
		.argv = command,
		.pass_fds = session->options.pass_fds,
		.pass_fd_count = session->options.pass_fd_count,
		.complete = complete,
		.confirm = confirm,
		.meanwhile = remember,
		.self = &attempt,
	};

	if (descriptors_close_others(request.pass_fds, request.pass_fd_count, &err) < 0 ||
	    descriptors_refuse_directories(request.pass_fds, request.pass_fd_count, &err) < 0)
		return report_error(&err);
	if (session->options.is_dry_run)
		return dry_run(session);
	if (run_in_some_tier(session, &request, &result, &err) < 0)
		return session->diagnostics.count ? report_diagnostics(&session->diagnostics) : report_error(&err);
	if (result.refused)
		say_refused(result.refused, session->options.is_verbose);
	if (error_is_set(&result.note))
		report_error(&result.note);
	if (result.details && session->options.is_verbose)
		fputs(result.details, stderr);
	if (result.is_git_refused)
		say_git_refused();
	if (result.is_network_sought)
		say_network_sought();
	if (error_is_set(&result.ended))
		report_error(&result.ended);
	return result.exit_code == EXIT_SIGNAL_BASE + SIGINT && result.signal == SIGINT ? end_as_interrupted()
											: result.exit_code;
}

int cmd_run(int argc, char **argv)
{
	static struct session session; /* ends with the process, which is about to */
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
		session.words = session_words(&session.arena, argv, rest, NULL);
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
	session.words = arena_alloc(&session.arena, sizeof *session.words); /* no options */
	return run_command(&session, command);
}
