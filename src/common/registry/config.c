/* SPDX-License-Identifier: Apache-2.0 */
/* The line-based formats. */
#include "common/registry/config.h"

#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096, KEY_MAX_BYTES = 512 };

struct lines {
	const struct config_scan *scan;
	unsigned number;
	char line[LINE_MAX_BYTES];
	char section[KEY_MAX_BYTES / 2]; /* with a trailing dot, or empty */
	char key[KEY_MAX_BYTES]; /* continues in the next line */
	int depth; /* open brackets of a TOML value */
};

/* Removes blanks around the text, in place. */
static char *trim(char *text)
{
	size_t length;
	text += strspn(text, " \t\r");
	length = strlen(text);
	while (length > 0 && strchr(" \t\r", text[length - 1]))
		text[--length] = '\0';
	return text;
}

static char *unquote(char *text)
{
	size_t length;
	text = trim(text);
	length = strlen(text);
	if (length >= 2 && (text[0] == '"' || text[0] == '\'') && text[length - 1] == text[0]) {
		text[length - 1] = '\0';
		return text + 1;
	}
	return text;
}

/* Drops keys that are longer than those of any package manager; they match nothing. */
static void set_key(struct lines *lines, const char *prefix, const char *key)
{
	if (snprintf(lines->key, sizeof lines->key, "%s%s", prefix, key) >= (int)sizeof lines->key)
		lines->key[0] = '\0';
}

static void visit(struct lines *lines, const char *value)
{
	if (lines->key[0])
		lines->scan->visit(lines->scan->self, lines->key, value, lines->number);
}

/* Parses [section], [[table]] and [table."quoted part"]. */
static void set_section(struct lines *lines, char *line)
{
	size_t used = 0;
	line += strspn(line, "[");
	line[strcspn(line, "]")] = '\0';
	for (const char *c = trim(line); *c && used + 2 < sizeof lines->section; c++)
		if (*c != '"' && *c != '\'')
			lines->section[used++] = *c;
	lines->section[used++] = '.';
	lines->section[used] = '\0';
	lines->key[0] = '\0';
}

static bool is_continued_address(const char *line)
{
	const char *address = strstr(line, "://"), *equals = strchr(line, '=');
	return address && (!equals || address < equals);
}

static void scan_ini(struct lines *lines)
{
	bool is_indented = lines->line[0] == ' ' || lines->line[0] == '\t';
	char *line = trim(lines->line), *separator;

	if (line[0] == '\0' || line[0] == '#' || line[0] == ';')
		return;
	if (line[0] == '[') {
		set_section(lines, line);
		return;
	}
	if (is_indented && is_continued_address(line)) {
		visit(lines, line);
		return;
	}
	separator = strchr(line, '=');
	if (!separator)
		separator = strstr(line, ": ");
	lines->key[0] = '\0';
	if (!separator)
		return;
	*separator = '\0';
	set_key(lines, lines->section, trim(line));
	visit(lines, trim(separator + 1));
}

/* Cuts off the comment and counts the open brackets. */
static void measure_toml(struct lines *lines, char *value)
{
	char quote = '\0';
	for (char *c = value; *c; c++) {
		if (quote) {
			quote = *c == quote ? '\0' : quote;
		} else if (*c == '"' || *c == '\'') {
			quote = *c;
		} else if (*c == '#') {
			*c = '\0';
			return;
		} else if (*c == '[' || *c == '{') {
			lines->depth++;
		} else if ((*c == ']' || *c == '}') && lines->depth > 0) {
			lines->depth--;
		}
	}
}

static void scan_toml(struct lines *lines)
{
	char *line = trim(lines->line), *separator;

	if (lines->depth > 0) {
		measure_toml(lines, line);
		visit(lines, trim(line));
		return;
	}
	if (line[0] == '\0' || line[0] == '#')
		return;
	if (line[0] == '[') {
		set_section(lines, line);
		return;
	}
	separator = strchr(line, '=');
	lines->key[0] = '\0';
	if (!separator)
		return;
	*separator = '\0';
	set_key(lines, lines->section, unquote(line));
	measure_toml(lines, separator + 1);
	visit(lines, trim(separator + 1));
}

/* Finds the colon that ends a key: a blank or nothing follows it.
 * Example: BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: "..." */
static char *yaml_separator(char *line)
{
	for (char *colon = strchr(line, ':'); colon; colon = strchr(colon + 1, ':'))
		if (colon > line && (colon[1] == '\0' || colon[1] == ' ' || colon[1] == '\t'))
			return colon;
	return NULL;
}

static void scan_yaml(struct lines *lines)
{
	bool is_indented = lines->line[0] == ' ' || lines->line[0] == '\t';
	char *line = trim(lines->line), *separator;

	if (line[0] == '\0' || line[0] == '#')
		return;
	if (line[0] == '-' && (line[1] == ' ' || line[1] == '\t')) {
		visit(lines, trim(line + 1));
		return;
	}
	separator = yaml_separator(line);
	if (!separator)
		return;
	*separator = '\0';
	set_key(lines, is_indented ? "." : "", unquote(line));
	visit(lines, trim(separator + 1));
}

static void scan_properties(struct lines *lines)
{
	char *line = trim(lines->line), *separator = strchr(line, '='), *to;

	if (line[0] == '#' || line[0] == '!' || !separator)
		return;
	*separator = '\0';
	set_key(lines, "", trim(line));
	to = separator + 1;
	for (const char *from = separator + 1; *from; from++)
		if (*from != '\\')
			*to++ = *from;
	*to = '\0';
	visit(lines, trim(separator + 1));
}

static void scan_statement(struct lines *lines, char *statement)
{
	char *word = trim(statement), *value;
	size_t length = word[0] == '"' ? 1 + strcspn(word + 1, "\"") : strcspn(word, " \t=(");

	if (word[0] == '\0' || word[0] == '#' || (word[0] == '/' && word[1] == '/'))
		return;
	value = word + length + (word[length] != '\0');
	word[length] = '\0';
	set_key(lines, "", word[0] == '"' ? word + 1 : word);
	visit(lines, value);
}

/* A brace starts a statement: maven { url "..." } */
static void scan_words(struct lines *lines)
{
	char *rest = lines->line;
	while (rest) {
		char *brace = strchr(rest, '{');
		if (brace)
			*brace = '\0';
		scan_statement(lines, rest);
		rest = brace ? brace + 1 : NULL;
	}
}

static void scan_lines(const struct config_scan *scan)
{
	static void (*const scanners[CONFIG_STYLE_COUNT])(struct lines * lines) = {
		[CONFIG_INI] = scan_ini,     [CONFIG_TOML] = scan_toml,
		[CONFIG_YAML] = scan_yaml,   [CONFIG_PROPERTIES] = scan_properties,
		[CONFIG_WORDS] = scan_words,
	};
	struct lines lines = { .scan = scan };
	const char *at = scan->text;

	while (*at) {
		size_t length = strcspn(at, "\n");
		lines.number++;
		if (length < sizeof lines.line) {
			memcpy(lines.line, at, length);
			lines.line[length] = '\0';
			scanners[scan->style](&lines);
		}
		at += length + (at[length] == '\n');
	}
}

void config_scan(const struct config_scan *scan)
{
	if (scan->style == CONFIG_XML)
		config_scan_xml(scan);
	else if (scan->style == CONFIG_JSON)
		config_scan_json(scan);
	else
		scan_lines(scan);
}

/* Backtracks to the last star only, so the time is bounded by the product of the lengths. */
bool config_matches(const char *pattern, size_t length, const char *key)
{
	size_t at = 0, star = length;
	const char *resume = key;

	while (*key) {
		if (at < length && pattern[at] == '*') {
			star = at++;
			resume = key;
		} else if (at < length && pattern[at] == *key) {
			at++;
			key++;
		} else if (star < length) {
			at = star + 1;
			key = ++resume;
		} else {
			return false;
		}
	}
	while (at < length && pattern[at] == '*')
		at++;
	return at == length;
}
