/* SPDX-License-Identifier: Apache-2.0 */
/* `berm copies`: the copies of the project. */
#include "common/cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "common/base/json_write.h"
#include "common/base/text.h"
#include "common/cli/copy_command.h"

static int print_help(void)
{
	return report_help("berm copies [options]\n\nLists the copies of the project, made by `berm run --copy`.\n",
			   COMMAND_COPIES, "Exit status: 0; 125 an error.\n");
}

/* Counts the changes of a copy. Returns false if a run has it, or it cannot be read. */
static bool count_changes(struct session *session, const char *key, const struct copy_entry *entry, size_t *count)
{
	const struct context *context = &session->context;
	struct copy copy = { .fd = -1, .state = -1 };
	struct copy_changes changes = { 0 };
	struct error err = { 0 };
	bool is_counted;

	if (entry->problem || entry->is_in_use)
		return false;
	is_counted = copy_open(&session->arena, context->state_directory, context->project, key, entry->name, false, &copy,
			       &err) == 0 &&
		     copy_list_changes(&session->arena, &copy, NULL, &changes, &err) == 0;
	copy_close(&copy);
	*count = changes.count;
	return is_counted;
}

static void add_row(struct session *session, struct text *out, const struct copy_entry *entry, bool is_counted, size_t count)
{
	struct text size = { 0 }, changes = { 0 };

	if (entry->problem) {
		text_add(out, "%-20s  not usable: %s\n", entry->name, text_visible(&session->arena, entry->problem));
		return;
	}
	text_add(&size, "%s", entry->size.is_partial ? ">" : "");
	text_add_size(&size, entry->size.bytes);
	if (is_counted)
		text_add(&changes, "%zu", count);
	else
		text_add(&changes, "?");
	text_add(out, "%-20s  %8s  %9s  %s\n", entry->name, changes.data, size.data,
		 entry->is_in_use ? "in use" : arguments_date(&session->arena, entry->last_use));
	text_free(&size);
	text_free(&changes);
}

static void add_json(struct json *json, const struct copy_entry *entry, bool is_counted, size_t count)
{
	json_object(json, NULL);
	json_string(json, "name", entry->name);
	if (is_counted)
		json_number(json, "changes", count);
	else
		json_string(json, "changes", NULL);
	json_number(json, "bytes", entry->size.bytes);
	json_number(json, "last_use", entry->last_use > 0 ? (uint64_t)entry->last_use : 0);
	json_boolean(json, "in_use", entry->is_in_use);
	json_string(json, "problem", entry->problem);
	json_object_end(json);
}

static int list(struct session *session)
{
	const char *key = plan_project_key(&session->arena, session->context.project);
	struct text out = { 0 };
	struct json json = { .out = &out };
	struct copy_entries entries;
	struct error err = { 0 };

	if (copies_list(&session->arena, session->context.state_directory, key, true, &entries, &err) < 0)
		return report_error(&err);
	if (session->options.wants_json)
		json_list(&json, NULL);
	else if (entries.count > 0)
		text_add(&out, "%-20s  %8s  %9s  %s\n", "copy", "changes", "size", "last use");
	else
		text_add(&out, "no copies of this project; berm run --copy -- COMMAND makes one\n");
	for (size_t i = 0; i < entries.count; i++) {
		size_t count = 0;
		bool is_counted = count_changes(session, key, &entries.items[i], &count);
		if (session->options.wants_json)
			add_json(&json, &entries.items[i], is_counted, count);
		else
			add_row(session, &out, &entries.items[i], is_counted, count);
	}
	if (session->options.wants_json)
		json_list_end(&json);
	return report_text(&out);
}

int cmd_copies(int argc, char **argv)
{
	struct session session = { 0 };
	struct error err = { 0 };
	const char *word;
	int status;

	if (arguments_parse(&session.arena, COMMAND_COPIES, argc, argv, &session.options, &word, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (word)
		error_set(&err, "`berm copies` takes only options");
	if (word || copy_find_project(&session, &err) < 0)
		return report_error(&err);
	status = list(&session);
	session_close(&session);
	return status;
}
