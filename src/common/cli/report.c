/* SPDX-License-Identifier: Apache-2.0 */
/* Prints failures and pages: a message, then hints. Escapes everything that comes from outside. */
#include "common/cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/base/arena.h"
#include "common/base/text.h"
#include "common/fs/path.h"

static bool is_dumb(void)
{
	const char *terminal = getenv("TERM");
	return terminal && strcmp(terminal, "dumb") == 0;
}

const char *report_colour(FILE *stream, const char *code)
{
	static char sequence[16];
	const char *no_colour = getenv("NO_COLOR");
	if ((no_colour && no_colour[0]) || !isatty(fileno(stream)) || is_dumb())
		return "";
	snprintf(sequence, sizeof sequence, "\033[%sm", code ? code : "0");
	return sequence;
}

size_t report_columns(FILE *stream)
{
	struct winsize size = { 0 };
	if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return TEXT_WIDTH;
	return size.ws_col < REPORT_WIDTH_MIN ? REPORT_WIDTH_MIN : size.ws_col;
}

size_t report_width(FILE *stream)
{
	size_t columns = report_columns(stream);
	return columns < REPORT_WIDTH_MAX ? columns : REPORT_WIDTH_MAX;
}

bool report_has_symbols(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *terminal = getenv("TERM");
	if (!terminal || is_dumb() || strcmp(terminal, "linux") == 0)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *locale = getenv(names[i]), *charset;
		if (!locale || !locale[0])
			continue;
		charset = strrchr(locale, '.');
		return charset && (strcasecmp(charset, ".UTF-8") == 0 || strcasecmp(charset, ".utf8") == 0);
	}
	return false;
}

enum { MARK_COLUMNS = 2 };

static const struct {
	const char *colour, *symbol, *ascii;
} marks[] = {
	[MARK_GOOD] = { "32", "\u2713", "+" },
	[MARK_WEAKER] = { "33", "\u25b3", "!" },
	[MARK_BAD] = { "31", "\u2717", "x" },
	[MARK_NONE] = { "", " ", " " },
};

const char *report_mark_colour(enum report_mark mark)
{
	return mark == MARK_NONE ? "" : report_colour(stdout, marks[mark].colour);
}

void report_mark(enum report_mark mark)
{
	if (!isatty(STDOUT_FILENO))
		return;
	printf("%s%s", report_mark_colour(mark), report_has_symbols() ? marks[mark].symbol : marks[mark].ascii);
	printf("%s ", mark == MARK_NONE ? "" : report_colour(stdout, NULL));
}

/* Returns the bytes of the text that fill at most this many columns. */
static size_t bytes_of(const char *text, size_t columns)
{
	size_t at = 0;
	while (text[at]) {
		if (((unsigned char)text[at] & 0xc0) != 0x80 && columns-- == 0)
			break;
		at++;
	}
	return at;
}

const char *report_path(struct arena *arena, const char *home, const char *path, size_t columns)
{
	const char *dots = report_has_symbols() ? "\u2026" : "...";
	size_t width, kept, head;

	if (!isatty(STDOUT_FILENO))
		return path;
	if (home && strcmp(path, home) != 0 && path_is_within(path, home))
		path = arena_printf(arena, "~%s", path + strlen(home));
	width = text_columns(path, strlen(path));
	if (columns == 0 || width <= columns)
		return path;
	kept = columns - text_columns(dots, strlen(dots));
	head = kept / 4; /* more of the end, where paths differ */
	return arena_printf(arena, "%.*s%s%s", (int)bytes_of(path, head), path, dots,
			    path + bytes_of(path, width - (kept - head)));
}

/* Prints words that start at column `indent`, wrapped at blanks on a terminal. */
static void print_wrapped(size_t indent, const char *words)
{
	struct text out = { .width = report_width(stdout) };
	if (isatty(STDOUT_FILENO))
		text_add_wrapped(&out, indent, words);
	else
		text_add(&out, "%s\n", words);
	fputs(out.data, stdout);
	text_free(&out);
}

void report_item(enum report_mark mark, const char *lead, const char *words)
{
	report_mark(mark);
	printf("%s%s", report_mark_colour(mark), lead);
	printf("%s", mark == MARK_NONE ? "" : report_colour(stdout, NULL));
	print_wrapped(MARK_COLUMNS + text_columns(lead, strlen(lead)), words);
}

void report_detail(size_t indent, const char *words)
{
	size_t column = isatty(STDOUT_FILENO) ? indent + MARK_COLUMNS : indent;
	printf("%*s", (int)column, "");
	print_wrapped(column, words);
}

void report_difference(struct text *difference)
{
	const char *line = difference->data ? difference->data : "";
	while (*line) {
		size_t length = strcspn(line, "\n");
		const char *code = line[0] == '+' ? "32" : line[0] == '-' ? "31" : line[0] == '@' ? "36" : NULL;
		printf("%s%.*s", code ? report_colour(stdout, code) : "", (int)length, line);
		printf("%s\n", code ? report_colour(stdout, NULL) : "");
		line += length + (line[length] == '\n');
	}
	text_free(difference);
}

/* Adds a sentence after "berm: ", wrapped if stderr is a terminal. */
static void add_sentence(struct text *out, const char *sentence)
{
	struct text visible = { 0 };
	text_add_visible(&visible, sentence, strlen(sentence));
	text_add(out, "%sberm:", report_colour(stderr, "1;31"));
	text_add(out, "%s ", report_colour(stderr, NULL));
	out->width = report_width(stderr);
	if (isatty(STDERR_FILENO) && visible.data)
		text_add_wrapped(out, strlen("berm: "), visible.data);
	else
		text_add(out, "%s\n", visible.data ? visible.data : "");
	text_free(&visible);
}

void report_line(const char *sentence)
{
	struct text out = { 0 };
	add_sentence(&out, sentence);
	fputs(out.data, stderr);
	text_free(&out);
}

/* Adds each line indented by two blanks. */
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
	add_sentence(&out, err->message);
	add_indented(&out, err->hint);
	fputs(out.data, stderr);
	text_free(&out);
	return EXIT_REFUSED;
}

/* Puts a caret under the column, which counts characters. Escaped characters are wider: a tab
 * takes four columns. */
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

int report_text(struct text *text)
{
	if (text->data)
		fputs(text->data, stdout);
	text_free(text);
	return 0;
}

int report_help(const char *usage, uint64_t accepted, const char *status)
{
	struct text out = { 0 };
	text_add(&out, "%s\n", usage);
	options_help(accepted, &out);
	text_add(&out, "%s%s", status[0] ? "\n" : "", status);
	return report_text(&out);
}

static const struct {
	const char *word;
	enum report_mark mark;
} level_marks[] = {
	{ "enforced", MARK_GOOD }, { "strict", MARK_GOOD },    { "repair", MARK_GOOD },
	{ "launch", MARK_WEAKER }, { "partial", MARK_WEAKER }, { "missing", MARK_BAD },
};

/* Prints a line of a table with a level: mark, name, level in its colour, the rest. */
static void print_level(const char *line, size_t length, size_t column, size_t word, enum report_mark mark)
{
	if (isatty(STDOUT_FILENO)) {
		report_mark(mark);
		printf("%.*s", (int)column - 2, line + 2);
	} else {
		printf("%.*s", (int)column, line);
	}
	printf("%s%.*s", report_colour(stdout, marks[mark].colour), (int)word, line + column);
	printf("%s%.*s\n", report_colour(stdout, NULL), (int)(length - column - word), line + column + word);
}

/* Prints a line with a level. False if the line has none. */
static bool print_if_level(const char *line, size_t length)
{
	enum { LEVEL_COLUMN = 15 };
	for (size_t i = 0; length > LEVEL_COLUMN && i < sizeof level_marks / sizeof level_marks[0]; i++) {
		size_t word = strlen(level_marks[i].word);
		if (length < LEVEL_COLUMN + word || line[2] == ' ' ||
		    strncmp(line + LEVEL_COLUMN, level_marks[i].word, word) != 0)
			continue;
		print_level(line, length, LEVEL_COLUMN, word, level_marks[i].mark);
		return true;
	}
	return false;
}

static void print_line(const char *line, size_t length, bool has_levels)
{
	if (length > 0 && line[0] != ' ') {
		printf("%s%.*s", report_colour(stdout, "1"), (int)length, line);
		printf("%s\n", report_colour(stdout, NULL));
	} else if (!has_levels || !print_if_level(line, length)) {
		printf("%.*s\n", (int)length, line);
	}
}

static void print_page(const char *page, bool has_levels)
{
	while (*page) {
		size_t length = strcspn(page, "\n");
		print_line(page, length, has_levels);
		page += length + (page[length] == '\n');
	}
}

void report_page(const char *page)
{
	print_page(page, true);
}

void report_headings(const char *page)
{
	print_page(page, false);
}
