/* SPDX-License-Identifier: Apache-2.0 */
/* `berm session`: starts, uses, lists and stops sandboxes that several commands share. */
#include "common/cli/commands.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/base/cleanup.h"
#include "common/base/json_write.h"
#include "common/base/text.h"
#include "common/cli/run_joined.h"
#include "common/cli/session.h"
#include "common/cli/table.h"
#include "common/state/sessions.h"

static int print_help(void)
{
	return report_help("berm session start [options] [NAME]            start a sandbox for several commands\n"
			   "berm session exec [options] [NAME] -- COMMAND  run a command in it\n"
			   "berm session list [--json]                     list the sessions of all projects\n"
			   "berm session stop [--all | NAME]               end it, and everything in it\n\n"
			   "Commands of a session share loopback, /tmp, the private home and background\n"
			   "processes. Everything else is as with `berm run`: what the policy hides is hidden\n"
			   "before each command. exec takes the options that start had. NAME: `default`.\n",
			   COMMAND_SESSION,
			   "Exit status: of exec as of `berm run`; 125 also if no session takes the command.\n"
			   "Of stop: 0 ended; 1 there was none.\n");
}

static int refuse_name(const char *name)
{
	struct error err = { 0 };
	error_set(&err, "`%s` is not the name of a session", text_visible(&(struct arena){ 0 }, name));
	error_hint(&err, "at most %d of A-Z, a-z, 0-9, dot, dash and underscore", SESSION_NAME_MAX);
	return report_error(&err);
}

/* Parses options and a name, in any order, up to "--". *rest: the first word after that, or
 * argc. */
static int parse(struct session *session, uint64_t accepted, int argc, char **argv, const char **name, int *rest,
		 struct error *err)
{
	int end = 1;
	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (arguments_parse(&session->arena, accepted, end, argv, &session->options, name, err) < 0)
		return -1;
	session->cache.words = session_words(&session->arena, argv, end, *name);
	if (!*name)
		*name = SESSION_NAME_DEFAULT;
	*rest = end < argc ? end + 1 : argc;
	return 0;
}

static int start(int argc, char **argv)
{
	static struct session session; /* not freed: the process exits after this */
	char *const command[] = { NULL };
	struct error err = { 0 };
	const char *name;
	int rest, status;

	if (parse(&session, COMMAND_SESSION_START, argc, argv, &name, &rest, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (rest < argc) {
		error_set(&err, "`berm session start` takes no command");
		error_hint(&err, "berm session start, then berm session exec -- COMMAND");
		return report_error(&err);
	}
	if (!session_name_is_valid(name))
		return refuse_name(name);
	session.joining = (struct joining){ .mode = JOIN_HOLD, .name = name, .idle_ms = session.options.idle_ms };
	status = run_command(&session, command);
	if (status == 0)
		fprintf(stderr, "berm: session '%s' runs; berm session exec%s%s -- COMMAND; berm session stop%s%s\n", name,
			strcmp(name, SESSION_NAME_DEFAULT) == 0 ? "" : " ", strcmp(name, SESSION_NAME_DEFAULT) == 0 ? "" : name,
			strcmp(name, SESSION_NAME_DEFAULT) == 0 ? "" : " ",
			strcmp(name, SESSION_NAME_DEFAULT) == 0 ? "" : name);
	return status;
}

static int execute(int argc, char **argv)
{
	static struct session session; /* as above */
	struct error err = { 0 };
	const char *name;
	int rest;

	if (parse(&session, COMMAND_SESSION_EXEC, argc, argv, &name, &rest, &err) < 0) {
		error_hint(&err, "berm session exec [NAME] -- COMMAND [ARGUMENT...]");
		return report_error(&err);
	}
	if (session.options.wants_help)
		return print_help();
	if (rest >= argc) {
		error_set(&err, "no command to run");
		error_hint(&err, "berm session exec [NAME] -- COMMAND [ARGUMENT...]");
		return report_error(&err);
	}
	if (!session_name_is_valid(name))
		return refuse_name(name);
	session.joining = (struct joining){ .mode = JOIN_ONLY, .name = name };
	return run_command(&session, argv + rest);
}

/* The record of a session that runs. */
struct listed {
	struct run_session place;
	struct session_record record;
	int commands; /* that it runs now; -1: it does not answer */
};
struct listing {
	struct listed **items;
	size_t count;
};

/* Lists what runs; records without a holder are leftovers of a killed one. */
static void list_running(struct session *session, int directory, struct listing *listing)
{
	struct session_stems stems;
	sessions_list(&session->arena, directory, &stems);
	for (size_t i = 0; i < stems.count; i++) {
		struct listed *listed = arena_alloc(&session->arena, sizeof *listed);
		struct error ignored = { 0 };
		listed->place = (struct run_session){
			.directory = directory, .stem = stems.items[i], .record = &listed->record, .lock = -1, .ready = -1
		};
		if (!sessions_is_held(directory, stems.items[i]) ||
		    sessions_read(&session->arena, directory, stems.items[i], &listed->record, &ignored) < 0)
			continue;
		listed->commands = backend_session_ask(&listed->place, false, &ignored);
		*arena_push(&session->arena, listing) = listed;
	}
}

/* Opens the directory of the records; -1 with err, or without if there is none. */
static int open_records(struct session *session, struct error *err)
{
	struct error why = { 0 };
	int directory;
	if (session_detect(session, err) < 0)
		return -1;
	directory = sessions_open(&session->arena, session->context.state_directory, false, &why);
	if (directory < 0 && why.number != ENOENT)
		*err = why;
	return directory;
}

static void add_json(struct text *out, const struct listing *listing)
{
	struct json json = { .out = out };
	json_list(&json, NULL);
	for (size_t i = 0; i < listing->count; i++) {
		const struct listed *listed = listing->items[i];
		json_object(&json, NULL);
		json_string(&json, "name", listed->record.name);
		json_string(&json, "project", listed->record.project);
		json_number(&json, "pid", (uint64_t)listed->record.pid);
		json_number(&json, "started", (uint64_t)listed->record.started);
		json_number(&json, "idle_ms", (uint64_t)listed->record.idle_ms);
		json_boolean(&json, "keeps_leftovers", listed->record.keeps);
		json_boolean(&json, "answers", listed->commands >= 0);
		json_number(&json, "commands", listed->commands < 0 ? 0 : (uint64_t)listed->commands);
		json_object_end(&json);
	}
	json_list_end(&json);
	text_add(out, "\n");
}

static void print_listing(struct session *session, const struct listing *listing)
{
	struct table table = { .arena = &session->arena,
			       .titles = { "name", "commands", "since", "project" },
			       .is_right = { false, true },
			       .home = session->context.home,
			       .is_verbose = session->options.is_verbose,
			       .empty = "no session runs" };
	for (size_t i = 0; i < listing->count; i++) {
		const struct listed *listed = listing->items[i];
		const char *cells[TABLE_COLUMNS_MAX] = {
			listed->record.name, listed->commands < 0 ? "?" : arena_printf(&session->arena, "%d", listed->commands),
			arguments_date(&session->arena, listed->record.started), listed->record.project
		};
		table_add(&table, listed->commands < 0 ? MARK_BAD : MARK_GOOD, cells);
	}
	table_print(&table);
}

static int list(int argc, char **argv)
{
	struct session session = { 0 };
	struct listing listing = { 0 };
	struct text out = { 0 };
	struct error err = { 0 };
	const char *word;
	autoclose int directory = -1;

	if (arguments_parse(&session.arena, COMMAND_SESSION_LIST, argc, argv, &session.options, &word, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (word) {
		error_set(&err, "`berm session list` takes no name: %s", word);
		return report_error(&err);
	}
	directory = open_records(&session, &err);
	if (error_is_set(&err))
		return report_error(&err);
	if (directory >= 0)
		list_running(&session, directory, &listing);
	if (!session.options.wants_json) {
		print_listing(&session, &listing);
		return 0;
	}
	add_json(&out, &listing);
	return report_text(&out);
}

/* The holder closes its lock when everything has ended and was swept. */
static int await_end(const struct listed *listed, struct error *err)
{
	enum { ROUNDS = 500, ROUND_US = 20000 };
	for (int i = 0; i < ROUNDS; i++) {
		if (!sessions_is_held(listed->place.directory, listed->place.stem))
			return 0;
		usleep(ROUND_US);
	}
	return error_set(err, "session '%s' does not end", listed->record.name);
}

static int stop_all(const struct listing *listing)
{
	int status = listing->count > 0 ? 0 : 1;
	for (size_t i = 0; i < listing->count; i++) {
		const struct listed *listed = listing->items[i];
		struct error err = { 0 };
		if (backend_session_ask(&listed->place, true, &err) < 0 || await_end(listed, &err) < 0)
			status = report_error(&err);
		else
			fprintf(stderr, "berm: session '%s' ended\n", listed->record.name);
	}
	return status;
}

/* Keeps those of this name in this project. */
static int keep_named(struct session *session, const char *name, struct listing *listing, struct error *err)
{
	struct context_request request = { .project = session->options.project };
	struct context context;
	size_t kept = 0;
	if (context_detect(&session->arena, &request, &context, err) < 0)
		return -1;
	for (size_t i = 0; i < listing->count; i++) {
		const struct session_record *record = &listing->items[i]->record;
		bool is_meant = strcmp(record->name, name) == 0;
		if (is_meant && strcmp(record->project, context.project) == 0)
			listing->items[kept++] = listing->items[i];
	}
	listing->count = kept;
	return 0;
}

static int stop(int argc, char **argv)
{
	struct session session = { 0 };
	struct listing listing = { 0 };
	struct error err = { 0 };
	const char *name;
	autoclose int directory = -1;

	if (arguments_parse(&session.arena, COMMAND_SESSION_STOP, argc, argv, &session.options, &name, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (name && session.options.wants_all) {
		error_set(&err, "--all excludes a name");
		return report_error(&err);
	}
	if (name && !session_name_is_valid(name))
		return refuse_name(name);
	directory = open_records(&session, &err);
	if (directory >= 0)
		list_running(&session, directory, &listing);
	if (!error_is_set(&err) && !session.options.wants_all)
		(void)keep_named(&session, name ? name : SESSION_NAME_DEFAULT, &listing, &err);
	if (error_is_set(&err))
		return report_error(&err);
	if (listing.count == 0)
		fprintf(stderr, "berm: no such session runs%s\n", session.options.wants_all ? "" : " in this project");
	return stop_all(&listing);
}

int cmd_session(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} verbs[] = { { "start", start }, { "exec", execute }, { "list", list }, { "stop", stop } };
	struct error err = { 0 };

	if (argc < 2 || argv[1][0] == '-')
		return argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ? print_help()
												: list(argc, argv);
	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
		if (strcmp(argv[1], verbs[i].name) == 0)
			return verbs[i].run(argc - 1, argv + 1);
	error_set(&err, "unknown: `berm session %s`; use start, exec, list or stop", argv[1]);
	return report_error(&err);
}
