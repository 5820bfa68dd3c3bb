/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results of a sweep. */
#include "common/cli/run_sweep.h"

#include <stdio.h>
#include <string.h>

#include "common/base/text.h"
#include "common/cli/commands.h"
#include "common/fs/path.h"

enum { LINES_MAX = 20, NAMES_MAX = 6 };

/* Paths of the project are shown without it. */
static const char *shown(const struct plan *plan, const char *path)
{
	const char *project = plan->context.project;
	if (strcmp(path, project) != 0 && path_is_within(path, project))
		path += strlen(project) + 1;
	return text_visible(plan->arena, path);
}

/* With the command that completes it outside. */
static void print_left(const struct plan *plan, const struct sweep_item *item)
{
	struct text word = { 0 };
	/* A name that cannot be shown as it is would not be that of the command. */
	if (strcmp(text_visible(plan->arena, item->path), item->path) == 0)
		text_add_shell_word(&word, item->path);
	fprintf(stderr, "berm: %s: %s; outside berm: rm -r -- %s\n", shown(plan, item->path), item->reason,
		word.data ? word.data : "that directory");
	text_free(&word);
}

static void print_item(const struct plan *plan, const struct sweep_item *item)
{
	const char *path = shown(plan, item->path);
	if (item->verdict == SWEEP_STAYS)
		fprintf(stderr, "berm: new, and not made by the command: %s\n", path);
	else if (item->verdict == SWEEP_OPENED)
		fprintf(stderr, "berm: made readable again: %s: %s\n", path, item->reason);
	else if (item->verdict == SWEEP_LEFT)
		print_left(plan, item);
	else if (item->verdict == SWEEP_QUARANTINE)
		fprintf(stderr, "berm: moved to quarantine: %s: %s (to undo: berm quarantine restore %s)\n", path, item->reason,
			item->id);
	else if (item->verdict == SWEEP_EDIT)
		fprintf(stderr, "berm: made comments of lines in %s: %s (to undo: berm quarantine restore %s)\n", path,
			item->reason, item->id);
	else
		fprintf(stderr, "berm: put back the text of %s: %s (what it was: berm quarantine show %s)\n", path,
			item->reason, item->id);
}

/* One line for everything that stays where it is. */
static void print_reported(const struct plan *plan, const struct sweep_report *report)
{
	struct text names = { 0 };
	size_t count = 0;
	for (size_t i = 0; i < report->count; i++)
		if (report->items[i].verdict == SWEEP_REPORT && count++ < NAMES_MAX)
			text_add(&names, "%s%s", count > 1 ? ", " : "", shown(plan, report->items[i].path));
	if (count > NAMES_MAX)
		text_add(&names, " and %zu more", count - NAMES_MAX);
	if (count > 0)
		fprintf(stderr, "berm: new, and obeyed by programs that are used there: %s\n", names.data);
	text_free(&names);
}

void run_sweep_report(const struct plan *plan, const struct sweep_report *report)
{
	size_t lines = 0;
	for (size_t i = 0; i < report->count; i++) {
		const struct sweep_item *item = &report->items[i];
		if (error_is_set(&item->failure))
			report_error(&item->failure);
		else if (item->verdict != SWEEP_REPORT && lines++ < LINES_MAX)
			print_item(plan, item);
	}
	if (lines > LINES_MAX)
		fprintf(stderr, "berm: and %zu more: berm quarantine list\n", lines - LINES_MAX);
	print_reported(plan, report);
	if (error_is_set(&report->problem))
		report_error(&report->problem);
}
