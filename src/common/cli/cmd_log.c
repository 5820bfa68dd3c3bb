/* SPDX-License-Identifier: Apache-2.0 */
/* `berm log`: shows, lists, verifies and exports the record of runs. Never changes it. */
#include "common/cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/json_write.h"
#include "common/base/private_file.h"
#include "common/cli/log_select.h"
#include "common/cli/table.h"
#include "common/cli/verbs.h"
#include "common/fs/path.h"

enum { EXIT_BROKEN = 1, TAIL_EVENTS = 20, FOLLOWED_MAX = 64, POLL_NS = 200000000, ID_SHOWN = 8 };

static int print_help(void)
{
	return report_help("berm log [show [RUN]]           what happened in a run (the last one here)\n"
			   "berm log list [options]         the runs, the newest first\n"
			   "berm log tail [-f]              the last events of all runs\n"
			   "berm log verify [RUN]           check that no record was changed or removed\n"
			   "berm log export [options]       records for other programs\n"
			   "berm log report [RUN] [-o FILE] a run as one HTML page\n\n"
			   "RUN is an id, or its last characters. The records are in the state directory, which\n"
			   "no sandbox can reach. verify finds later changes; it proves nothing against the\n"
			   "user who owns the files and can write a whole new chain.\n\n",
			   COMMAND_LOG, "Exit status: 0 done; 1 verify found a broken chain; 125 an error.\n");
}

static void add_lines(struct text *out, const struct record_run *run)
{
	text_add(out, "[");
	for (size_t i = 0, count = 0; i < run->lines.count; i++) {
		if (!run->lines.items[i].is_valid)
			continue;
		text_add(out, "%s", count++ > 0 ? ",\n " : "");
		text_add_n(out, run->lines.items[i].bytes, run->lines.items[i].length);
	}
	text_add(out, "]\n");
}

static int show(struct session *session, const char *word)
{
	struct text out = { .width = report_width(stdout) };
	struct error err = { 0 };
	struct log_run chosen;

	if (log_choose(session, word, &chosen, &err) < 0)
		return report_error(&err);
	if (session->options.wants_json) {
		add_lines(&out, &chosen.run);
		report_text(&out);
	} else {
		record_describe(&chosen.arena, &chosen.run, session->context.home, arguments_date, &out);
		report_page(out.data);
		text_free(&out);
	}
	arena_free(&chosen.arena);
	return 0;
}

static const char *short_id(const char *id)
{
	return id + RECORD_ID - ID_SHOWN;
}

static enum report_mark mark_of(const struct record_run *run)
{
	const struct jsonc_value *end = run->end ? &run->end->value : NULL;
	if (!end)
		return run->is_running ? MARK_NONE : MARK_WEAKER;
	if (record_number(end, "exit_code", 1) != 0)
		return MARK_BAD;
	return record_denied(run) > 0 ? MARK_WEAKER : MARK_GOOD;
}

static void add_table_row(struct session *session, struct table *table, struct log_run *found)
{
	struct arena *arena = &session->arena;
	uint64_t denied = record_denied(&found->run);
	const char *ending = record_ending(arena, &found->run);
	const char *cells[TABLE_COLUMNS_MAX] = {
		arena_copy(arena, short_id(found->run.id)), arguments_date(arena, (int64_t)(found->run.ms / 1000)),
		denied == 0 ? ending : arena_printf(arena, "%s, %llu refused", ending, (unsigned long long)denied),
		record_command(arena, &found->run)
	};
	table_add(table, mark_of(&found->run), cells);
}

static void add_json_run(struct json *json, struct log_run *found)
{
	const struct jsonc_value *start = found->run.start ? &found->run.start->value : NULL;
	const struct jsonc_value *end = found->run.end ? &found->run.end->value : NULL;
	static const char *const names[] = { "time", "project", "cwd", "agent" };

	json_object(json, NULL);
	json_string(json, "run", found->run.id);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		json_string(json, names[i], record_text(&found->arena, start, names[i]));
	json_string(json, "command", record_command(&found->arena, &found->run));
	json_string(json, "ended", record_ending(&found->arena, &found->run));
	if (end) {
		json_number(json, "exit_code", record_number(end, "exit_code", 0));
		json_number(json, "duration_ms", record_number(end, "duration_ms", 0));
	}
	json_number(json, "refused", record_denied(&found->run));
	json_object_end(json);
}

static void report_unreadable(size_t count)
{
	if (count > 0)
		fprintf(stderr, "berm: %zu record%s could not be read\n", count, count == 1 ? "" : "s");
}

static int list(struct session *session, const char *word)
{
	struct table table = { .arena = &session->arena,
			       .titles = { "run", "time", "ended", "command" },
			       .marked = 2,
			       .is_verbose = session->options.is_verbose,
			       .empty = "no run is recorded" };
	struct text out = { 0 };
	struct json json = { .out = &out };
	struct record_names names;
	struct error err = { 0 };
	struct log_run found;
	size_t at = 0, unreadable = 0;

	if (word) {
		error_set(&err, "`berm log list` takes only options: %s", word);
		return report_error(&err);
	}
	if (log_names(session, &names, &err) < 0)
		return report_error(&err);
	if (session->options.wants_json)
		json_list(&json, NULL);
	while (log_next(session, &names, &at, &found, &unreadable)) {
		if (session->options.wants_json)
			add_json_run(&json, &found);
		else
			add_table_row(session, &table, &found);
		arena_free(&found.arena);
	}
	if (session->options.wants_json) {
		json_list_end(&json);
		report_text(&out);
	} else {
		table_print(&table);
	}
	report_unreadable(unreadable);
	return 0;
}

static void print_event(struct arena *arena, const struct record_run *run, const struct record_line *line)
{
	const char *time = line->is_valid ? record_text(arena, &line->value, "time") : NULL;
	printf("%.19s  %s%s", time ? text_visible(arena, time) : "?", report_colour(stdout, "2"), short_id(run->id));
	printf("%s  %s\n", report_colour(stdout, NULL), record_summary(arena, line));
}

/* How much of a run was printed. */
struct followed {
	char id[RECORD_ID + 1];
	size_t printed;
	bool is_ended;
};

static struct followed *find_followed(struct followed items[FOLLOWED_MAX], size_t *count, const char *id)
{
	for (size_t i = 0; i < *count; i++)
		if (strcmp(items[i].id, id) == 0)
			return &items[i];
	if (*count == FOLLOWED_MAX) { /* the oldest goes */
		memmove(items, items + 1, (FOLLOWED_MAX - 1) * sizeof *items);
		--*count;
	}
	items[*count] = (struct followed){ 0 };
	memcpy(items[*count].id, id, RECORD_ID);
	return &items[(*count)++];
}

/* Prints new events. is_silent: only counts them. */
static void follow(struct session *session, const struct record_names *names, struct followed items[FOLLOWED_MAX],
		   size_t *count, bool is_silent)
{
	size_t newest = names->count < FOLLOWED_MAX ? names->count : FOLLOWED_MAX;
	for (size_t i = newest; i-- > 0;) {
		struct followed *own = find_followed(items, count, names->items[i].id);
		struct arena arena = { 0 };
		struct error ignored = { 0 };
		struct record_run run;
		if (own->is_ended ||
		    record_read(&arena, session->context.state_directory, &names->items[i], &run, &ignored) < 0)
			continue;
		for (; own->printed < run.lines.count; own->printed++)
			if (!is_silent)
				print_event(&arena, &run, &run.lines.items[own->printed]);
		own->is_ended = run.end || !run.is_running;
		arena_free(&arena);
	}
	fflush(stdout);
}

/* The last events of the last runs, in their order. */
static void print_last(struct session *session, const struct record_names *names)
{
	size_t wanted = 0, first = 0;
	struct log_run runs[TAIL_EVENTS];
	size_t count = 0, unreadable = 0;

	while (count < TAIL_EVENTS && wanted < TAIL_EVENTS && log_next(session, names, &first, &runs[count], &unreadable))
		wanted += runs[count++].run.lines.count;
	for (size_t i = count; i-- > 0;) {
		const struct record_run *run = &runs[i].run;
		size_t skipped = wanted > TAIL_EVENTS ? wanted - TAIL_EVENTS : 0;
		if (skipped > run->lines.count)
			skipped = run->lines.count;
		wanted -= skipped;
		for (size_t k = skipped; k < run->lines.count; k++)
			print_event(&runs[i].arena, run, &run->lines.items[k]);
		arena_free(&runs[i].arena);
	}
}

static int tail(struct session *session, const char *word)
{
	static struct followed items[FOLLOWED_MAX];
	const struct timespec pause = { .tv_nsec = POLL_NS };
	struct record_names names;
	struct error err = { 0 };
	size_t count = 0;

	if (word) {
		error_set(&err, "`berm log tail` takes only -f: %s", word);
		return report_error(&err);
	}
	if (log_names(session, &names, &err) < 0)
		return report_error(&err);
	print_last(session, &names);
	follow(session, &names, items, &count, true);
	while (session->options.is_following && !ferror(stdout)) {
		struct arena arena = { 0 };
		nanosleep(&pause, NULL);
		if (record_runs(&arena, session->context.state_directory, &names, &err) < 0)
			return report_error(&err);
		follow(session, &names, items, &count, false);
		arena_free(&arena);
	}
	return 0;
}

static void print_verification(struct session *session, const struct record_verification *result)
{
	struct arena *arena = &session->arena;
	for (size_t i = 0; i < result->count; i++)
		report_item(MARK_BAD, "broken  ",
			    text_visible(arena,
					 arena_printf(arena, "%s: %s", result->items[i].run ? result->items[i].run : "ledger",
						      result->items[i].text)));
	report_item(result->count > 0 ? MARK_BAD : MARK_GOOD, result->count > 0 ? "broken  " : "valid   ",
		    arena_printf(arena, "%zu run%s, %zu lines%s", result->runs, result->runs == 1 ? "" : "s", result->lines,
				 result->count > 0 ? "" : ": each line follows the one before, and the ledger has every end"));
	if (result->running + result->unfinished > 0)
		report_item(MARK_WEAKER, "open    ",
			    arena_printf(arena,
					 "%zu running, %zu without an end in the ledger (killed, or a full disk): what "
					 "was cut from their end, or removed, would not be seen",
					 result->running, result->unfinished));
	if (result->pruned > 0)
		report_item(MARK_NONE, "removed ",
			    arena_printf(arena, "%llu old runs, as audit.keep asks", (unsigned long long)result->pruned));
	report_item(MARK_NONE, "        ",
		    "This finds later changes of single records. It does not prove that nothing was changed: "
		    "the user who owns the files, and root, can write a whole new chain.");
}

static void print_verification_json(const struct record_verification *result)
{
	struct text out = { 0 };
	struct json json = { .out = &out };

	json_object(&json, NULL);
	json_boolean(&json, "valid", result->count == 0);
	json_number(&json, "runs", result->runs);
	json_number(&json, "lines", result->lines);
	json_number(&json, "running", result->running);
	json_number(&json, "unfinished", result->unfinished);
	json_number(&json, "pruned", result->pruned);
	json_list(&json, "problems");
	for (size_t i = 0; i < result->count; i++) {
		json_object(&json, NULL);
		json_string(&json, "run", result->items[i].run);
		json_string(&json, "problem", result->items[i].text);
		json_object_end(&json);
	}
	json_list_end(&json);
	json_object_end(&json);
	report_text(&out);
}

static int verify(struct session *session, const char *word)
{
	struct record_verification result;
	const struct record_name *only = NULL;
	struct record_names names;
	struct error err = { 0 };

	if (log_names(session, &names, &err) < 0 || (word && record_find(&names, word, &only, &err) < 0) ||
	    record_verify(&session->arena, session->context.state_directory, only, &result, &err) < 0)
		return report_error(&err);
	if (session->options.wants_json)
		print_verification_json(&result);
	else
		print_verification(session, &result);
	return result.count > 0 ? EXIT_BROKEN : 0;
}

/* Replaces the file by rename: a name in a project may be a symlink that a command has made. */
static int write_output(struct session *session, struct text *out, struct error *err)
{
	const struct private_file_options options = { .mode = 0600 };
	const char *path = session->options.output;
	const char *parent = strchr(path, '/') ? path_parent(&session->arena, path) : ".";
	autoclose int directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0 ||
	    private_file_write(directory, path_base_name(path), out->data ? out->data : "", out->length, &options) < 0)
		return error_errno(err, errno, "cannot write %s", path);
	return 0;
}

static int put_output(struct session *session, struct text *out)
{
	struct error err = { 0 };
	int status = 0;
	if (!session->options.output)
		return report_text(out);
	if (write_output(session, out, &err) < 0)
		status = report_error(&err);
	text_free(out);
	return status;
}

static int export(struct session *session, const char *word)
{
	enum record_format format = RECORD_NDJSON;
	struct record_names names;
	struct text out = { 0 };
	struct error err = { 0 };
	struct log_run found;
	size_t at = 0, unreadable = 0;
	bool is_first = true;

	if (session->options.export_format && !record_format_parse(session->options.export_format, &format))
		error_set(&err, "--format=%s: ndjson, csv, otlp-json or ocsf", session->options.export_format);
	else if (word)
		error_set(&err, "`berm log export` takes only options: %s", word);
	if (error_is_set(&err) || log_names(session, &names, &err) < 0)
		return report_error(&err);
	record_export_begin(format, &out);
	while (log_next(session, &names, &at, &found, &unreadable)) {
		record_export(&found.arena, format, &found.run, is_first, &out);
		is_first = is_first && found.run.lines.count == found.run.damaged;
		arena_free(&found.arena);
	}
	record_export_end(format, &out);
	report_unreadable(unreadable);
	return put_output(session, &out);
}

static int report(struct session *session, const char *word)
{
	struct text out = { 0 };
	struct error err = { 0 };
	struct log_run chosen;

	if (log_choose(session, word, &chosen, &err) < 0)
		return report_error(&err);
	record_html(&chosen.arena, &chosen.run, arguments_date, &out);
	arena_free(&chosen.arena);
	return put_output(session, &out);
}

static const struct verb verbs[] = {
	{ "show", COMMAND_LOG_SHOW, show },	  { "list", COMMAND_LOG_LIST, list },
	{ "tail", COMMAND_LOG_TAIL, tail },	  { "verify", COMMAND_LOG_SHOW, verify },
	{ "export", COMMAND_LOG_EXPORT, export }, { "report", COMMAND_LOG_REPORT, report },
};

int cmd_log(int argc, char **argv)
{
	static const struct verbs log = { "log", verbs, sizeof verbs / sizeof verbs[0], print_help };
	return verbs_run(&log, argc, argv);
}
