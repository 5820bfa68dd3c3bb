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
#include "common/cli/network_advice.h"
#include "common/cli/program_hints.h"
#include "common/cli/progress.h"
#include "common/cli/repaired.h"
#include "common/cli/session.h"
#include "common/base/text.h"
#include "common/policy/file.h"
#include "common/scan/scan.h"
#include "common/cli/hidden_advice.h"
#include "common/cli/run_beside.h"
#include "common/cli/run_copy.h"
#include "common/cli/run_joined.h"
#include "common/cli/run_notices.h"
#include "common/cli/run_record.h"
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

/* Messages that were already printed, so that an attempt in a lower tier does not repeat them. */
struct printed {
	const char *weaker[GUARANTEE_COUNT]; /* the reasons */
	enum level full[GUARANTEE_COUNT]; /* of the full tier, which the host refused */
	bool has_tier, has_untrusted, has_unmet;
};

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

/* Weaker guarantees need explicit consent and are reported on every run. */
static void report_weaker(const struct plan *plan, const struct guarantee_state *states, const char *printed[GUARANTEE_COUNT])
{
	for (size_t i = 0; i < GUARANTEE_COUNT; i++) {
		enum guarantee guarantee = (enum guarantee)i;
		const char *reason = states[i].reason ? states[i].reason : "no reason given";
		if (!plan->accepted_weaker[i] || !guarantee_falls_short(plan->required[i], states[i].level) ||
		    (printed[i] && strcmp(printed[i], reason) == 0))
			continue;
		fprintf(stderr, "berm: weaker, as accepted: %s is %s (%s)\n", guarantee_table[i].name,
			level_name(guarantee, states[i].level), text_visible(plan->arena, reason));
		printed[i] = reason;
	}
}

/* Reports a run in the lower tier: it satisfies the policy, but its guarantees are weaker than
 * those of the full tier. */
static void report_tier(const struct guarantee_state *states, struct printed *printed)
{
	struct text names = { 0 };
	for (size_t i = 0; i < GUARANTEE_COUNT; i++)
		if (!printed->weaker[i] && guarantee_falls_short(printed->full[i], states[i].level))
			text_add(&names, "%s%s %s", names.length > 0 ? ", " : "", guarantee_table[i].name,
				 level_name((enum guarantee)i, states[i].level));
	if (!printed->has_tier)
		fprintf(stderr, "berm: tier landlock, as this host refuses the full one%s%s (see berm doctor)\n",
			names.length > 0 ? ": " : "", names.length > 0 ? names.data : "");
	printed->has_tier = true;
	text_free(&names);
}

/* Prints one line; with -v one more for each destination. */
static void report_refused(const struct refusals *refused, bool is_verbose)
{
	struct text out = { 0 };
	refusals_summary(refused, &out);
	if (out.length > 0)
		report_line(out.data);
	text_free(&out);
	if (!is_verbose || refusals_total(refused) == 0)
		return;
	out = (struct text){ 0 };
	refusals_details(refused, &out);
	fputs(out.data, stderr);
	text_free(&out);
}

static void report_repaired(const struct session *session, const struct repair_report *report)
{
	struct text out = { 0 };
	char *rest, *line;
	repaired_describe(report, session->plan.context.project, session->options.is_verbose, session->plan.arena, &out);
	rest = out.data;
	while ((line = strsep(&rest, "\n")) && *line)
		fprintf(stderr, "berm: %s\n", line);
	text_free(&out);
}

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

static void report_untrusted(const struct session *session)
{
	const char *project = session->plan.context.project;
	const char *directory = session->options.project ? project : "";
	fprintf(stderr, "berm: %s/" POLICY_FILE_NAME " is not trusted, ignored: %s (to see it: berm trust%s%s)\n",
		text_visible(session->plan.arena, project), session->plan.untrusted, *directory ? " " : "",
		text_visible(session->plan.arena, directory));
}

/* Reports an untrusted policy once per content. With a cached plan the content is known. */
static void report_new_untrusted(struct session *session, struct printed *printed)
{
	const struct session_project_file *file = &session->project_file;
	const char *state = session->context.state_directory;

	if (!session->plan.untrusted || printed->has_untrusted || !file->path ||
	    trust_was_shown(&session->arena, state, file->path, file->content))
		return;
	report_untrusted(session);
	printed->has_untrusted = true;
	trust_note_shown(&session->arena, state, file->path, file->content);
}

/* With -v: every rule that did not count. */
static void report_ignored(const struct session *session, struct printed *printed)
{
	const struct plan_notes *notes = &session->plan.notes;
	for (size_t i = 0; i < notes->count; i++) {
		const struct rule *rule = notes->items[i].rule;
		if (notes->items[i].kind != NOTE_IGNORED || !rule)
			continue;
		fprintf(stderr, "berm: %s", text_visible(session->plan.arena, rule->origin.source));
		if (rule->origin.line)
			fprintf(stderr, ":%u:%u", rule->origin.line, rule->origin.column);
		fprintf(stderr, ": %s\n", text_visible(session->plan.arena, notes->items[i].text));
	}
	if (session->plan.untrusted && !printed->has_untrusted)
		report_untrusted(session);
	printed->has_untrusted = true;
}

static void report_unmet(const struct session *session)
{
	const char *line = session->plan.unmet;
	while (*line) {
		size_t length = strcspn(line, "\n");
		fprintf(stderr, "berm: %.*s\n", (int)length, line);
		line += length + (line[length] == '\n');
	}
}

/* Reports grants that grant nothing, once for each content of the policies; with -v always. */
static void report_new_unmet(struct session *session, struct printed *printed)
{
	const char *state = session->context.state_directory, *project = session->context.project;
	char content[SHA256_HEX + 1];

	if (!session->plan.unmet || printed->has_unmet)
		return;
	trust_hash(session->plan.unmet, strlen(session->plan.unmet), content);
	if (!session->options.is_verbose && trust_was_shown(&session->arena, state, project, content))
		return;
	report_unmet(session);
	printed->has_unmet = true;
	trust_note_shown(&session->arena, state, project, content);
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
			report_ignored(session, &((struct run *)request->self)->printed);
		report_new_untrusted(session, &((struct run *)request->self)->printed);
		report_new_unmet(session, &((struct run *)request->self)->printed);
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
	report_weaker(plan, states, printed->weaker);
	if (plan->context.tier == TIER_LANDLOCK)
		report_tier(states, printed);
	return 0;
}

/* Saves the levels of the full tier for report_tier. */
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

/* Returns the path as the user would write it in files.write. */
static const char *shown_in(const struct plan *plan, const char *path)
{
	const char *project = plan->context.project;
	if (path_is_within(path, project) && strcmp(path, project) != 0)
		path += strlen(project) + 1;
	return text_visible(plan->arena, path);
}

/* Prints one line about the names that the guard has refused. */
static void report_refused_names(const struct plan *plan, const struct run_refused_names *names)
{
	struct text out = { 0 };
	const char *liftable = NULL;
	for (size_t i = 0; i < names->count; i++) {
		const char *obeyed_by = names->items[i].obeyed_by;
		text_add(&out, "%s%s", i > 0 ? ", " : "", shown_in(plan, names->items[i].path));
		text_add(&out, obeyed_by[0] ? " (obeyed by %s)" : " (protected by your policy%s)", obeyed_by);
		if (!liftable && names->items[i].is_liftable)
			liftable = shown_in(plan, names->items[i].path);
	}
	if (names->count > 0)
		fprintf(stderr, "berm: not created: %s%s%s%s\n", out.data,
			names->count == RUN_REFUSED_MAX ? " and perhaps others" : "",
			liftable ? "; to allow one: --allow-write=" : "", liftable ? liftable : "");
	text_free(&out);
}

/* git itself reports only that a file is busy or read-only, and may exit with 0: `git branch -D`
 * deletes the branch and then fails to remove its entry from the configuration. */
static void report_git_refused(unsigned refused, int exit_code)
{
	struct error err = { 0 };
	if ((refused & GIT_REFUSED_CONFIG) && exit_code == 0) {
		error_set(&err, "the command succeeded; only git's entry in .git/config was not written, because that file is "
				"locked; there is nothing to repeat (upstream branches and remotes are set outside berm)");
		report_error(&err);
	} else if (refused & GIT_REFUSED_CONFIG) {
		error_set(&err,
			  "git could not change .git/config: it is locked, as hooks are, because git on the host obeys it; "
			  "do not retry, ask the user to run that git command outside berm");
		report_error(&err);
	}
	if (refused & GIT_REFUSED_BESIDE) {
		error_set(&err, "git could not make a directory outside of the project, where everything is read-only here; "
				"in the project it works, and in a directory that the user makes and allows: mkdir ../trees, "
				"--allow-write=../trees, git worktree add ../trees/NAME");
		report_error(&err);
	}
	if (refused & GIT_REFUSED_FILES) {
		error_set(&err, "the checkout is incomplete: git could not replace files that are hidden or protected here; "
				"`git status` outside berm lists them, and `git checkout -- FILE` there completes it");
		report_error(&err);
	}
}

/* The proxy's own reports explain more than the guess that follows without them. */
static void report_network(const struct plan *plan, char *const *command, const struct run_result *result)
{
	struct text failure = { 0 };
	struct error err = { 0 };
	if (result->refused && result->exit_code != 0)
		refusals_failure(result->refused, &failure);
	if (failure.length > 0)
		fprintf(stderr, "berm: %s\n", failure.data);
	else if (result->has_tried_network && !(result->refused && refusals_total(result->refused) > 0)) {
		network_advice(plan, command, &err);
		report_error(&err);
	}
	text_free(&failure);
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

/* A program that was not found has its own message; the hint adds that it would not work. */
static void report_program(const struct plan *plan, char *const *command, const struct run_result *result)
{
	bool is_explained = error_is_set(&result->ended) && result->exit_code != EXIT_NOT_FOUND;
	const char *hint = NULL;
	if (result->exit_code != 0 && !is_explained)
		hint = program_hint(command, plan_setting(plan, SETTING_NESTING));
	if (hint)
		report_line(hint);
}

/* A file that is hidden is a cause only where nothing else explains the failure. */
static void report_hidden(const struct session *session, char *const *command, const struct run_result *result)
{
	const char *advice, *state = session->plan.context.state_directory, *project = session->plan.context.project;
	struct arena *arena = session->plan.arena;
	char content[SHA256_HEX + 1];
	bool is_named;

	if (result->exit_code == 0 || result->exit_code >= EXIT_ENDED || error_is_set(&result->ended) ||
	    result->has_tried_network || result->git_refused || result->refused_names.count > 0 ||
	    (result->refused && refusals_total(result->refused) > 0) ||
	    program_hint(command, plan_setting(&session->plan, SETTING_NESTING)))
		return;
	advice = hidden_advice(&session->plan, command, &is_named);
	if (!advice)
		return;
	/* Each time if the command names the file; otherwise once for each set of names. */
	trust_hash(advice, strlen(advice), content);
	if (!is_named && trust_was_shown(arena, state, project, content))
		return;
	report_line(advice);
	trust_note_shown(arena, state, project, content);
}

/* Reports what the run left to say, after the command's own output. */
static void report_result(const struct session *session, char *const *command, const struct run_result *result,
			  const struct printed *printed)
{
	if (result->repaired)
		report_repaired(session, result->repaired);
	if (result->refused)
		report_refused(result->refused, session->options.is_verbose);
	if (error_is_set(&result->note))
		report_error(&result->note);
	if (result->details && session->options.is_verbose)
		fputs(result->details, stderr);
	report_git_refused(result->git_refused, result->exit_code);
	report_refused_names(&session->plan, &result->refused_names);
	run_beside_report(&session->plan, &result->beside);
	report_network(&session->plan, command, result);
	if (error_is_set(&result->ended))
		report_error(&result->ended);
	report_program(&session->plan, command, result);
	report_hidden(session, command, result);
	if (result->exit_code != 0 && session->plan.untrusted && !printed->has_untrusted)
		report_untrusted(session);
	if (result->exit_code != 0 && session->plan.unmet && !printed->has_unmet)
		report_unmet(session);
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
	report_result(session, command, &result, &run.printed);
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
