/* SPDX-License-Identifier: Apache-2.0 */
/* `berm apply`: the changes of a copy, into the project. */
#include "common/cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "common/base/text.h"
#include "common/cli/copy_command.h"

enum { EXIT_LEFT = 1, SHOWN_MAX = 50 };

static int print_help(void)
{
	return report_help("berm apply [options] [COPY] [--] [PATH...]\n\n"
			   "Applies what a copy changes (default: the copy `default`, or the only one; all\n"
			   "paths). If the project changed one of these files meanwhile, nothing is\n"
			   "applied until each conflict is resolved with --ours or --theirs. Protected and\n"
			   "denied names are never applied. A git directory is applied as a whole. `berm\n"
			   "undo` takes it back. After an apply that was killed, `berm apply` completes\n"
			   "it.\n",
			   COMMAND_APPLY, "Exit status: 0 all applied; 1 something was left; 125 an error.\n");
}

static void add_left(struct session *session, struct text *out, const struct copy_changes *changes)
{
	size_t shown = 0, more = 0;
	for (size_t i = 0; i < changes->count; i++) {
		const struct copy_change *change = &changes->items[i];
		if ((!change->conflict && !change->refused) || copy_is_folded(changes, i))
			continue;
		if (shown++ < SHOWN_MAX)
			copy_add_marks(&session->arena, out, change, true, "  ");
		else
			more++;
	}
	if (more > 0)
		text_add(out, "  and %zu more: berm diff --stat\n", more);
}

static int report_conflicts(struct session *session, const struct copy_changes *changes, const struct copy_report *report)
{
	struct text out = { 0 };
	add_left(session, &out, changes);
	text_add(&out,
		 "  keep the project's version: berm apply --ours=PATH   |   take the copy's: berm apply --theirs=PATH\n");
	fprintf(stderr, "berm: nothing was applied: %zu conflict%s\n%s", report->conflicts, report->conflicts == 1 ? "" : "s",
		out.data);
	text_free(&out);
	return EXIT_LEFT;
}

static void print_dry_run(struct session *session, const struct copy_changes *changes)
{
	for (size_t i = 0; i < changes->count; i++)
		if (changes->items[i].is_chosen)
			printf("%c  %s\n", copy_letter(&changes->items[i]),
			       text_visible(&session->arena, changes->items[i].path));
}

static int report_applied(struct session *session, const struct copy *copy, const struct copy_changes *changes,
			  const struct copy_report *report)
{
	struct text out = { 0 };

	if (session->options.is_dry_run)
		print_dry_run(session, changes);
	else if (report->applied > 0)
		printf("applied %zu change%s of copy '%s'%s; undo %llu: berm undo\n", report->applied,
		       report->applied == 1 ? "" : "s", copy->name, report->is_copied ? " by copying" : "",
		       (unsigned long long)report->number);
	else
		printf("nothing to apply in copy '%s'\n", copy->name);
	fflush(stdout);
	if (report->skipped > 0)
		fprintf(stderr, "berm: %zu change%s stay%s in the copy\n", report->skipped, report->skipped == 1 ? "" : "s",
			report->skipped == 1 ? "s" : "");
	if (report->refused == 0)
		return 0;
	add_left(session, &out, changes);
	fprintf(stderr, "berm: %zu change%s not applied\n%s", report->refused, report->refused == 1 ? "" : "s", out.data);
	text_free(&out);
	return EXIT_LEFT;
}

/* Completes an interrupted apply. Returns 1 if there was one, 0 if not, -1 with err. */
static int resume(struct session *session, const struct copy *copy, struct error *err)
{
	struct copy_report report;
	int found = session->options.is_dry_run ? 0 : copy_resume(&session->arena, copy, &report, err);
	if (found == 1)
		printf("completed the interrupted apply of copy '%s'; undo %llu: berm undo\n", copy->name,
		       (unsigned long long)report.number);
	return found;
}

static int resolve_paths(struct session *session, struct option_paths *paths, struct error *err)
{
	for (size_t i = 0; i < paths->count; i++) {
		paths->items[i] = copy_project_path(session, paths->items[i], err);
		if (!paths->items[i])
			return -1;
	}
	return 0;
}

static int apply(struct session *session, struct copy_words *words, const struct copy *copy, struct error *err)
{
	struct options *options = &session->options;
	struct copy_apply_options wanted;
	struct copy_changes changes;
	struct copy_report report;
	struct copy_judge judge;

	if (copy_project_paths(session, words->items, words->count, err) < 0 ||
	    resolve_paths(session, &options->ours, err) < 0 || resolve_paths(session, &options->theirs, err) < 0 ||
	    resume(session, copy, err) < 0)
		return -1;
	wanted = (struct copy_apply_options){
		.paths = words->items,
		.path_count = words->count,
		.ours = options->ours.items,
		.ours_count = options->ours.count,
		.theirs = options->theirs.items,
		.theirs_count = options->theirs.count,
		.is_dry_run = options->is_dry_run,
		.is_forced = options->is_forced,
		.keep = (size_t)plan_setting(&session->plan, SETTING_UNDO_KEEP),
		.keep_bytes = plan_setting(&session->plan, SETTING_UNDO_SIZE),
	};
	if (copies_judge_open(session, copy, &judge, err) < 0 ||
	    copy_list_changes(&session->arena, copy, &judge, &changes, err) < 0 ||
	    copy_apply(&session->arena, copy, &changes, &wanted, &report, err) < 0)
		return -1;
	return report.conflicts > 0 ? report_conflicts(session, &changes, &report)
				    : report_applied(session, copy, &changes, &report);
}

int cmd_apply(int argc, char **argv)
{
	struct session session = { 0 };
	struct copy copy = { .fd = -1, .state = -1 };
	struct copy_words words;
	struct error err = { 0 };
	int status;

	if (copy_words_parse(&session, COMMAND_APPLY, argc, argv, &words, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (arguments_refuse_inside("only the user applies a copy", &err) < 0)
		return report_error(&err);
	if (session_open_here(&session, &err) < 0)
		return session.diagnostics.count ? report_diagnostics(&session.diagnostics) : report_error(&err);
	status = copy_open_named(&session, &words, &copy, &err);
	if (status == 0)
		status = apply(&session, &words, &copy, &err);
	if (status < 0)
		status = report_error(&err);
	copy_close(&copy);
	session_close(&session);
	return status;
}
