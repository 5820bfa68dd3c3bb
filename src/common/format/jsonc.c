/* SPDX-License-Identifier: Apache-2.0 */
/* The parser: recursive descent with limits on depth and size. Never reads past the end. */
#include "common/format/jsonc.h"

#include <stdlib.h>
#include <string.h>

#include "common/format/unicode.h"

struct parser {
	struct arena *arena;
	enum jsonc_dialect dialect;
	const char *source;
	struct jsonc_text document;
	size_t at;
	unsigned depth;
	struct error *err;
};

void jsonc_place(struct jsonc_text document, size_t offset, size_t *line, size_t *column)
{
	*line = *column = 1;
	for (size_t i = 0; i < offset && i < document.length; i++) {
		if (document.data[i] == '\n') {
			++*line;
			*column = 1;
		} else if (((unsigned char)document.data[i] & 0xc0) != 0x80)
			++*column;
	}
}

static int fail(struct parser *parser, size_t offset, const char *what)
{
	size_t line, column;
	jsonc_place(parser->document, offset, &line, &column);
	return error_set(parser->err, "%s:%zu:%zu: %s", parser->source, line, column, what);
}

static int peek(const struct parser *parser)
{
	return parser->at < parser->document.length ? (unsigned char)parser->document.data[parser->at] : -1;
}

static bool starts(const struct parser *parser, const char *word)
{
	size_t length = strlen(word);
	return parser->document.length - parser->at >= length && memcmp(parser->document.data + parser->at, word, length) == 0;
}

static int skip_comment(struct parser *parser)
{
	size_t start = parser->at;
	if (parser->dialect == JSONC_STRICT)
		return fail(parser, start, "comments are not allowed in this file");
	if (starts(parser, "//")) {
		while (peek(parser) > 0 && peek(parser) != '\n')
			parser->at++;
		return peek(parser) == 0 ? fail(parser, parser->at, "NUL byte") : 0;
	}
	for (parser->at += 2; peek(parser) > 0; parser->at++)
		if (starts(parser, "*/")) {
			parser->at += 2;
			return 0;
		}
	return fail(parser, start, "unterminated comment");
}

static int skip_space(struct parser *parser)
{
	for (;;) {
		int c = peek(parser);
		if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
			parser->at++;
		else if (c == '/' && (starts(parser, "//") || starts(parser, "/*"))) {
			if (skip_comment(parser) < 0)
				return -1;
		} else
			return 0;
	}
}

static int parse_hex4(struct parser *parser, uint32_t *value)
{
	*value = 0;
	for (int i = 0; i < 4; i++, parser->at++) {
		int c = peek(parser);
		uint32_t digit;
		if (c >= '0' && c <= '9')
			digit = (uint32_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (uint32_t)(c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			digit = (uint32_t)(c - 'A' + 10);
		else
			return fail(parser, parser->at, "\\u needs four hexadecimal digits");
		*value = *value << 4 | digit;
	}
	return 0;
}

static int parse_unicode_escape(struct parser *parser, size_t start, struct text *out)
{
	uint32_t c, low;
	char bytes[4];
	if (parse_hex4(parser, &c) < 0)
		return -1;
	if (c >= 0xd800 && c <= 0xdbff && starts(parser, "\\u")) {
		parser->at += 2;
		if (parse_hex4(parser, &low) < 0)
			return -1;
		if (low < 0xdc00 || low > 0xdfff)
			return fail(parser, start, "lone surrogate");
		c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
	} else if (c >= 0xd800 && c <= 0xdfff)
		return fail(parser, start, "lone surrogate");
	text_add_n(out, bytes, unicode_encode(c, bytes));
	return 0;
}

static int parse_escape(struct parser *parser, struct text *out)
{
	static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	size_t start = parser->at++;
	int c = peek(parser);
	const char *found = c > 0 ? strchr(names, c) : NULL;

	if (found) {
		parser->at++;
		text_add_n(out, &bytes[found - names], 1);
		return 0;
	}
	if (c != 'u')
		return fail(parser, start, "unknown escape sequence");
	parser->at++;
	return parse_unicode_escape(parser, start, out);
}

static int parse_string_into(struct parser *parser, struct text *out)
{
	size_t start = parser->at++;
	for (;;) {
		const char *bytes = parser->document.data + parser->at;
		uint32_t character;
		int c = peek(parser);
		size_t size;

		if (c < 0)
			return fail(parser, start, "unterminated string");
		if (c == '"') {
			parser->at++;
			return 0;
		}
		if (c < 0x20)
			return fail(parser, parser->at, "control character in a string");
		if (c == '\\') {
			if (parse_escape(parser, out) < 0)
				return -1;
			continue;
		}
		size = text_decode(bytes, parser->document.length - parser->at, &character);
		if (size == 0)
			return fail(parser, parser->at, "invalid UTF-8");
		text_add_n(out, bytes, size);
		parser->at += size;
	}
}

static int parse_string(struct parser *parser, const char **string, size_t *length)
{
	struct text out = { 0 };
	int status;
	text_add_n(&out, "", 0);
	status = parse_string_into(parser, &out);
	if (status == 0) {
		*string = arena_copy_n(parser->arena, out.data, out.length);
		*length = out.length;
	}
	text_free(&out);
	return status;
}

static size_t skip_digits(struct parser *parser)
{
	size_t start = parser->at;
	while (peek(parser) >= '0' && peek(parser) <= '9')
		parser->at++;
	return parser->at - start;
}

static int parse_number(struct parser *parser)
{
	size_t start = parser->at, first;
	if (peek(parser) == '-')
		parser->at++;
	first = parser->at;
	if (skip_digits(parser) == 0 || (parser->document.data[first] == '0' && parser->at - first > 1))
		return fail(parser, start, "not a number");
	if (peek(parser) == '.') {
		parser->at++;
		if (skip_digits(parser) == 0)
			return fail(parser, start, "not a number");
	}
	if (peek(parser) == 'e' || peek(parser) == 'E') {
		parser->at++;
		if (peek(parser) == '+' || peek(parser) == '-')
			parser->at++;
		if (skip_digits(parser) == 0)
			return fail(parser, start, "not a number");
	}
	return 0;
}

static int parse_value(struct parser *parser, struct jsonc_value *value);

static int parse_child(struct parser *parser, bool is_object, struct jsonc_child *child)
{
	child->start = parser->at;
	if (!is_object)
		return parse_value(parser, &child->value);
	if (peek(parser) != '"')
		return fail(parser, parser->at, "expected a key in double quotes");
	if (parse_string(parser, &child->key, &child->key_length) < 0 || skip_space(parser) < 0)
		return -1;
	if (peek(parser) != ':')
		return fail(parser, parser->at, "expected a colon");
	parser->at++;
	return skip_space(parser) < 0 ? -1 : parse_value(parser, &child->value);
}

static int compare_keys(const void *a, const void *b)
{
	const struct jsonc_child *left = *(const struct jsonc_child *const *)a, *right = *(const struct jsonc_child *const *)b;
	size_t shorter = left->key_length < right->key_length ? left->key_length : right->key_length;
	int order = memcmp(left->key, right->key, shorter);
	if (order != 0)
		return order;
	if (left->key_length != right->key_length)
		return left->key_length < right->key_length ? -1 : 1;
	return left->start < right->start ? -1 : 1;
}

static int refuse_duplicates(struct parser *parser, const struct jsonc_value *object)
{
	const struct jsonc_child **sorted;
	if (object->count < 2)
		return 0;
	sorted = arena_alloc(parser->arena, object->count * sizeof *sorted);
	for (size_t i = 0; i < object->count; i++)
		sorted[i] = &object->children[i];
	qsort(sorted, object->count, sizeof *sorted, compare_keys);
	for (size_t i = 1; i < object->count; i++)
		if (sorted[i - 1]->key_length == sorted[i]->key_length &&
		    memcmp(sorted[i - 1]->key, sorted[i]->key, sorted[i]->key_length) == 0)
			return fail(parser, sorted[i]->start, "duplicate key");
	return 0;
}

/* Parses from the opening bracket to behind the closing one. */
static int parse_children(struct parser *parser, struct jsonc_value *value)
{
	bool is_object = value->type == JSONC_OBJECT;
	int close = is_object ? '}' : ']';
	struct {
		struct jsonc_child *items;
		size_t count;
	} children = { 0 };

	parser->at++;
	for (;;) {
		struct jsonc_child child = { 0 };
		if (skip_space(parser) < 0)
			return -1;
		if (peek(parser) == close && (children.count == 0 || parser->dialect == JSONC_COMMENTS))
			break;
		if (parse_child(parser, is_object, &child) < 0 || skip_space(parser) < 0)
			return -1;
		if (peek(parser) == ',')
			child.comma = parser->at++;
		else if (peek(parser) != close)
			return fail(parser, parser->at,
				    is_object ? "a comma or } is needed here" : "a comma or ] is needed here");
		*arena_push(parser->arena, &children) = child;
		if (child.comma == 0)
			break;
	}
	parser->at++;
	value->children = children.items;
	value->count = children.count;
	return is_object ? refuse_duplicates(parser, value) : 0;
}

static int parse_word(struct parser *parser, struct jsonc_value *value)
{
	static const struct {
		const char *word;
		enum jsonc_type type;
	} words[] = { { "null", JSONC_NULL }, { "true", JSONC_TRUE }, { "false", JSONC_FALSE } };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (starts(parser, words[i].word)) {
			parser->at += strlen(words[i].word);
			value->type = words[i].type;
			return 0;
		}
	return fail(parser, parser->at, peek(parser) < 0 ? "unexpected end of the text: expected a value" : "expected a value");
}

static int parse_typed(struct parser *parser, struct jsonc_value *value)
{
	int c = peek(parser);
	if (c == '{' || c == '[') {
		value->type = c == '{' ? JSONC_OBJECT : JSONC_ARRAY;
		return parse_children(parser, value);
	}
	if (c == '"') {
		value->type = JSONC_STRING;
		return parse_string(parser, &value->string, &value->length);
	}
	if (c == '-' || (c >= '0' && c <= '9')) {
		value->type = JSONC_NUMBER;
		return parse_number(parser);
	}
	return parse_word(parser, value);
}

static int parse_value(struct parser *parser, struct jsonc_value *value)
{
	if (parser->depth == JSONC_DEPTH_MAX)
		return fail(parser, parser->at, "nested too deeply");
	parser->depth++;
	value->start = parser->at;
	value->raw = parser->document.data + parser->at;
	if (parse_typed(parser, value) < 0)
		return -1;
	value->end = parser->at;
	parser->depth--;
	return 0;
}

int jsonc_parse(struct arena *arena, enum jsonc_dialect dialect, const char *source, struct jsonc_text document,
		struct jsonc_value *root, struct error *err)
{
	struct parser parser = { arena, dialect, source, document, 0, 0, err };

	*root = (struct jsonc_value){ 0 };
	if (document.length > JSONC_SIZE_MAX)
		return error_set(err, "%s: larger than %d MiB", source, JSONC_SIZE_MAX >> 20);
	if (dialect == JSONC_COMMENTS && starts(&parser, "\xef\xbb\xbf"))
		parser.at += 3;
	if (skip_space(&parser) < 0 || parse_value(&parser, root) < 0 || skip_space(&parser) < 0)
		return -1;
	if (parser.at < document.length)
		return fail(&parser, parser.at, "unexpected text after the value");
	return 0;
}

const struct jsonc_value *jsonc_member(const struct jsonc_value *object, const char *key)
{
	size_t length = strlen(key);
	if (!object || object->type != JSONC_OBJECT)
		return NULL;
	for (size_t i = 0; i < object->count; i++)
		if (object->children[i].key_length == length && memcmp(object->children[i].key, key, length) == 0)
			return &object->children[i].value;
	return NULL;
}

const struct jsonc_value *jsonc_find(const struct jsonc_value *root, const char *const *path)
{
	for (; root && *path; path++)
		root = jsonc_member(root, *path);
	return root;
}

bool jsonc_is_string(const struct jsonc_value *value, const char *text)
{
	return value && value->type == JSONC_STRING && value->length == strlen(text) &&
	       memcmp(value->string, text, value->length) == 0;
}

static bool children_equal(const struct jsonc_value *a, const struct jsonc_value *b)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct jsonc_child *child = &a->children[i];
		const struct jsonc_value *other = &b->children[i].value;
		if (a->type == JSONC_OBJECT) {
			/* jsonc_member does not find a key with a NUL: such objects count as
			 * different. */
			other = jsonc_member(b, child->key);
		}
		if (!other || !jsonc_equal(&child->value, other))
			return false;
	}
	return true;
}

bool jsonc_equal(const struct jsonc_value *a, const struct jsonc_value *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case JSONC_STRING:
		return a->length == b->length && memcmp(a->string, b->string, a->length) == 0;
	case JSONC_NUMBER:
		return a->end - a->start == b->end - b->start && memcmp(a->raw, b->raw, a->end - a->start) == 0;
	case JSONC_ARRAY:
	case JSONC_OBJECT:
		return a->count == b->count && children_equal(a, b);
	case JSONC_NULL:
	case JSONC_FALSE:
	case JSONC_TRUE:
		break;
	}
	return true;
}
