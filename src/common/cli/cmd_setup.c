/* SPDX-License-Identifier: Apache-2.0 */
/* `berm setup`: adds berm to the settings of an agent, editor or tool, and removes it again. Shows
 * a diff unless --write is given. Never writes a change that it cannot undo. */
#include "common/cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/json_write.h"
#include "common/format/diff.h"
#include "common/cli/setup_command.h"

static int print_help(void)
{
	return report_help("berm setup [options] [HOST]\n\n"
			   "Configures an agent, editor or tool to run its commands in the sandbox. Without\n"
			   "options it shows the change to the host's settings; --write makes the change and\n"
			   "records the original, --undo restores it. Without HOST it lists all hosts and\n"
			   "whether they are set up. --check also reads the settings that override them.\n"
			   "It answers `configured, not proven`, `not in force`, or with --prove `in force`.\n",
			   COMMAND_SETUP, "Exit status: 0 done or configured; 1 not in force (--check); 125 an error.\n");
}

/* The path goes into settings, shell commands and regular expressions and must not
 * need quoting there. */
static int check_path(const char *path, struct error *err)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+";
	if (path[strspn(path, plain)] == '\0')
		return 0;
	error_set(err, "%s: this path cannot be written into settings", path);
	return error_hint(err, "install berm in a directory whose path has only letters, digits and . _ - + /");
}

static int check_program(const char *path, struct error *err)
{
	if (check_path(path, err) < 0)
		return -1;
	if (access(path, X_OK) == 0)
		return 0;
	error_set(err, "%s does not exist", path);
	return error_hint(err, "this installation of berm is incomplete: the host could not run commands with it");
}

int setup_check_installation(const struct setup *setup, struct error *err)
{
	struct arena *arena = setup->request.arena;
	if (check_program(setup->paths.program, err) < 0 || check_program(setup->paths.shell, err) < 0)
		return -1;
	return check_program(path_join(arena, setup->paths.shims, "bash"), err) < 0 ||
			       check_program(path_join(arena, setup->paths.shims, "sh"), err) < 0
		       ? -1
		       : 0;
}

static int open_machine(struct setup *setup, struct error *err)
{
	struct context_request request = { .has_no_project = true };
	struct session *session = &setup->session;

	if (context_detect(&session->arena, &request, &session->context, err) < 0)
		return -1;
	install_paths_find(&session->arena, session->context.fs, session->context.executable, &setup->paths);
	return 0;
}

/* Judges the file. Without --how, the way that the file has is taken. */
static int judge_file(struct setup *setup, struct error *err)
{
	const struct setup_host *other = setup->host->other;
	enum setup_state state;

	if (setup_judge(&setup->request, setup->file.text, &setup->state, err) < 0)
		return -1;
	if (setup->state != SETUP_ABSENT || setup->session.options.how || !other)
		return 0;
	setup->request.host = other;
	if (setup_judge(&setup->request, setup->file.text, &state, err) < 0)
		return -1;
	if (state == SETUP_ABSENT) {
		setup->request.host = setup->host;
		return 0;
	}
	setup->host = other;
	setup->state = state;
	return 0;
}

/* Finds settings that take berm's back. With --file only that file is asked about, except for
 * another edition of a host. */
static void find_overrides(struct setup *setup)
{
	const struct session *session = &setup->session;
	const struct setup_overrides_request request = {
		.arena = setup->request.arena,
		.context = &session->context,
		.host = setup->host,
		.paths = &setup->paths,
		.file = setup->file.real,
		.named = setup->file.path,
		.text = setup->file.text,
		.project = context_find_project(setup->request.arena, &session->context),
	};
	if (setup->state == SETUP_IN_FORCE && (!session->options.file || setup->host->has_editions))
		setup_find_overrides(&request, &setup->overrides);
}

static int open_host(struct setup *setup, const struct setup_host *host, struct error *err)
{
	struct session *session = &setup->session;
	const char *file = session->options.file, *path;

	setup->host = host;
	setup->overrides = (struct setup_overrides){ 0 };
	if (session->options.wants_managed)
		path = host->managed;
	else
		path = file ? path_absolute(&session->arena, session->context.working_directory, file)
			    : setup_host_file(&session->arena, host, &session->context);
	setup->request =
		(struct setup_request){ &session->arena, setup_host_for(host, path), &setup->paths, session->context.os, path };
	setup->state = SETUP_ABSENT;
	setup->file = (struct setup_file){ .text = { "", 0 } };
	setup->has_file = path;
	if (!path)
		return 0;
	if (setup_file_read(&session->arena, &session->context, path, &setup->file, err) < 0)
		return -1;
	/* Without the file there are no servers and nothing to write. */
	if (host->format == SETUP_SERVERS && !setup->file.exists) {
		setup->has_file = false;
		return file ? error_set(err, "%s: no such file", path) : 0;
	}
	if (judge_file(setup, err) < 0)
		return -1;
	find_overrides(setup);
	return 0;
}

/* Reads the host's environment variable: in force if it names a shim. */
static enum setup_state judge_variable(const struct setup *setup)
{
	const char *value = setup->host->variable ? getenv(setup->host->variable) : NULL;
	return value && strstr(value, path_join(setup->request.arena, setup->paths.shims, "")) ? SETUP_IN_FORCE : SETUP_ABSENT;
}

enum setup_state setup_judge_host(const struct setup *setup)
{
	return setup->state == SETUP_ABSENT ? judge_variable(setup) : setup->state;
}

const char *setup_state_name(const struct setup *setup)
{
	static const char *const names[] = {
		[SETUP_ABSENT] = "not set up",
		[SETUP_PARTLY] = "partly set up",
		[SETUP_IN_FORCE] = "configured, not proven",
	};
	if (setup->overrides.count > 0 && setup_judge_host(setup) == SETUP_IN_FORCE)
		return "not in force";
	if (setup->is_proven)
		return "in force";
	if (!setup->has_file && setup_judge_host(setup) == SETUP_ABSENT)
		return "cannot be seen from here";
	return names[setup_judge_host(setup)];
}

static void json_host(struct json *json, const char *name, const struct setup *setup)
{
	const struct setup_host *host = setup->host;
	struct text settings = { 0 };
	struct error ignored = { 0 };

	json_object(json, name);
	json_string(json, "host", host->name);
	json_string(json, "title", host->title);
	json_string(json, "label", setup_label_name(host->label));
	json_string(json, "state", setup_state_name(setup));
	json_boolean(json, "configured", setup_judge_host(setup) == SETUP_IN_FORCE);
	json_boolean(json, "in_force", setup->is_proven);
	json_list(json, "overridden_by");
	for (size_t i = 0; i < setup->overrides.count; i++)
		json_string(json, NULL,
			    arena_printf(setup->request.arena, "%s: %s", setup->overrides.items[i].place,
					 setup->overrides.items[i].why));
	json_list_end(json);
	json_string(json, "file", setup->has_file ? setup->file.path : NULL);
	json_string(json, "leads_to", setup->file.is_link ? setup->file.real : NULL);
	if (setup_settings(&setup->request, &settings, &ignored) == 0)
		json_string(json, "settings", settings.data);
	text_free(&settings);
	json_list(json, "uncovered");
	for (size_t i = 0; host->uncovered && host->uncovered[i]; i++)
		json_string(json, NULL, host->uncovered[i]);
	json_list_end(json);
	json_list(json, "notes");
	for (size_t i = 0; host->notes[i]; i++)
		json_string(json, NULL, setup_expand(setup->request.arena, host->notes[i], &setup->paths, setup->request.os));
	json_list_end(json);
	json_object_end(json);
}

int setup_print_json(const struct setup *setup)
{
	struct text out = { 0 };
	struct json json = { .out = &out };
	json_host(&json, NULL, setup);
	return report_text(&out);
}

static void add_row(struct setup *setup, struct text *out, struct json *json)
{
	struct error err = { 0 };
	bool is_readable = open_host(setup, setup->host, &err) == 0;

	if (json)
		json_host(json, NULL, setup);
	else
		text_add(out, "  %-12s %-25s %s\n", setup->host->name, is_readable ? setup_state_name(setup) : "unreadable",
			 setup_label_name(setup->host->label));
	if (!is_readable && !json)
		text_add(out, "               %s\n", text_visible(&setup->session.arena, err.message));
}

static int list(struct setup *setup)
{
	bool wants_json = setup->session.options.wants_json;
	struct text out = { 0 };
	struct json json = { .out = &out };

	if (wants_json) {
		json_object(&json, NULL);
		json_list(&json, "hosts");
	}
	for (size_t i = 0; i < setup_host_count; i++) {
		setup->host = &setup_host_table[i];
		add_row(setup, &out, wants_json ? &json : NULL);
	}
	if (wants_json) {
		json_list_end(&json);
		json_object_end(&json);
	} else
		text_add(&out, "\n`berm setup HOST` shows the change that it would make.\n");
	return report_text(&out);
}

static void print_notes(const struct setup *setup)
{
	struct text out = { 0 };
	for (size_t i = 0; setup->host->notes[i]; i++) {
		text_add(&out, "%s ", i == 0 ? "\nnote:" : "     ");
		text_add_wrapped(&out, strlen("note: "),
				 setup_expand(setup->request.arena, setup->host->notes[i], &setup->paths, setup->request.os));
	}
	report_text(&out);
}

static void print_link(const struct setup *setup)
{
	struct arena *arena = setup->request.arena;
	if (setup->file.is_link)
		printf("%s is a link to %s: the target is changed\n", text_visible(arena, setup->file.path),
		       text_visible(arena, setup->file.real));
}

/* Returns the options with which a later call finds the same file, or "". */
static const char *file_option(const struct setup *setup)
{
	const struct options *options = &setup->session.options;
	struct text out = { 0 };
	const char *result = "";

	if (options->wants_managed)
		return " --managed";
	if (options->wants_debugger)
		return " --debugger";
	if (options->file) {
		text_add(&out, " --file=");
		text_add_shell_word(&out, setup->file.path);
		result = text_visible(setup->request.arena, arena_copy_n(setup->request.arena, out.data, out.length));
		text_free(&out);
	}
	return result;
}

static const char *undo_command(const struct setup *setup)
{
	return arena_printf(setup->request.arena, "berm setup %s%s --undo", setup->host->name, file_option(setup));
}

static int print_settings(const struct setup *setup, struct error *err)
{
	struct text out = { 0 };
	int status = setup_settings(&setup->request, &out, err);
	if (status == 0)
		fputs(out.data, stdout);
	text_free(&out);
	return status;
}

static void print_difference(const struct setup *setup, struct jsonc_text after, bool is_removed)
{
	struct arena *arena = setup->request.arena;
	const char *name = text_visible(arena, setup->file.real);
	struct text out = { 0 };
	diff_lines(arena, setup->file.exists ? name : "/dev/null", is_removed ? "/dev/null" : name, setup->file.text, after,
		   &out);
	report_text(&out);
}

static int show(struct setup *setup, struct error *err)
{
	struct text made = { 0 };
	int status = 0;

	printf("%s: %s (%s)\n", setup->host->title, setup_state_name(setup), setup_label_name(setup->host->label));
	if (!setup->has_file) {
		printf("\n");
		status = print_settings(setup, err);
	} else if (setup->state != SETUP_IN_FORCE) {
		print_link(setup);
		status = setup_apply(&setup->request, setup->file.text, &made, err);
		if (status == 0) {
			print_difference(setup, (struct jsonc_text){ made.data, made.length }, false);
			printf("\nTo make this change: berm setup %s%s --write\n", setup->host->name, file_option(setup));
		}
		text_free(&made);
	} else
		printf("%s has the settings; to undo: %s\n", text_visible(setup->request.arena, setup->file.real),
		       undo_command(setup));
	if (status == 0)
		print_notes(setup);
	return status;
}

static int refuse_unprivileged(const struct setup *setup, const char *action, struct error *err)
{
	if (!setup->session.options.wants_managed || geteuid() == 0)
		return 0;
	error_set(err, "%s: only root can change the administrator's settings", setup->file.path);
	return error_hint(err, "sudo berm setup %s --managed %s", setup->host->name, action);
}

/* Commands in the sandbox must not change the settings of the host that starts them. */
static int refuse_inside(struct error *err)
{
	return arguments_refuse_inside("a host cannot be set up from inside", err);
}

/* Prepares a --write. Settings of a berm that was installed elsewhere are removed first: *base is
 * the text without them. `record` gets the text to restore: the original of an earlier --write if
 * the file is unchanged since. */
static int prepare(const struct setup *setup, int records, struct setup_record *record, struct jsonc_text *base,
		   struct error *err)
{
	struct arena *arena = setup->request.arena;
	const struct setup_file *file = &setup->file;
	struct setup_request earlier = setup->request;
	char current[SHA256_HEX + 1];
	struct error ignored = { 0 };
	struct text made = { 0 };
	int found = setup_record_read(arena, records, setup->host->name, file->real, record, err);

	if (found < 0)
		return -1;
	*base = file->text;
	earlier.paths = &record->paths;
	if (found && strcmp(record->paths.program, setup->paths.program) != 0 &&
	    setup_undo(&earlier, file->text, record->original, &made, &ignored) == 0)
		*base = (struct jsonc_text){ arena_copy_n(arena, made.data, made.length), made.length };
	text_free(&made);
	setup_hash(file->text, current);
	if (!found || strcmp(current, record->after) != 0)
		*record = (struct setup_record){ .existed = file->exists, .made = file->missing, .original = *base };
	record->paths = setup->paths;
	return 0;
}

static int replace(const struct setup *setup, int records, struct setup_record *record, struct jsonc_text after,
		   struct error *err)
{
	struct arena *arena = setup->request.arena;

	setup_hash(after, record->after);
	if (setup_record_write(arena, records, setup->host->name, setup->file.real, record, err) < 0 ||
	    setup_file_write(arena, &setup->file, after, err) < 0)
		return -1;
	print_link(setup);
	print_difference(setup, after, false);
	printf("\nwrote %s; to undo: %s\n", text_visible(arena, setup->file.real), undo_command(setup));
	print_notes(setup);
	return 0;
}

static int refuse_without_file(const struct setup *setup, struct error *err)
{
	error_set(err, "%s: no settings file to edit; name one with --file=PATH", setup->host->title);
	return error_hint(err, "`berm setup %s` shows the settings to enter by hand", setup->host->name);
}

static int write_host(struct setup *setup, struct error *err)
{
	const struct setup_host *asked = setup->session.options.how || setup->session.options.wants_debugger
						 ? setup->host
						 : setup_host_find(setup->host->name);
	struct arena *arena = setup->request.arena;
	struct setup_record record = { 0 };
	struct jsonc_text base = { "", 0 };
	struct text made = { 0 };
	autoclose int records = -1;
	int status;

	if (!setup->has_file)
		return refuse_without_file(setup, err);
	if (refuse_inside(err) < 0 || refuse_unprivileged(setup, "--write", err) < 0 ||
	    setup_check_installation(setup, err) < 0)
		return -1;
	records = setup_records_open(arena, &setup->session.context, err);
	/* Reads the file again under the lock: another berm may have changed it. */
	if (records < 0 || open_host(setup, asked, err) < 0)
		return -1;
	if (setup_refuse_other(setup, asked, err) < 0 || setup_refuse_prefix(setup, err) < 0)
		return -1;
	if (setup->state == SETUP_IN_FORCE) {
		printf("%s has the settings already; nothing changed\n", text_visible(arena, setup->file.real));
		return setup_trust_offer(setup, records, err);
	}
	if (prepare(setup, records, &record, &base, err) < 0)
		return -1;
	status = setup_apply(&setup->request, base, &made, err);
	if (status == 0)
		status = replace(setup, records, &record, (struct jsonc_text){ made.data, made.length }, err);
	text_free(&made);
	return status < 0 ? -1 : setup_trust_offer(setup, records, err);
}

/* Restores the original bytes. The file is still what berm wrote. */
static int restore(const struct setup *setup, const struct setup_record *record, struct error *err)
{
	if (record->existed)
		return setup_file_write(setup->request.arena, &setup->file, record->original, err);
	return setup_file_remove(setup->request.arena, &setup->file, record->made, err);
}

static int undo_edits(const struct setup *setup, const struct setup_record *record, struct error *err)
{
	struct setup_request request = setup->request;
	struct text made = { 0 };
	int status;

	request.paths = &record->paths;
	status = setup_undo(&request, setup->file.text, record->original, &made, err);
	if (status == 0 &&
	    (made.length != setup->file.text.length || memcmp(made.data, setup->file.text.data, made.length) != 0)) {
		struct jsonc_text after = { made.data, made.length };
		print_difference(setup, after, false);
		status = setup_file_write(setup->request.arena, &setup->file, after, err);
	}
	text_free(&made);
	return status;
}

static int undo_found(struct setup *setup, int records, const struct setup_record *record, struct error *err)
{
	struct arena *arena = setup->request.arena;
	const char *shown = text_visible(arena, setup->file.real);
	char current[SHA256_HEX + 1];

	setup_hash(setup->file.text, current);
	if (setup->file.exists && strcmp(current, record->after) == 0) {
		print_difference(setup, record->original, !record->existed);
		if (restore(setup, record, err) < 0)
			return -1;
		printf("%s: restored\n", shown);
	} else if (setup->file.exists) {
		if (undo_edits(setup, record, err) < 0)
			return -1;
		printf("%s changed since then: removed only berm's settings\n", shown);
	} else
		printf("%s does not exist any more\n", shown);
	return setup_record_remove(arena, records, setup->host->name, setup->file.real, err);
}

static int undo(struct setup *setup, struct error *err)
{
	struct arena *arena = setup->request.arena;
	struct setup_record record;
	autoclose int records = -1;
	int found;

	if (!setup->has_file)
		return refuse_without_file(setup, err);
	if (refuse_inside(err) < 0 || refuse_unprivileged(setup, "--undo", err) < 0)
		return -1;
	records = setup_records_open(arena, &setup->session.context, err);
	if (records < 0 || open_host(setup, setup->host, err) < 0)
		return -1;
	found = setup_record_read(arena, records, setup->host->name, setup->file.real, &record, err);
	if (found < 0)
		return -1;
	if (found) {
		setup_trust_withdraw(setup, records);
		return undo_found(setup, records, &record, err);
	}
	if (setup->state == SETUP_ABSENT) {
		printf("%s does not have the settings; nothing changed\n", text_visible(arena, setup->file.real));
		return 0;
	}
	error_set(err, "%s has berm's settings, but no record of the original", setup->file.real);
	return error_hint(err, "remove them by hand: `berm setup %s --print` shows them", setup->host->name);
}

static int act(struct setup *setup, struct error *err)
{
	const struct options *options = &setup->session.options;
	if (options->wants_write)
		return write_host(setup, err);
	if (options->wants_undo)
		return undo(setup, err);
	if (options->wants_check)
		return setup_check(setup);
	if (check_path(setup->paths.program, err) < 0 || check_path(setup->paths.shims, err) < 0)
		return -1;
	if (options->wants_print)
		return print_settings(setup, err);
	return options->wants_json ? setup_print_json(setup) : show(setup, err);
}

static int setup_word(struct setup *setup, const char *word)
{
	const struct setup_host *host;
	struct error err = { 0 };
	int status;

	if (setup_choose_host(&setup->session.options, word, &host, &err) < 0 || open_machine(setup, &err) < 0)
		return report_error(&err);
	if (!host)
		return list(setup);
	status = open_host(setup, host, &err) < 0 ? -1 : act(setup, &err);
	return status < 0 ? report_error(&err) : status;
}

int cmd_setup(int argc, char **argv)
{
	struct setup setup = { 0 };
	struct error err = { 0 };
	const char *word;
	int status;

	if (arguments_parse(&setup.session.arena, COMMAND_SETUP, argc, argv, &setup.session.options, &word, &err) < 0)
		status = report_error(&err);
	else if (setup.session.options.wants_help)
		status = print_help();
	else
		status = setup_word(&setup, word);
	session_close(&setup.session);
	return status;
}
