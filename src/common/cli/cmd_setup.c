/* SPDX-License-Identifier: Apache-2.0 */
/* `berm setup`: puts berm into the settings of an agent, editor or tool, and takes it out again. Shows a difference unless it is told
 * to write; writes nothing that it could not take back. */
#include "common/cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/json_write.h"
#include "common/format/diff.h"
#include "common/cli/session.h"
#include "common/setup/edits.h"
#include "common/setup/settings_file.h"

enum { NOT_IN_FORCE = 1 };

struct setup {
	struct session session;
	struct install_paths paths;
	const struct setup_host *host;
	struct setup_request request;
	struct setup_file file;
	enum setup_state state;
	bool has_file; /* there is something that can be edited */
};

static int print_help(void)
{
	struct text out = { 0 };
	text_add(&out, "berm setup [options] [HOST]\n\n"
		       "Lets an agent, editor or tool run its commands in the sandbox. Without options\n"
		       "it shows what would change in the host's settings; --write makes the change\n"
		       "and keeps what was there, --undo takes it back. Without HOST: every host, and\n"
		       "whether it is set up.\n\n");
	options_help(COMMAND_SETUP, &out);
	text_add(&out, "\nExit status: 0 done, or in force; 1 not in force (--check); 125 an error.\n");
	fputs(out.data, stdout);
	text_free(&out);
	return 0;
}

/* What is written into settings, shell commands and regular expressions has to mean itself there. */
static int check_path(const char *path, struct error *err)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+";
	if (path[strspn(path, plain)] == '\0')
		return 0;
	error_set(err, "%s: settings cannot carry this path as it is", path);
	return error_hint(err, "install berm where the path has only letters, digits and . _ - + /");
}

static int check_program(const char *path, struct error *err)
{
	if (check_path(path, err) < 0)
		return -1;
	if (access(path, X_OK) == 0)
		return 0;
	error_set(err, "%s is not there", path);
	return error_hint(err, "this berm is not completely installed: settings that name it would stop the host's commands");
}

static int check_installation(const struct setup *setup, struct error *err)
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

static int open_host(struct setup *setup, const struct setup_host *host, struct error *err)
{
	struct session *session = &setup->session;
	const char *file = session->options.file, *path;

	setup->host = host;
	path = file ? path_absolute(&session->arena, session->context.working_directory, file)
		    : setup_host_file(&session->arena, host, &session->context);
	setup->request = (struct setup_request){ &session->arena, host, &setup->paths, session->context.os, path };
	setup->state = SETUP_ABSENT;
	setup->file = (struct setup_file){ .text = { "", 0 } };
	setup->has_file = path;
	if (!path)
		return 0;
	if (setup_file_read(&session->arena, &session->context, path, &setup->file, err) < 0)
		return -1;
	/* Without the file there is no server, and nothing to write. */
	if (host->format == SETUP_SERVERS && !setup->file.exists) {
		setup->has_file = false;
		return file ? error_set(err, "%s: there is no such file", path) : 0;
	}
	return setup_judge(&setup->request, setup->file.text, &setup->state, err);
}

/* A variable that names one of the shims, or carries a setting that does. */
static enum setup_state judge_variable(const struct setup *setup)
{
	const char *value = setup->host->variable ? getenv(setup->host->variable) : NULL;
	return value && strstr(value, path_join(setup->request.arena, setup->paths.shims, "")) ? SETUP_IN_FORCE : SETUP_ABSENT;
}

static enum setup_state judge(const struct setup *setup)
{
	return setup->state == SETUP_ABSENT ? judge_variable(setup) : setup->state;
}

static const char *state_name(const struct setup *setup)
{
	static const char *const names[] = {
		[SETUP_ABSENT] = "not set up",
		[SETUP_PARTLY] = "partly set up",
		[SETUP_IN_FORCE] = "in force",
	};
	if (!setup->has_file && judge(setup) == SETUP_ABSENT)
		return "cannot be seen from here";
	return names[judge(setup)];
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
	json_string(json, "state", state_name(setup));
	json_boolean(json, "in_force", judge(setup) == SETUP_IN_FORCE);
	json_string(json, "file", setup->has_file ? setup->file.path : NULL);
	json_string(json, "leads_to", setup->file.is_link ? setup->file.real : NULL);
	if (setup_settings(&setup->request, &settings, &ignored) == 0)
		json_string(json, "settings", settings.data);
	text_free(&settings);
	json_list(json, "notes");
	for (size_t i = 0; host->notes[i]; i++)
		json_string(json, NULL, setup_expand(setup->request.arena, host->notes[i], &setup->paths, setup->request.os));
	json_list_end(json);
	json_object_end(json);
}

static int print_json_host(const struct setup *setup)
{
	struct text out = { 0 };
	struct json json = { .out = &out };
	json_host(&json, NULL, setup);
	fputs(out.data, stdout);
	text_free(&out);
	return 0;
}

static void add_row(struct setup *setup, struct text *out, struct json *json)
{
	struct error err = { 0 };
	bool is_readable = open_host(setup, setup->host, &err) == 0;

	if (json)
		json_host(json, NULL, setup);
	else
		text_add(out, "  %-12s %-25s %s\n", setup->host->name, is_readable ? state_name(setup) : "cannot be read",
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
		text_add(&out, "\n`berm setup HOST` shows what it would change.\n");
	fputs(out.data, stdout);
	text_free(&out);
	return 0;
}

static void print_notes(const struct setup *setup)
{
	struct text out = { 0 };
	for (size_t i = 0; setup->host->notes[i]; i++) {
		text_add(&out, "%s ", i == 0 ? "\nnote:" : "     ");
		text_add_wrapped(&out, strlen("note: "),
				 setup_expand(setup->request.arena, setup->host->notes[i], &setup->paths, setup->request.os));
	}
	if (out.length > 0)
		fputs(out.data, stdout);
	text_free(&out);
}

static void print_link(const struct setup *setup)
{
	struct arena *arena = setup->request.arena;
	if (setup->file.is_link)
		printf("%s leads to %s; that file is changed, the link stays\n", text_visible(arena, setup->file.path),
		       text_visible(arena, setup->file.real));
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
	line_diff(arena, setup->file.exists ? name : "/dev/null", is_removed ? "/dev/null" : name, setup->file.text, after,
		  &out);
	if (out.data)
		fputs(out.data, stdout);
	text_free(&out);
}

static int show(struct setup *setup, struct error *err)
{
	struct text made = { 0 };
	int status = 0;

	printf("%s: %s (%s)\n", setup->host->title, state_name(setup), setup_label_name(setup->host->label));
	if (!setup->has_file) {
		printf("\n");
		status = print_settings(setup, err);
	} else if (setup->state != SETUP_IN_FORCE) {
		print_link(setup);
		status = setup_apply(&setup->request, setup->file.text, &made, err);
		if (status == 0) {
			print_difference(setup, (struct jsonc_text){ made.data, made.length }, false);
			printf("\nTo make this change: berm setup %s --write\n", setup->host->name);
		}
		text_free(&made);
	} else
		printf("%s has it; to take it back: berm setup %s --undo\n",
		       text_visible(setup->request.arena, setup->file.real), setup->host->name);
	if (status == 0)
		print_notes(setup);
	return status;
}

/* The host's settings are the user's to change, in a terminal of the user's own. */
static int refuse_inside(struct error *err)
{
	const char *mark = getenv("BERM");
	if (!mark || strcmp(mark, "1") != 0)
		return 0;
	error_set(err, "this is a sandbox (BERM=1), and a host is not set up from inside");
	return error_hint(err, "run it in your own terminal");
}

/* What the change is made from. An earlier berm may have written the settings with other paths (it was installed elsewhere since): those go
 * first. `record` becomes what will be kept: the original of the earlier --write, if the file is still what that one wrote. */
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
	    setup_take_back(&earlier, file->text, record->original, &made, &ignored) == 0)
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
	printf("\nwrote %s; to take it back: berm setup %s --undo\n", text_visible(arena, setup->file.real), setup->host->name);
	print_notes(setup);
	return 0;
}

static int refuse_without_file(const struct setup *setup, struct error *err)
{
	error_set(err, "%s: there is no file to edit; --file=PATH names one", setup->host->title);
	return error_hint(err, "`berm setup %s` says what to do by hand", setup->host->name);
}

static int write_host(struct setup *setup, struct error *err)
{
	struct arena *arena = setup->request.arena;
	struct setup_record record = { 0 };
	struct jsonc_text base = { "", 0 };
	struct text made = { 0 };
	autoclose int records = -1;
	int status;

	if (!setup->has_file)
		return refuse_without_file(setup, err);
	if (refuse_inside(err) < 0 || check_installation(setup, err) < 0)
		return -1;
	records = setup_records_open(arena, &setup->session.context, err);
	/* Again, under the lock: another berm may have been there. */
	if (records < 0 || open_host(setup, setup->host, err) < 0)
		return -1;
	if (setup->state == SETUP_IN_FORCE) {
		printf("%s has it already; nothing changed\n", text_visible(arena, setup->file.real));
		return 0;
	}
	if (prepare(setup, records, &record, &base, err) < 0)
		return -1;
	status = setup_apply(&setup->request, base, &made, err);
	if (status == 0)
		status = replace(setup, records, &record, (struct jsonc_text){ made.data, made.length }, err);
	text_free(&made);
	return status;
}

/* The file is what berm wrote: the bytes from before come back. */
static int restore(const struct setup *setup, const struct setup_record *record, struct error *err)
{
	if (record->existed)
		return setup_file_write(setup->request.arena, &setup->file, record->original, err);
	return setup_file_remove(setup->request.arena, &setup->file, record->made, err);
}

static int take_out(const struct setup *setup, const struct setup_record *record, struct error *err)
{
	struct setup_request request = setup->request;
	struct text made = { 0 };
	int status;

	request.paths = &record->paths;
	status = setup_take_back(&request, setup->file.text, record->original, &made, err);
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
		printf("%s is what it was before\n", shown);
	} else if (setup->file.exists) {
		if (take_out(setup, record, err) < 0)
			return -1;
		printf("%s was changed since; berm's settings are out, the rest is as it was\n", shown);
	} else
		printf("%s is not there any more\n", shown);
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
	if (refuse_inside(err) < 0)
		return -1;
	records = setup_records_open(arena, &setup->session.context, err);
	if (records < 0 || open_host(setup, setup->host, err) < 0)
		return -1;
	found = setup_record_read(arena, records, setup->host->name, setup->file.real, &record, err);
	if (found < 0)
		return -1;
	if (found)
		return undo_found(setup, records, &record, err);
	if (setup->state == SETUP_ABSENT) {
		printf("%s does not have it; nothing changed\n", text_visible(arena, setup->file.real));
		return 0;
	}
	error_set(err, "%s has berm's settings, but what was there before is not recorded", setup->file.real);
	return error_hint(err, "take them out by hand: `berm setup %s --print` shows them", setup->host->name);
}

static int check(struct setup *setup)
{
	struct error err = { 0 };
	bool is_in_force = judge(setup) == SETUP_IN_FORCE;

	if (is_in_force && check_installation(setup, &err) < 0) {
		report_error(&err);
		return NOT_IN_FORCE;
	}
	if (setup->session.options.wants_json)
		print_json_host(setup);
	else
		printf("%s: %s\n", setup->host->title, state_name(setup));
	return is_in_force ? 0 : NOT_IN_FORCE;
}

static int unknown_host(const char *word, struct error *err)
{
	const char *names[32], *nearest;
	size_t count = 0;
	for (; count < setup_host_count && count < sizeof names / sizeof names[0]; count++)
		names[count] = setup_host_table[count].name;
	nearest = text_nearest(word, names, count);
	error_set(err, "no such host: %s", word);
	return nearest ? error_hint(err, "did you mean `%s`?", nearest) : error_hint(err, "`berm setup` lists them");
}

static int act(struct setup *setup, struct error *err)
{
	const struct options *options = &setup->session.options;
	if (options->wants_write)
		return write_host(setup, err);
	if (options->wants_undo)
		return undo(setup, err);
	if (options->wants_check)
		return check(setup);
	if (check_path(setup->paths.program, err) < 0 || check_path(setup->paths.shims, err) < 0)
		return -1;
	if (options->wants_print)
		return print_settings(setup, err);
	return options->wants_json ? print_json_host(setup) : show(setup, err);
}

static int setup_word(struct setup *setup, const char *word)
{
	const struct options *options = &setup->session.options;
	const struct setup_host *host = word ? setup_host_find(word) : NULL;
	struct error err = { 0 };
	int status;

	if (options->wants_write + options->wants_undo + options->wants_check + options->wants_print > 1)
		error_set(&err, "--write, --undo, --check and --print exclude each other");
	else if (word && !host)
		unknown_host(word, &err);
	else if (!word &&
		 (options->wants_write || options->wants_undo || options->wants_check || options->wants_print || options->file))
		error_set(&err, "which host? `berm setup` lists them");
	if (error_is_set(&err) || open_machine(setup, &err) < 0)
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

	if (words_parse(&setup.session.arena, COMMAND_SETUP, argc, argv, &setup.session.options, &word, &err) < 0)
		status = report_error(&err);
	else if (setup.session.options.wants_help)
		status = print_help();
	else
		status = setup_word(&setup, word);
	session_close(&setup.session);
	return status;
}
