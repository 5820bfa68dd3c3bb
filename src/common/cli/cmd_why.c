/* SPDX-License-Identifier: Apache-2.0 */
/* `berm why`: the refused, hidden and moved things of the last run, by its record, and what would
 * allow them. Runs nothing. */
#include "common/cli/commands.h"

#include <string.h>

#include "common/base/json_write.h"
#include "common/cli/log_select.h"

static int print_help(void)
{
	return report_help("berm why [options]\n\n"
			   "Shows what the last run here was refused, by its record: the rule, and what would\n"
			   "allow it. Files that are hidden are listed whether or not the command asked for\n"
			   "them: the record does not know.\n",
			   COMMAND_WHY, "Exit status: 0 done; 125 an error.\n");
}

static void print_json(struct log_run *chosen, const struct record_findings *findings)
{
	static const char *const kinds[] = { [FINDING_REFUSED] = "refused",
					     [FINDING_HIDDEN] = "hidden",
					     [FINDING_PLANT] = "planted",
					     [FINDING_LIMIT] = "limit" };
	struct text out = { 0 };
	struct json json = { .out = &out };

	json_object(&json, NULL);
	json_string(&json, "run", chosen->run.id);
	json_string(&json, "command", record_command(&chosen->arena, &chosen->run));
	json_string(&json, "ended", record_ending(&chosen->arena, &chosen->run));
	json_list(&json, "findings");
	for (size_t i = 0; i < findings->count; i++) {
		json_object(&json, NULL);
		json_string(&json, "kind", kinds[findings->items[i].kind]);
		json_string(&json, "topic", findings->items[i].topic);
		json_string(&json, "what", findings->items[i].what);
		json_string(&json, "why", findings->items[i].why);
		json_string(&json, "fix", findings->items[i].fix);
		json_object_end(&json);
	}
	json_list_end(&json);
	json_object_end(&json);
	report_text(&out);
}

static void print_findings(struct log_run *chosen, const struct record_findings *findings)
{
	struct text out = { .width = report_width(stdout) };
	struct arena *arena = &chosen->arena;

	text_add(&out, "%s\n  ", text_visible(arena, record_command(arena, &chosen->run)));
	text_add_wrapped(&out, 2,
			 arena_printf(arena, "%s, %s, run %s", arguments_date(arena, (int64_t)(chosen->run.ms / 1000)),
				      record_ending(arena, &chosen->run), chosen->run.id));
	record_describe_findings(arena, findings, &out);
	if (findings->count == 0) {
		text_add(&out, "  ");
		text_add_wrapped(&out, 2, "nothing was refused or hidden in it, as far as berm knows");
	}
	report_headings(out.data);
	text_free(&out);
}

int cmd_why(int argc, char **argv)
{
	struct session session = { 0 };
	struct record_findings findings;
	struct error err = { 0 };
	struct log_run chosen;
	int rest;

	if (options_parse(&session.arena, COMMAND_WHY, argc, argv, &session.options, &rest, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (rest < argc) {
		error_set(&err, "`berm why` takes no command yet: it shows the last run");
		error_hint(&err, "berm run -- COMMAND, then berm why");
		return report_error(&err);
	}
	if (log_choose(&session, NULL, &chosen, &err) < 0)
		return report_error(&err);
	record_find_all(&chosen.arena, &chosen.run, &findings);
	if (session.options.wants_json)
		print_json(&chosen, &findings);
	else
		print_findings(&chosen, &findings);
	arena_free(&chosen.arena);
	session_close(&session);
	return 0;
}
