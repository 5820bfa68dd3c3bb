/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/run_report.h"

#include <stdio.h>
#include <string.h>

#include "common/base/text.h"
#include "common/cli/commands.h"
#include "common/cli/hidden_advice.h"
#include "common/cli/network_advice.h"
#include "common/cli/program_hints.h"
#include "common/cli/repaired.h"
#include "common/cli/run_beside.h"
#include "common/policy/file.h"
#include "common/state/trust.h"

/* Weaker guarantees need explicit consent and are reported on every run. */
void run_report_weaker(const struct plan *plan, const struct guarantee_state *states, const char *printed[GUARANTEE_COUNT])
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
void run_report_tier(const struct guarantee_state *states, struct printed *printed)
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

static void report_untrusted(const struct session *session)
{
	const char *project = session->plan.context.project;
	const char *directory = session->options.project ? project : "";
	fprintf(stderr, "berm: %s/" POLICY_FILE_NAME " is not trusted, ignored: %s (to see it: berm trust%s%s)\n",
		text_visible(session->plan.arena, project), session->plan.untrusted, *directory ? " " : "",
		text_visible(session->plan.arena, directory));
}

/* Reports an untrusted policy once per content. With a cached plan the content is known. */
void run_report_untrusted(struct session *session, struct printed *printed)
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
void run_report_ignored(const struct session *session, struct printed *printed)
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
void run_report_unmet(struct session *session, struct printed *printed)
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
	const char *advice, *state = session->plan.context.state_directory;
	struct arena *arena = session->plan.arena;
	/* No path: unmet grants of the project have their own note. */
	const char *name = arena_printf(arena, "hidden in %s", session->plan.context.project);
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
	if (!is_named && trust_was_shown(arena, state, name, content))
		return;
	report_line(advice);
	trust_note_shown(arena, state, name, content);
}

/* Reports what the run left to say, after the command's own output. */
void run_report_result(const struct session *session, char *const *command, const struct run_result *result,
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
