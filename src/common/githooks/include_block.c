/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts only; opens no file. */

#include "common/githooks/hooks.h"
#include <string.h>

#include "common/fs/path.h"
#include "common/base/text.h"

const char *const hooks_names[] = {
	"applypatch-msg",
	"pre-applypatch",
	"post-applypatch",
	"pre-commit",
	"pre-merge-commit",
	"prepare-commit-msg",
	"commit-msg",
	"post-commit",
	"pre-rebase",
	"post-checkout",
	"post-merge",
	"pre-push",
	"post-rewrite",
	"post-index-change",
	"pre-auto-gc",
	"reference-transaction",
	"sendemail-validate",
	/* in repositories that are pushed to */
	"pre-receive",
	"update",
	"post-receive",
	"post-update",
	NULL,
};

/* The first line records the state of the file before the block. */
static const char begin[] = "# berm hooks: begin; `berm hooks uninstall` takes these lines out";
static const char no_newline[] = " (and the newline before)";
static const char was_made[] = " (and the file, if nothing else is in it)";
static const char section[] = "[include]";
static const char end[] = "# berm hooks: end";

bool hooks_is_name(const char *name)
{
	for (size_t i = 0; hooks_names[i]; i++)
		if (strcmp(name, hooks_names[i]) == 0)
			return true;
	return false;
}

const char *hooks_directory(struct arena *arena, const char *home)
{
	return path_join(arena, home, ".local/share/berm/git-hooks");
}

const char *hooks_include(struct arena *arena, const char *home)
{
	return path_join(arena, home, ".local/share/berm/git-hooks.gitconfig");
}

/* Quotes a string for a shell. */
static const char *quoted(struct arena *arena, const char *string)
{
	struct text out = { 0 };
	const char *result;
	text_add(&out, "'");
	for (; *string; string++)
		if (*string == '\'')
			text_add(&out, "'\\''");
		else
			text_add_n(&out, string, 1);
	text_add(&out, "'");
	result = arena_copy(arena, out.data);
	text_free(&out);
	return result;
}

const char *hooks_script(struct arena *arena, const char *berm)
{
	const char *program = quoted(arena, berm);
	return arena_printf(
		arena,
		"#!/bin/sh\n"
		"# Written by `berm hooks install`: runs the repository's own hook of this name in the sandbox.\n"
		"if [ ! -x %s ]; then\n"
		"\techo \"berm: the hook ${0##*/} was not run: there is no \"%s >&2\n"
		"\techo \"  install berm again, or take the [include] of berm hooks out of git's configuration\" >&2\n"
		"\texit 125\n"
		"fi\n"
		"exec %s hook-run \"${0##*/}\" \"$@\"\n",
		program, program, program);
}

/* Quotes a value for a git configuration file. */
static const char *value(struct arena *arena, const char *string)
{
	struct text out = { 0 };
	const char *result;
	text_add(&out, "\"");
	for (; *string; string++)
		text_add(&out, strchr("\"\\", *string) ? "\\%c" : "%c", *string);
	text_add(&out, "\"");
	result = arena_copy(arena, out.data);
	text_free(&out);
	return result;
}

const char *hooks_include_text(struct arena *arena, const char *directory)
{
	return arena_printf(arena,
			    "# Written by `berm hooks install`, for the [include] that it adds.\n[core]\n\thooksPath = %s\n",
			    value(arena, directory));
}

const char *hooks_add(struct arena *arena, const char *text, const char *include)
{
	bool is_made = !text;
	const char *before = text ? hooks_remove(arena, text, &is_made) : "";
	size_t length;

	if (!before)
		before = text;
	length = strlen(before);
	return arena_printf(arena, "%s%s%s%s%s\n%s\n\tpath = %s\n%s\n", before,
			    length > 0 && before[length - 1] != '\n' ? "\n" : "", begin,
			    length > 0 && before[length - 1] != '\n' ? no_newline : "", is_made && length == 0 ? was_made : "",
			    section, value(arena, include), end);
}

/* Returns the length of the line at `at`, with its newline. */
static size_t line_length(const char *at)
{
	size_t length = strcspn(at, "\n");
	return length + (at[length] == '\n');
}

static bool is_line(const char *at, const char *line)
{
	size_t length = strlen(line);
	return strncmp(at, line, length) == 0 && (at[length] == '\n' || at[length] == '\0');
}

static const char *find_line(const char *text, const char *start)
{
	for (; *text; text += line_length(text))
		if (text_starts_with(text, start))
			return text;
	return NULL;
}

/* Keeps lines that git or a user added inside the block (git extends an existing section), under
 * the section's name. */
static void keep_others(struct text *out, const char *at, const char *last)
{
	bool has_section = false;
	for (; at < last; at += line_length(at)) {
		if (is_line(at, section) ||
		    (text_starts_with(at, "\tpath = \"") && strstr(at, "/berm/git-hooks.gitconfig\"\n") &&
		     strstr(at, "/berm/git-hooks.gitconfig\"\n") < at + line_length(at)))
			continue;
		if (!has_section && at[0] != '[')
			text_add(out, "%s\n", section);
		has_section = true;
		text_add_n(out, at, line_length(at));
	}
}

const char *hooks_remove(struct arena *arena, const char *text, bool *is_made)
{
	const char *first = find_line(text, begin), *last, *result;
	struct text out = { 0 };
	size_t before;

	*is_made = false;
	last = first ? find_line(first, end) : NULL;
	if (!last)
		return NULL;
	before = (size_t)(first - text);
	*is_made = memmem(first, line_length(first), was_made, strlen(was_made)) != NULL;
	if (memmem(first, line_length(first), no_newline, strlen(no_newline)) && before > 0)
		before--;
	text_add(&out, "%.*s", (int)before, text);
	keep_others(&out, first + line_length(first), last);
	text_add(&out, "%s", last + line_length(last));
	result = arena_copy(arena, out.data);
	text_free(&out);
	return result;
}
