/* SPDX-License-Identifier: Apache-2.0 */
/* Reads line by line, bounded by its input; never fails, only finds nothing. */
#include "common/format/git_config.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* Is `at` the header of this section? A subsection makes it another section. */
static bool is_section(const char *at, const char *section)
{
	size_t length = strlen(section);
	at = skip_blanks(at + 1);
	return strncasecmp(at, section, length) == 0 && *skip_blanks(at + length) == ']';
}

/* The value after `=`, as git reads it: quotes removed, backslash escapes, a comment ends it outside quotes. */
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

/* `[section]` or `[section "sub section"]`; returns what follows on the line. */
static const char *read_header(struct git_config_reader *reader, const char *at, const char *end)
{
	const char *name = skip_blanks(at + 1);
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.");
	char *subsection;
	size_t used = 0;

	reader->section = arena_copy_n(reader->arena, name, length);
	reader->subsection = NULL;
	at = skip_blanks(name + length);
	if (*at == '"') {
		subsection = arena_alloc(reader->arena, (size_t)(end - at) + 1);
		for (at++; at < end && *at != '"'; at++) {
			if (*at == '\\' && at + 1 < end)
				at++;
			subsection[used++] = *at;
		}
		reader->subsection = subsection;
		at = at < end ? skip_blanks(at + 1) : end;
	}
	if (at < end && *at == ']')
		return skip_blanks(at + 1);
	reader->section = ""; /* not a header that git would take */
	return end;
}

bool git_config_next(struct git_config_reader *reader)
{
	while (*reader->next) {
		const char *at = skip_blanks(reader->next);
		const char *end = reader->next + strcspn(reader->next, "\n");
		size_t length;
		reader->next = *end ? end + 1 : end;
		if (*at == '[')
			at = read_header(reader, at, end);
		length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
		if (!reader->section || length == 0 || *skip_blanks(at + length) != '=')
			continue;
		reader->name = arena_copy_n(reader->arena, at, length);
		at = skip_blanks(skip_blanks(at + length) + 1);
		reader->value = unquote(reader->arena, at, at < end ? (size_t)(end - at) : 0);
		return true;
	}
	return false;
}

/* One line after the other: which section it is in, and where its value starts if it sets `name` there. */
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
