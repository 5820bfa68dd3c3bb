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
	if (session->options.wants_debugger || (session->options.file && !setup->host->has_editions))
		return;
	if (setup->state == SETUP_IN_FORCE)
		setup_find_overrides(&request, &setup->overrides);
	setup_find_outside(&request, &setup->outside);
}

/* Users only look at the administrator's file. */
static int read_file(struct setup *setup, const char *path, struct error *err)
{
	struct session *session = &setup->session;
	struct setup_file *file = &setup->file;
	if (!session->options.wants_managed || geteuid() == 0)
		return setup_file_read(&session->arena, &session->context, path, file, err);
	*file = (struct setup_file){ .path = path, .real = path };
	if (setup_file_peek(&session->arena, path, &file->text, err) < 0)
		return -1;
	file->exists = file->text.length > 0;
	return 0;
}

int setup_open_host(struct setup *setup, const struct setup_host *host, struct error *err)
{
	struct session *session = &setup->session;
	const char *file = session->options.file, *path;

	setup->host = host;
	setup->overrides = setup->outside = (struct setup_overrides){ 0 };
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
	if (read_file(setup, path, err) < 0)
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

static void print_notes(const struct setup *setup)
{
	struct text out = { .width = report_width(stdout) };
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
	report_difference(&out);
}

static int show(struct setup *setup, struct error *err)
{
	struct text made = { 0 };
	int status = 0;

	report_item(
		setup_mark(setup), arena_printf(setup->request.arena, "%s: ", setup->host->title),
		arena_printf(setup->request.arena, "%s (%s)", setup_state_name(setup), setup_label_name(setup->host->label)));
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
	if (records < 0 || setup_open_host(setup, asked, err) < 0)
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
	if (records < 0 || setup_open_host(setup, setup->host, err) < 0)
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

/* For --check: where the user's own file has nothing, the administrator's may have it. */
static int open_managed(struct setup *setup, const struct setup_host *host, struct error *err)
{
	struct options *options = &setup->session.options;
	if (!options->wants_check || setup->state != SETUP_ABSENT || !host->managed || options->file || options->wants_managed)
		return 0;
	options->wants_managed = true;
	if (setup_open_host(setup, host, err) < 0)
		return -1;
	if (setup->state == SETUP_IN_FORCE)
		return 0;
	options->wants_managed = false;
	return setup_open_host(setup, host, err);
}

static int setup_word(struct setup *setup, const char *word)
{
	const struct setup_host *host;
	struct error err = { 0 };
	int status;

	if (setup_choose_host(&setup->session.options, word, &host, &err) < 0 || open_machine(setup, &err) < 0)
		return report_error(&err);
	if (!host)
		return setup_list(setup);
	status = setup_open_host(setup, host, &err) < 0 || open_managed(setup, host, &err) < 0 ? -1 : act(setup, &err);
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
