/* SPDX-License-Identifier: Apache-2.0 */
/* How failures look on a terminal: one sentence, then what to do. Everything that came from outside is escaped. */
#include "common/cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/base/text.h"

const char *report_colour(FILE *stream, const char *code)
{
	static char sequence[16];
	const char *no_colour = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");
	if ((no_colour && no_colour[0]) || !isatty(fileno(stream)) || (terminal && strcmp(terminal, "dumb") == 0))
		return "";
	snprintf(sequence, sizeof sequence, "\033[%sm", code ? code : "0");
	return sequence;
}

/* Each line of `lines` indented by two blanks. */
static void add_indented(struct text *out, const char *lines)
{
	while (*lines) {
		size_t length = strcspn(lines, "\n");
		text_add(out, "  ");
		text_add_visible(out, lines, length);
		text_add(out, "\n");
		lines += length + (lines[length] == '\n');
	}
}

int report_error(const struct error *err)
{
	struct text out = { 0 };
	text_add(&out, "%sberm:", report_colour(stderr, "1;31"));
	text_add(&out, "%s ", report_colour(stderr, NULL));
	text_add_visible(&out, err->message, strlen(err->message));
	text_add(&out, "\n");
	add_indented(&out, err->hint);
	fputs(out.data, stderr);
	text_free(&out);
	return EXIT_REFUSED;
}

/* Columns count characters. What is shown escaped (a tab is four columns wide then) moves the caret along. */
static void add_caret(struct text *out, const char *line, unsigned column)
{
	text_add(out, "    ");
	for (unsigned at = 1; at < column && *line; at++) {
		struct text shown = { 0 };
		size_t length = 1, width = 0;
		while (((unsigned char)line[length] & 0xc0) == 0x80)
			length++;
		text_add_visible(&shown, line, length);
		for (size_t i = 0; i < shown.length; i++)
			width += ((unsigned char)shown.data[i] & 0xc0) != 0x80;
		text_add(out, "%*s", (int)width, "");
		text_free(&shown);
		line += length;
	}
	text_add(out, "%s^", report_colour(stderr, "1;32"));
	text_add(out, "%s\n", report_colour(stderr, NULL));
}

static void add_diagnostic(struct text *out, const struct diagnostic *diagnostic)
{
	const struct origin *origin = &diagnostic->origin;
	text_add(out, "%s", report_colour(stderr, "1"));
	text_add_visible(out, origin->source, strlen(origin->source));
	if (origin->line)
		text_add(out, ":%u:%u", origin->line, origin->column);
	text_add(out, ":%s ", report_colour(stderr, NULL));
	text_add_visible(out, diagnostic->message, strlen(diagnostic->message));
	text_add(out, "\n");
	if (diagnostic->line) {
		text_add(out, "    ");
		text_add_visible(out, diagnostic->line, strlen(diagnostic->line));
		text_add(out, "\n");
		add_caret(out, diagnostic->line, origin->column);
	}
	if (diagnostic->hint)
		add_indented(out, diagnostic->hint);
}

int report_diagnostics(const struct diagnostics *diagnostics)
{
	struct text out = { 0 };
	for (size_t i = 0; i < diagnostics->count; i++)
		add_diagnostic(&out, &diagnostics->items[i]);
	text_add(&out, "berm: %zu error%s in the policy; nothing was run\n", diagnostics->count,
		 diagnostics->count == 1 ? "" : "s");
	fputs(out.data, stderr);
	text_free(&out);
	return EXIT_REFUSED;
}

static const struct {
	const char *word, *code;
} level_colours[] = {
	{ "enforced", "32" }, { "strict", "32" },  { "repair", "32" },
	{ "launch", "33" },   { "partial", "33" }, { "missing", "31" },
};

/* Headings are the lines that are not indented; levels stand in a column of their own. */
static void print_line(const char *line, size_t length)
{
	enum { LEVEL_COLUMN = 15 };
	if (length > 0 && line[0] != ' ') {
		printf("%s%.*s", report_colour(stdout, "1"), (int)length, line);
		printf("%s\n", report_colour(stdout, NULL));
		return;
	}
	for (size_t i = 0; length > LEVEL_COLUMN && i < sizeof level_colours / sizeof level_colours[0]; i++) {
		size_t word = strlen(level_colours[i].word);
		if (length < LEVEL_COLUMN + word || strncmp(line + LEVEL_COLUMN, level_colours[i].word, word) != 0)
			continue;
		printf("%.*s%s", LEVEL_COLUMN, line, report_colour(stdout, level_colours[i].code));
		printf("%.*s%s", (int)word, line + LEVEL_COLUMN, report_colour(stdout, NULL));
		printf("%.*s\n", (int)(length - LEVEL_COLUMN - word), line + LEVEL_COLUMN + word);
		return;
	}
	printf("%.*s\n", (int)length, line);
}

void report_page(const char *page)
{
	while (*page) {
		size_t length = strcspn(page, "\n");
		print_line(page, length);
		page += length + (page[length] == '\n');
	}
}
