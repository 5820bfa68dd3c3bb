/* SPDX-License-Identifier: Apache-2.0 */
/* Reads line by line, bounded by its input; never fails, only finds nothing. */
#include "common/git_config.h"

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

const char *git_config_value(struct arena *arena, const char *text, const char *section, const char *name)
{
	size_t name_length = strlen(name);
	bool is_inside = false;
	const char *found = NULL;
	while (*text) {
		size_t length = strcspn(text, "\n");
		const char *at = skip_blanks(text), *end = text + length;
		text = *end ? end + 1 : end;
		if (*at == '[')
			is_inside = is_section(at, section);
		if (!is_inside || strncasecmp(at, name, name_length) != 0)
			continue;
		at = skip_blanks(at + name_length);
		if (*at != '=' || at >= end)
			continue;
		at = skip_blanks(at + 1);
		found = unquote(arena, at, at < end ? (size_t)(end - at) : 0);
	}
	return found;
}
