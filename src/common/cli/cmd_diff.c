/* SPDX-License-Identifier: Apache-2.0 */
/* `berm diff`: what a copy changes in its project. Not on a terminal, the output is a patch that
 * `git apply` and `patch -p1` read; on one, bytes that a terminal would obey are shown as text. */
#include "common/cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/json_write.h"
#include "common/base/text.h"
#include "common/cli/copy_command.h"
#include "common/copies/text_diff.h"

enum { TEXT_MAX = 4 << 20, CONTEXT_LINES = 3, EXIT_CHANGED = 1 };

static int print_help(void)
{
	return report_help("berm diff [options] [COPY] [--] [PATH...]\n\n"
			   "Shows what a copy, made by `berm run --copy`, changes in the project (default:\n"
			   "the copy `default`, or the only one; `berm copies` lists them). Lines with !\n"
			   "are conflicts with changes of the project since then, and changes that `berm\n"
			   "apply` refuses, with the rule. A directory of the project cannot be renamed in\n"
			   "a copy (`git mv DIR` fails there).\n",
			   COMMAND_DIFF, "Exit status: 0; with --exit-code 1 if there are changes; 125 an error.\n");
}

struct printer {
	struct session *session;
	const struct copy *copy;
	struct text out;
	bool is_terminal;
};

static void add_coloured(struct printer *printer, const char *code, const char *line)
{
	text_add(&printer->out, "%s%s", report_colour(stdout, code), line);
	text_add(&printer->out, "%s\n", report_colour(stdout, NULL));
}

/* Adds a path as git writes it in patches: in quotes if it has bytes that would break the line. */
static void add_quoted(struct text *out, const char *prefix, const char *path)
{
	bool needs_quotes = false;
	for (const char *at = path; *at; at++)
		needs_quotes |= (unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f || *at == '"' || *at == '\\';
	if (!needs_quotes) {
		text_add(out, "%s%s", prefix, path);
		return;
	}
	text_add(out, "\"%s", prefix);
	for (const char *at = path; *at; at++) {
		unsigned char byte = (unsigned char)*at;
		if (byte == '"' || byte == '\\')
			text_add(out, "\\%c", byte);
		else if (byte < 0x20 || byte >= 0x7f)
			text_add(out, "\\%03o", byte);
		else
			text_add(out, "%c", byte);
	}
	text_add(out, "\"");
}

/* Keeps tabs, which are harmless and frequent. */
static void add_content(struct printer *printer, struct diff_text line)
{
	if (!printer->is_terminal) {
		text_add_n(&printer->out, line.bytes, line.length);
		return;
	}
	for (size_t at = 0; at < line.length;) {
		const char *tab = memchr(line.bytes + at, '\t', line.length - at);
		size_t length = tab ? (size_t)(tab - line.bytes) - at : line.length - at;
		text_add_visible(&printer->out, line.bytes + at, length);
		if (tab)
			text_add(&printer->out, "\t");
		at += length + (tab != NULL);
	}
}

static void add_hunk(void *self, struct diff_range before, struct diff_range after)
{
	struct printer *printer = self;
	char header[96];
	snprintf(header, sizeof header, "@@ -%zu,%zu +%zu,%zu @@", before.start, before.count, after.start, after.count);
	add_coloured(printer, "36", header);
}

static void add_line(void *self, char mark, struct diff_text line, bool has_end)
{
	struct printer *printer = self;
	const char *code = mark == '+' ? "32" : mark == '-' ? "31" : NULL;
	if (code)
		text_add(&printer->out, "%s", report_colour(stdout, code));
	text_add(&printer->out, "%c", mark);
	add_content(printer, line);
	if (code)
		text_add(&printer->out, "%s", report_colour(stdout, NULL));
	text_add(&printer->out, has_end ? "\n" : "\n\\ No newline at end of file\n");
}

/* Reads one side for the diff: the bytes of a file, the target of a symlink. False if it cannot be
 * shown. */
static bool read_side(const struct printer *printer, const struct copy_change *change, enum copy_which which,
		      struct diff_text *text)
{
	const struct copy_side *side = which == COPY_BEFORE ? &change->before : &change->after;
	char *bytes = NULL;

	*text = (struct diff_text){ .bytes = "" };
	if (side->type == FILE_SYMLINK && side->target)
		*text = (struct diff_text){ side->target, strlen(side->target) };
	if (side->type != FILE_REGULAR)
		return true;
	if (copy_read(&printer->session->arena, printer->copy, change, which, TEXT_MAX, &bytes, &text->length) < 0)
		return false;
	text->bytes = bytes;
	return !text_diff_is_binary(*text);
}

static unsigned git_mode(const struct copy_side *side)
{
	if (side->type == FILE_SYMLINK)
		return 0120000;
	return side->mode & 0100 ? 0100755 : 0100644;
}

static bool is_shown_as_file(const struct copy_side *side)
{
	return side->type == FILE_REGULAR || side->type == FILE_SYMLINK;
}

static void add_binary(struct printer *printer, const struct copy_change *change)
{
	struct text *out = &printer->out;
	text_add(out, "Binary or large files ");
	add_quoted(out, "a/", change->path);
	text_add(out, " (");
	text_add_size(out, change->before.size);
	text_add(out, ") and ");
	add_quoted(out, "b/", change->path);
	text_add(out, " (");
	text_add_size(out, change->after.size);
	text_add(out, ") differ\n");
}

/* Adds the names of a patch. A side that does not exist is /dev/null. */
static void add_names(struct printer *printer, const struct copy_change *change, bool has_before, bool has_after)
{
	struct text line = { 0 };
	text_add(&line, "--- ");
	if (has_before)
		add_quoted(&line, "a/", change->path);
	else
		text_add(&line, "/dev/null");
	add_coloured(printer, "1", line.data);
	text_free(&line);
	text_add(&line, "+++ ");
	if (has_after)
		add_quoted(&line, "b/", change->path);
	else
		text_add(&line, "/dev/null");
	add_coloured(printer, "1", line.data);
	text_free(&line);
}

/* Git knows only one bit of a mode. */
static void add_note_of_mode(struct printer *printer, const struct copy_change *change)
{
	text_add(&printer->out, "# %s: mode %04o -> %04o\n", text_visible(&printer->session->arena, change->path),
		 (unsigned)change->before.mode, (unsigned)change->after.mode);
}

static void add_header(struct printer *printer, const struct copy_change *change, bool has_before, bool has_after)
{
	struct text line = { 0 };
	if (has_before && has_after && git_mode(&change->before) == git_mode(&change->after) &&
	    change->before.mode != change->after.mode && change->after.type == FILE_REGULAR)
		add_note_of_mode(printer, change);
	if (change->kind == COPY_MODE && git_mode(&change->before) == git_mode(&change->after))
		return;
	text_add(&line, "diff --git ");
	add_quoted(&line, "a/", change->path);
	text_add(&line, " ");
	add_quoted(&line, "b/", change->path);
	add_coloured(printer, "1", line.data);
	text_free(&line);
	if (!has_before)
		text_add(&printer->out, "new file mode %06o\n", git_mode(&change->after));
	else if (!has_after)
		text_add(&printer->out, "deleted file mode %06o\n", git_mode(&change->before));
	else if (git_mode(&change->before) != git_mode(&change->after))
		text_add(&printer->out, "old mode %06o\nnew mode %06o\n", git_mode(&change->before), git_mode(&change->after));
}

/* Adds the patch of one side to another; is_before or is_after is false for /dev/null. */
static void add_patch(struct printer *printer, const struct copy_change *change, bool has_before, bool has_after)
{
	const struct diff_sink sink = { .self = printer, .hunk = add_hunk, .line = add_line };
	struct diff_text before = { .bytes = "" }, after = { .bytes = "" };
	/* Both are read in any case: a failure leaves an empty text. */
	bool is_old_text = !has_before || read_side(printer, change, COPY_BEFORE, &before);
	bool is_new_text = !has_after || read_side(printer, change, COPY_AFTER, &after);

	add_header(printer, change, has_before, has_after);
	if (!is_old_text || !is_new_text) {
		add_binary(printer, change);
		return;
	}
	if (before.length == after.length && memcmp(before.bytes, after.bytes, before.length) == 0)
		return;
	add_names(printer, change, has_before, has_after);
	text_diff(before, after, CONTEXT_LINES, &sink);
}

/* Names what a patch cannot express. */
static void add_note(struct printer *printer, const struct copy_change *change)
{
	struct text *out = &printer->out;
	const char *path = text_visible(&printer->session->arena, change->path);
	switch (change->kind) {
	case COPY_ADDED:
		text_add(out, "# new %s %s\n", copy_type_name(change->after.type), path);
		return;
	case COPY_DELETED:
		text_add(out, "# deleted %s %s\n", copy_type_name(change->before.type), path);
		return;
	case COPY_RETYPED:
		text_add(out, "# %s was a %s and is a %s\n", path, copy_type_name(change->before.type),
			 copy_type_name(change->after.type));
		return;
	case COPY_MODE:
	case COPY_MODIFIED:
		break;
	}
	add_note_of_mode(printer, change);
}

static void add_change(struct printer *printer, const struct copy_change *change)
{
	bool has_before = is_shown_as_file(&change->before), has_after = is_shown_as_file(&change->after);
	struct text marks = { 0 };

	copy_add_marks(&printer->session->arena, &marks, change, false, "");
	if (marks.data) {
		text_add(&printer->out, "%s%s", report_colour(stdout, "33"), marks.data);
		text_add(&printer->out, "%s", report_colour(stdout, NULL));
	}
	text_free(&marks);
	if (!has_before && !has_after) {
		add_note(printer, change);
		return;
	}
	if (change->kind != COPY_RETYPED) {
		add_patch(printer, change, has_before, has_after);
		return;
	}
	add_note(printer, change);
	if (has_before)
		add_patch(printer, change, true, false);
	if (has_after)
		add_patch(printer, change, false, true);
}

static void add_stat(struct printer *printer, const struct copy_change *change)
{
	struct diff_text before, after;
	struct text *out = &printer->out;
	bool is_old_text = read_side(printer, change, COPY_BEFORE, &before);
	bool is_new_text = read_side(printer, change, COPY_AFTER, &after);

	text_add(out, "%c%c  ", copy_letter(change), change->conflict || change->refused ? '!' : ' ');
	if (!is_shown_as_file(&change->before) && !is_shown_as_file(&change->after)) {
		text_add(out, "%13s",
			 copy_type_name(change->after.type == FILE_ABSENT ? change->before.type : change->after.type));
	} else if (is_old_text && is_new_text) {
		struct diff_counts counts = text_diff(before, after, 0, NULL);
		text_add(out, "%s%+6ld", report_colour(stdout, "32"), (long)counts.added);
		text_add(out, "%s %s", report_colour(stdout, NULL), report_colour(stdout, "31"));
		text_add(out, "-%-5zu%s", counts.removed, report_colour(stdout, NULL));
	} else {
		struct text size = { 0 };
		text_add_size(&size, change->after.size);
		text_add(out, "%13s", size.data);
		text_free(&size);
	}
	text_add(out, "  %s\n", text_visible(&printer->session->arena, change->path));
	copy_add_marks(&printer->session->arena, out, change, false, "      ");
}

static void add_json_side(struct json *json, const char *name, const struct copy_side *side)
{
	if (side->type == FILE_ABSENT) {
		json_string(json, name, NULL);
		return;
	}
	json_object(json, name);
	json_string(json, "type", copy_type_name(side->type));
	json_number(json, "mode", side->mode);
	json_number(json, "size", side->size);
	if (side->target)
		json_string(json, "target", side->target);
	json_object_end(json);
}

static const char *kind_name(const struct copy_change *change)
{
	static const char *const names[] = {
		[COPY_ADDED] = "added",	    [COPY_MODIFIED] = "modified", [COPY_MODE] = "mode",
		[COPY_DELETED] = "deleted", [COPY_RETYPED] = "type",
	};
	return names[change->kind];
}

static void add_json(struct json *json, const struct copy_change *change)
{
	json_object(json, NULL);
	json_string(json, "path", change->path);
	json_string(json, "change", kind_name(change));
	add_json_side(json, "before", &change->before);
	add_json_side(json, "after", &change->after);
	json_string(json, "conflict", change->conflict);
	json_string(json, "refused", change->refused);
	json_boolean(json, "leads_out", change->leads_out);
	json_object_end(json);
}

static bool is_wanted(const struct copy_change *change, const struct copy_words *paths)
{
	for (size_t i = 0; i < paths->count; i++) {
		size_t length = strlen(paths->items[i]);
		if (strcmp(paths->items[i], ".") == 0 || (strncmp(change->path, paths->items[i], length) == 0 &&
							  (change->path[length] == '\0' || change->path[length] == '/')))
			return true;
	}
	return paths->count == 0;
}

/* Adds one line for a git directory: its files are not for people. They are shown if a path of the
 * command line names one. */
static void add_unit(struct printer *printer, const struct copy_changes *changes, size_t index)
{
	const struct copy_change *change = &changes->items[index];
	size_t count = copy_count_unit(changes, index);
	const char *unit = text_visible(&printer->session->arena, change->unit);
	text_add(&printer->out, "# %s: %zu change%s of git's own files (berm diff -- %s shows them)\n", unit, count,
		 count == 1 ? "" : "s", unit);
	copy_add_marks(&printer->session->arena, &printer->out, change, true, "");
}

/* Returns false if nothing is to be printed about this change for people. */
static bool is_shown(struct printer *printer, const struct copy_changes *changes, size_t index, bool has_paths)
{
	const struct copy_change *change = &changes->items[index];
	if (change->unit && !has_paths) {
		if (copy_begins_unit(changes, index))
			add_unit(printer, changes, index);
		return false;
	}
	return has_paths || !copy_is_folded(changes, index);
}

static void add_for_people(struct printer *printer, const struct copy_changes *changes, size_t index, bool has_paths)
{
	const struct copy_change *change = &changes->items[index];
	const struct options *options = &printer->session->options;
	if (options->wants_names)
		text_add(&printer->out, "%s\n", text_visible(&printer->session->arena, change->path));
	else if (!is_shown(printer, changes, index, has_paths))
		return;
	else if (options->wants_stat)
		add_stat(printer, change);
	else
		add_change(printer, change);
}

static void print_changes(struct printer *printer, const struct copy_changes *changes, const struct copy_words *paths,
			  size_t *shown)
{
	const struct options *options = &printer->session->options;
	struct json json = { .out = &printer->out };

	if (options->wants_json) {
		json_object(&json, NULL);
		json_number(&json, "schema", 1);
		json_string(&json, "copy", printer->copy->name);
		json_boolean(&json, "doubtful", changes->is_doubtful);
		json_list(&json, "changes");
	}
	for (size_t i = 0; i < changes->count; i++) {
		const struct copy_change *change = &changes->items[i];
		if (!is_wanted(change, paths))
			continue;
		++*shown;
		if (options->wants_json)
			add_json(&json, change);
		else
			add_for_people(printer, changes, i, paths->count > 0);
		/* Written piece by piece: a copy may be large. */
		if (!options->wants_json && printer->out.length > 0) {
			fwrite(printer->out.data, 1, printer->out.length, stdout);
			text_free(&printer->out);
		}
	}
	if (options->wants_json) {
		json_list_end(&json);
		json_object_end(&json);
		report_text(&printer->out);
	}
}

static int diff(struct session *session, struct copy_words *words, const struct copy *copy, struct error *err)
{
	struct printer printer = { .session = session, .copy = copy, .is_terminal = isatty(STDOUT_FILENO) };
	struct copy_changes changes;
	struct copy_judge judge;
	size_t shown = 0;

	if (copy_project_paths(session, words->items, words->count, err) < 0 ||
	    copies_judge_open(session, copy, &judge, err) < 0 ||
	    copy_list_changes(&session->arena, copy, &judge, &changes, err) < 0)
		return -1;
	print_changes(&printer, &changes, words, &shown);
	fflush(stdout);
	if (changes.is_doubtful)
		report_line("the machine was restarted before this copy was on the disk: its files may be damaged");
	if (session->options.wants_stat && !session->options.wants_json)
		printf("%zu change%s in copy '%s'\n", shown, shown == 1 ? "" : "s", copy->name);
	return session->options.wants_exit_code && shown > 0 ? EXIT_CHANGED : 0;
}

int cmd_diff(int argc, char **argv)
{
	struct session session = { 0 };
	struct copy copy = { .fd = -1, .state = -1 };
	struct copy_words words;
	struct error err = { 0 };
	int status;

	if (copy_words_parse(&session, COMMAND_DIFF, argc, argv, &words, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (session_open_here(&session, &err) < 0)
		return session.diagnostics.count ? report_diagnostics(&session.diagnostics) : report_error(&err);
	status = copy_open_named(&session, &words, &copy, &err);
	if (status == 0)
		status = diff(&session, &words, &copy, &err);
	if (status < 0)
		status = report_error(&err);
	copy_close(&copy);
	session_close(&session);
	return status;
}
