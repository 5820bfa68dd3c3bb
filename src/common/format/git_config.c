/* SPDX-License-Identifier: Apache-2.0 */
/* Reads character by character within the given text. Malformed lines are skipped. */
#include "common/format/git_config.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "common/base/text.h"

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* True if `at` is the header of this section without a subsection. */
static bool is_section(const char *at, const char *section)
{
	size_t length = strlen(section);
	at = skip_blanks(at + 1);
	return strncasecmp(at, section, length) == 0 && *skip_blanks(at + length) == ']';
}

/* Returns the value after `=` as git reads it: without quotes and escapes, up to a comment outside
 * quotes. */
static const char *unquote(struct arena *arena, const char *at, size_t length)
{
	char *value = arena_alloc(arena, length + 1);
	size_t used = 0, kept = 0;
	bool is_quoted = false;
	for (size_t i = 0; i < length; i++) {
		char c = at[i];
		if (c == '"') {
			is_quoted = !is_quoted;
			kept = used;
			continue;
		}
		if (!is_quoted && (c == '#' || c == ';'))
			break;
		if (c == '\\' && i + 1 < length) {
			c = at[++i];
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
		}
		value[used++] = c;
		if (is_quoted || (c != ' ' && c != '\t' && c != '\r'))
			kept = used;
	}
	value[kept] = '\0';
	return value;
}

/* Returns the next character and moves past it; 0 at the end. A CR before a newline is skipped, as
 * in git. */
static char take(struct git_config_reader *reader)
{
	if (reader->next[0] == '\r' && reader->next[1] == '\n')
		reader->next++;
	if (*reader->next == '\n')
		reader->lines++;
	return *reader->next ? *reader->next++ : '\0';
}

static char peek(const struct git_config_reader *reader)
{
	return reader->next[0] == '\r' && reader->next[1] == '\n' ? '\n' : *reader->next;
}

static void skip(struct git_config_reader *reader, const char *characters)
{
	while (peek(reader) && strchr(characters, peek(reader)))
		take(reader);
}

static void skip_line(struct git_config_reader *reader)
{
	while (peek(reader) && peek(reader) != '\n')
		take(reader);
}

static size_t name_length(const char *at)
{
	return strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
}

/* Reads the rest of `"sub section"`. */
static const char *read_subsection(struct git_config_reader *reader)
{
	char *subsection = arena_alloc(reader->arena, strcspn(reader->next, "\n") + 1);
	size_t used = 0;
	while (peek(reader) && !strchr("\"\n", peek(reader))) {
		if (peek(reader) == '\\')
			take(reader);
		if (peek(reader) && peek(reader) != '\n')
			subsection[used++] = take(reader);
	}
	if (peek(reader) == '"')
		take(reader);
	return subsection;
}

/* Reads `[section]`, `[section "sub section"]` or, as git still does, `[section.subsection]`. */
static void read_header(struct git_config_reader *reader)
{
	size_t length, dot;
	take(reader);
	skip(reader, " \t");
	length = strspn(reader->next, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.");
	dot = strcspn(reader->next, ".");
	reader->section = arena_copy_n(reader->arena, reader->next, dot < length ? dot : length);
	reader->subsection = dot < length ? arena_copy_n(reader->arena, reader->next + dot + 1, length - dot - 1) : NULL;
	reader->next += length;
	skip(reader, " \t");
	if (peek(reader) == '"') {
		take(reader);
		reader->subsection = read_subsection(reader);
		skip(reader, " \t");
	}
	if (peek(reader) == ']') {
		take(reader);
		return;
	}
	reader->section = ""; /* git would refuse this header */
	skip_line(reader);
}

/* Reads one character of a value after a backslash. False for a line that goes on. */
static bool read_escape(struct git_config_reader *reader, char *c)
{
	*c = take(reader);
	*c = *c == 'n' ? '\n' : *c == 't' ? '\t' : *c == 'b' ? '\b' : *c == '\n' ? '\0' : *c;
	return *c != '\0';
}

/* Reads the value after `=` as git does: without quotes, escapes and outer blanks, up to a comment
 * outside quotes. A backslash at the end of a line continues it. */
static const char *read_value(struct git_config_reader *reader)
{
	struct text value = { 0 };
	size_t kept = 0;
	bool is_quoted = false;
	const char *result;

	skip(reader, " \t");
	while (peek(reader) && peek(reader) != '\n' && (is_quoted || !strchr("#;", peek(reader)))) {
		char c = take(reader);
		if (c == '"') {
			is_quoted = !is_quoted;
			kept = value.length;
			continue;
		}
		bool is_blank = !is_quoted && (c == ' ' || c == '\t' || c == '\r');
		if (c == '\\' && !read_escape(reader, &c))
			continue;
		if (is_blank && value.length == 0)
			continue;
		text_add_n(&value, &c, 1);
		if (!is_blank)
			kept = value.length;
	}
	skip_line(reader);
	result = arena_copy_n(reader->arena, value.data ? value.data : "", kept);
	text_free(&value);
	return result;
}

/* Reads `name = value` or `name`, which is the name of a boolean. False for anything else. */
static bool read_setting(struct git_config_reader *reader)
{
	size_t length = name_length(reader->next);
	if (!reader->section || length == 0) {
		skip_line(reader);
		return false;
	}
	reader->line = reader->lines + 1;
	reader->name = arena_copy_n(reader->arena, reader->next, length);
	reader->next += length;
	skip(reader, " \t");
	reader->has_value = peek(reader) == '=';
	reader->value = "";
	if (reader->has_value) {
		take(reader);
		reader->value = read_value(reader);
		return true;
	}
	bool is_name = !peek(reader) || strchr("\n#;", peek(reader));
	skip_line(reader);
	return is_name;
}

bool git_config_next(struct git_config_reader *reader)
{
	if (text_starts_with(reader->next, "\xef\xbb\xbf"))
		reader->next += 3;
	for (;;) {
		skip(reader, " \t\r\n");
		if (!peek(reader))
			return false;
		if (peek(reader) == '[')
			read_header(reader);
		else if (read_setting(reader))
			return true;
	}
}

/* Iterates over the lines that set `name` in one section. */
struct lines {
	const char *section, *name, *next;
	const char *start, *end; /* of the line, without its newline */
	const char *value; /* or NULL */
	bool is_inside;
};

static bool next_line(struct lines *lines)
{
	size_t name_length = strlen(lines->name);
	const char *at = lines->next;
	if (!*at)
		return false;
	lines->start = at;
	lines->end = at + strcspn(at, "\n");
	lines->next = *lines->end ? lines->end + 1 : lines->end;
	lines->value = NULL;
	at = skip_blanks(at);
	if (*at == '[')
		lines->is_inside = is_section(at, lines->section);
	if (!lines->is_inside || strncasecmp(at, lines->name, name_length) != 0)
		return true;
	at = skip_blanks(at + name_length);
	if (*at == '=' && at < lines->end)
		lines->value = skip_blanks(at + 1);
	return true;
}

const char *git_config_value(struct arena *arena, const char *text, const char *section, const char *name)
{
	struct lines lines = { .section = section, .name = name, .next = text };
	const char *found = NULL;
	while (next_line(&lines))
		if (lines.value)
			found = unquote(arena, lines.value, lines.value < lines.end ? (size_t)(lines.end - lines.value) : 0);
	return found;
}

char *git_config_without(struct arena *arena, const char *text, const char *section, const char *name)
{
	struct lines lines = { .section = section, .name = name, .next = text };
	char *kept = arena_alloc(arena, strlen(text) + 1);
	size_t used = 0;
	bool is_changed = false;
	while (next_line(&lines)) {
		if (lines.value) {
			is_changed = true;
			continue;
		}
		memcpy(kept + used, lines.start, (size_t)(lines.next - lines.start));
		used += (size_t)(lines.next - lines.start);
	}
	kept[used] = '\0';
	return is_changed ? kept : NULL;
}
