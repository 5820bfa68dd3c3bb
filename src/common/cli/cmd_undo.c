/* SPDX-License-Identifier: Apache-2.0 */
/* `berm undo`: takes an apply back. */
#include "common/cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "common/base/json_write.h"
#include "common/base/text.h"
#include "common/cli/copy_command.h"

enum { EXIT_CHANGED = 1 };

static int print_help(void)
{
	return report_help("berm undo [options] [N]\n\n"
			   "Takes the last apply back, or that with the number N: the project's files are\n"
			   "as before, and the copy has its changes again. Refuses if one of the files\n"
			   "changed since. The last 20 applies are kept, up to 1 GB. An apply that was\n"
			   "killed is taken back first.\n",
			   COMMAND_UNDO, "Exit status: 0 done; 1 refused, a file changed since; 125 an error.\n");
}

static const char *state_name(enum undo_state state)
{
	static const char *const names[] = {
		[UNDO_DONE] = "applied", [UNDO_INTERRUPTED] = "interrupted", [UNDO_TAKEN_BACK] = "taken back"
	};
	return names[state];
}

static void add_row(struct arena *arena, struct text *out, const struct undo_entry *entry)
{
	struct text size = { 0 };
	if (entry->problem) {
		text_add(out, "%4llu  not usable: %s\n", (unsigned long long)entry->number,
			 text_visible(arena, entry->problem));
		return;
	}
	text_add_size(&size, entry->bytes);
	text_add(out, "%4llu  %s  %-11s  %8zu  %9s  %s\n", (unsigned long long)entry->number,
		 arguments_date(arena, entry->time), state_name(entry->state), entry->changes, size.data, entry->copy);
	text_free(&size);
}

static void add_json(struct json *json, const struct undo_entry *entry)
{
	json_object(json, NULL);
	json_number(json, "number", entry->number);
	json_string(json, "copy", entry->copy);
	json_number(json, "time", entry->time > 0 ? (uint64_t)entry->time : 0);
	json_string(json, "state", entry->problem ? NULL : state_name(entry->state));
	json_number(json, "changes", entry->changes);
	json_number(json, "bytes", entry->bytes);
	json_string(json, "problem", entry->problem);
	json_object_end(json);
}

static int list(struct session *session, const char *key)
{
	struct undo_entries entries;
	struct text out = { 0 };
	struct json json = { .out = &out };
	struct error err = { 0 };

	if (undo_list(&session->arena, session->context.state_directory, key, &entries, &err) < 0)
		return report_error(&err);
	if (session->options.wants_json)
		json_list(&json, NULL);
	else if (entries.count > 0)
		text_add(&out, "%4s  %-16s  %-11s  %8s  %9s  %s\n", "N", "time", "state", "changes", "kept", "copy");
	else
		text_add(&out, "nothing to undo in this project\n");
	for (size_t i = 0; i < entries.count; i++) {
		if (session->options.wants_json)
			add_json(&json, &entries.items[i]);
		else
			add_row(&session->arena, &out, &entries.items[i]);
	}
	if (session->options.wants_json)
		json_list_end(&json);
	return report_text(&out);
}

static int report(struct session *session, const struct undo_report *report)
{
	if (report->count > 0) {
		fprintf(stderr, "berm: apply %llu was not undone: files changed since\n", (unsigned long long)report->number);
		for (size_t i = 0; i < report->count; i++)
			fprintf(stderr, "  ! %s: %s\n", text_visible(&session->arena, report->items[i].path),
				report->items[i].reason);
		return EXIT_CHANGED;
	}
	printf("%s %llu (%zu change%s)\n", report->was_interrupted ? "took back the interrupted apply" : "undid apply",
	       (unsigned long long)report->number, report->undone, report->undone == 1 ? "" : "s");
	fflush(stdout);
	/* The copy of a run with --undo was removed when it was applied. */
	if (report->kept > 0 && session->options.is_verbose)
		fprintf(stderr, "berm: the copy could not take %zu of the changes back\n", report->kept);
	return 0;
}

static int undo(struct session *session, const char *word)
{
	const struct context *context = &session->context;
	const char *key = plan_project_key(&session->arena, context->project);
	struct undo_report result;
	struct error err = { 0 };
	uint64_t number = 0;

	if (session->options.wants_list) {
		if (!word)
			return list(session, key);
		error_set(&err, "--list excludes a number");
		return report_error(&err);
	}
	if (word && (!text_parse_u64(word, INT64_MAX, &number) || number == 0)) {
		error_set(&err, "not a number of an apply: %s", word);
		error_hint(&err, "`berm undo --list` shows them");
		return report_error(&err);
	}
	if (undo_apply(&session->arena, context->state_directory, context->project, key, number, &result, &err) < 0)
		return report_error(&err);
	return report(session, &result);
}

int cmd_undo(int argc, char **argv)
{
	struct session session = { 0 };
	struct error err = { 0 };
	const char *word;
	int status;

	if (arguments_parse(&session.arena, COMMAND_UNDO, argc, argv, &session.options, &word, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (!session.options.wants_list && arguments_refuse_inside("only the user undoes an apply", &err) < 0)
		return report_error(&err);
	if (copy_find_project(&session, &err) < 0)
		return report_error(&err);
	status = undo(&session, word);
	session_close(&session);
	return status;
}
