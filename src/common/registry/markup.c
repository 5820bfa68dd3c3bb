/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the text of elements, attributes and members in XML and JSON. Validates neither; stops at a
 * fixed nesting depth. */
#include "common/registry/config.h"

#include <string.h>

enum { DEPTH_MAX = 32, NAME_BYTES = 64, KEY_BYTES = DEPTH_MAX * NAME_BYTES, VALUE_BYTES = 2048 };

struct markup {
	const struct config_scan *scan;
	const char *at;
	unsigned line;
	char names[DEPTH_MAX][NAME_BYTES];
	size_t depth;
	char value[VALUE_BYTES];
	size_t length;
};

/* Advances and counts lines. */
static void skip(struct markup *markup, size_t count)
{
	for (; count > 0 && *markup->at; count--)
		if (*markup->at++ == '\n')
			markup->line++;
}

static void set_name(struct markup *markup, size_t depth, const char *name, size_t length)
{
	if (length >= NAME_BYTES)
		length = 0; /* longer than any name in use */
	memcpy(markup->names[depth], name, length);
	markup->names[depth][length] = '\0';
}

/* Reports the value under the names joined by dots, plus a suffix. */
static void visit(struct markup *markup, const char *suffix, size_t suffix_length)
{
	char key[KEY_BYTES + NAME_BYTES + 2];
	size_t used = 0;

	for (size_t i = 0; i < markup->depth; i++) {
		size_t length = strlen(markup->names[i]);
		if (i > 0)
			key[used++] = '.';
		memcpy(key + used, markup->names[i], length);
		used += length;
	}
	if (suffix_length >= NAME_BYTES)
		return;
	memcpy(key + used, suffix, suffix_length);
	key[used + suffix_length] = '\0';
	markup->value[markup->length] = '\0';
	markup->scan->visit(markup->scan->self, key, markup->value, markup->line);
}

static void add(struct markup *markup, char c)
{
	if (markup->length + 1 < sizeof markup->value)
		markup->value[markup->length++] = c;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Skips comments, processing instructions and declarations. Returns true if it was one of them.
 * CDATA is text. */
static bool skip_special(struct markup *markup)
{
	static const struct {
		const char *start, *end;
		bool is_text;
	} kinds[] = { { "<!--", "-->", false }, { "<![CDATA[", "]]>", true }, { "<?", "?>", false }, { "<!", ">", false } };

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		size_t length = strlen(kinds[i].start);
		const char *end;
		if (strncmp(markup->at, kinds[i].start, length) != 0)
			continue;
		skip(markup, length);
		end = strstr(markup->at, kinds[i].end);
		while (*markup->at && markup->at != end) {
			if (kinds[i].is_text)
				add(markup, *markup->at);
			skip(markup, 1);
		}
		skip(markup, end ? strlen(kinds[i].end) : 0);
		return true;
	}
	return false;
}

static void scan_attributes(struct markup *markup)
{
	while (*markup->at && *markup->at != '>' && *markup->at != '/') {
		char suffix[NAME_BYTES] = "@";
		size_t length = strcspn(markup->at, "= \t\r\n/>");
		char quote;

		if (length == 0) {
			skip(markup, 1);
			continue;
		}
		if (length + 1 < sizeof suffix)
			memcpy(suffix + 1, markup->at, length);
		skip(markup, length);
		skip(markup, strspn(markup->at, " \t\r\n="));
		quote = *markup->at;
		if (quote != '"' && quote != '\'')
			continue;
		skip(markup, 1);
		for (markup->length = 0; *markup->at && *markup->at != quote; skip(markup, 1))
			add(markup, *markup->at);
		skip(markup, 1);
		visit(markup, suffix, strlen(suffix));
	}
}

/* Reports an element's text when the element closes. */
static bool scan_tag(struct markup *markup)
{
	bool is_end = markup->at[1] == '/';
	size_t length;

	skip(markup, is_end ? 2 : 1);
	length = strcspn(markup->at, " \t\r\n/>");
	if (is_end) {
		visit(markup, "", 0);
		markup->depth -= markup->depth > 0;
	} else {
		if (markup->depth == DEPTH_MAX)
			return false;
		set_name(markup, markup->depth++, markup->at, length);
		skip(markup, length);
		scan_attributes(markup);
		if (*markup->at == '/') {
			markup->length = 0;
			visit(markup, "", 0);
			markup->depth--;
		}
	}
	markup->length = 0;
	skip(markup, strcspn(markup->at, ">") + 1);
	return true;
}

void config_scan_xml(const struct config_scan *scan)
{
	struct markup markup = { .scan = scan, .at = scan->text, .line = 1 };

	while (*markup.at) {
		if (*markup.at == '<') {
			if (!skip_special(&markup) && !scan_tag(&markup))
				return;
			continue;
		}
		if (!is_blank(*markup.at) || markup.length > 0)
			add(&markup, *markup.at);
		skip(&markup, 1);
	}
}

/* Copies a string into the value. Escapes such as \u become blanks: no host contains them. */
static void scan_string(struct markup *markup)
{
	skip(markup, 1);
	for (markup->length = 0; *markup->at && *markup->at != '"'; skip(markup, 1)) {
		if (*markup->at == '\\' && markup->at[1]) {
			skip(markup, 1);
			add(markup, *markup->at == '/' || *markup->at == '"' || *markup->at == '\\' ? *markup->at : ' ');
		} else {
			add(markup, *markup->at);
		}
	}
	skip(markup, 1);
}

/* A string before a colon is a member's name, any other a value under the last name. */
static void scan_member(struct markup *markup)
{
	scan_string(markup);
	skip(markup, strspn(markup->at, " \t\r\n"));
	if (*markup->at == ':' && markup->depth > 0)
		set_name(markup, markup->depth - 1, markup->value, markup->length);
	else
		visit(markup, "", 0);
}

void config_scan_json(const struct config_scan *scan)
{
	struct markup markup = { .scan = scan, .at = scan->text, .line = 1 };

	while (*markup.at) {
		char c = *markup.at;
		if (c == '"') {
			scan_member(&markup);
			continue;
		}
		if (c == '{' || c == '[') {
			if (markup.depth == DEPTH_MAX)
				return;
			set_name(&markup, markup.depth++, "", 0);
		} else if (c == '}' || c == ']') {
			markup.depth -= markup.depth > 0;
		}
		skip(&markup, 1);
	}
}
