/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a small tree from libyaml's events. The bytes are checked before libyaml parses them, so
 * that a line quoted in a message looks as it does in an editor. Depth and counts are limited while
 * the tree grows. */
#include "common/format/yaml.h"
#include "common/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <yaml.h>

#include "common/base/text.h"

/* Longer lines are not quoted in full. */
enum { QUOTED_LINE_MAX = 240 };

static const char quote_pattern_hint[] = "quote a pattern that starts with `*`: \"*.pem\"";

/* Returns the start of a line, or NULL if there is no such line. */
static const char *line_start(const struct yaml *document, unsigned line)
{
	const char *start = document->text, *end = document->text + document->length;

	if (line == 0)
		return NULL;
	for (unsigned i = 1; i < line && start; i++) {
		start = memchr(start, '\n', (size_t)(end - start));
		if (start)
			start++;
	}
	return start;
}

/* Returns the source line without its end, or NULL if the column is beyond the part that would be
 * quoted. */
static const char *quoted_line(const struct yaml *document, unsigned line, unsigned column)
{
	const char *start = line_start(document, line), *end = document->text + document->length, *stop;

	if (!start)
		return NULL;
	stop = memchr(start, '\n', (size_t)(end - start));
	if (!stop)
		stop = end;
	if (stop > start && stop[-1] == '\r')
		stop--;
	if (stop - start > QUOTED_LINE_MAX) {
		if (column > QUOTED_LINE_MAX / 4)
			return NULL;
		stop = start + QUOTED_LINE_MAX;
		while (stop > start && ((unsigned char)*stop & 0xc0) == 0x80)
			stop--;
	}
	return arena_copy_n(document->arena, start, (size_t)(stop - start));
}

static void add_diagnostic(struct yaml *document, unsigned line, unsigned column, const char *hint, const char *message)
{
	struct diagnostics *diagnostics = document->diagnostics;
	struct diagnostic *diagnostic = arena_push(diagnostics->arena, diagnostics);

	diagnostic->origin = (struct origin){ document->source, line, column };
	diagnostic->message = message;
	diagnostic->hint = hint ? arena_copy(document->arena, hint) : NULL;
	diagnostic->line = quoted_line(document, line, column);
}

void yaml_complain(struct yaml *document, unsigned line, unsigned column, const char *hint, const char *format, ...)
{
	struct text message = { 0 };
	char buffer[ERROR_MESSAGE_MAX];
	va_list arguments;

	document->complaints++;
	if (document->complaints > YAML_MAX_DIAGNOSTICS) {
		if (document->complaints == YAML_MAX_DIAGNOSTICS + 1)
			add_diagnostic(document, line, column, NULL, "too many errors; the rest is not shown");
		return;
	}
	va_start(arguments, format);
	vsnprintf(buffer, sizeof buffer, format, arguments);
	va_end(arguments);
	text_add_visible(&message, buffer, strlen(buffer));
	add_diagnostic(document, line, column, hint, arena_copy_n(document->arena, message.data, message.length));
	text_free(&message);
}

bool yaml_is_full(const struct yaml *document)
{
	return document->complaints > YAML_MAX_DIAGNOSTICS;
}

/* Allows only tabs, line feeds, and carriage returns before line feeds. U+FFFE and U+FFFF are not
 * characters. */
static bool is_forbidden(uint32_t character, char following)
{
	if (character == '\n' || character == '\t')
		return false;
	if (character == '\r')
		return following != '\n';
	return text_is_deceptive(character) || character == 0xfffe || character == 0xffff;
}

static void complain_byte(struct yaml *document, const char *at, size_t size, uint32_t character, unsigned line,
			  unsigned column)
{
	if (size == 0)
		yaml_complain(document, line, column, "policy files are UTF-8", "invalid UTF-8 (byte 0x%02x)",
			      (unsigned char)*at);
	else if (character == 0)
		yaml_complain(document, line, column, NULL, "NUL character");
	else if (character == 0xfeff)
		yaml_complain(document, line, column, "save the file as UTF-8 without it", "byte-order mark");
	else if (character == '\r')
		yaml_complain(document, line, column, NULL, "carriage return inside a line");
	else
		yaml_complain(document, line, column, NULL, "control or invisible character U+%04X", (unsigned)character);
}

/* The fast path: most bytes of a file need no further check. */
static bool is_printable_ascii(char c)
{
	return c >= 0x20 && c < 0x7f;
}

/* Columns count characters, as libyaml's do. */
static void examine_bytes(struct yaml *document)
{
	unsigned line = 1, column = 1;
	size_t at = 0;

	while (at < document->length && !yaml_is_full(document)) {
		uint32_t character = 0;
		size_t size;
		char following;

		if (is_printable_ascii(document->text[at])) {
			at++;
			column++;
			continue;
		}
		size = text_decode(document->text + at, document->length - at, &character);
		following = at + 1 < document->length ? document->text[at + 1] : '\0';
		if (size == 0 || is_forbidden(character, following))
			complain_byte(document, document->text + at, size, character, line, column);
		column++;
		if (character == '\n' && size > 0) {
			line++;
			column = 1;
		}
		at += size > 0 ? size : 1;
	}
}

struct reader {
	struct yaml *document;
	struct yaml_node *root;
	struct yaml_node *open[YAML_MAX_DEPTH]; /* collections around the current event */
	size_t depth;
	struct yaml_node *key; /* of the innermost mapping, waiting for its value */
	struct yaml_node *keys[YAML_MAX_DEPTH]; /* the same for the enclosing mappings */
	size_t nodes;
	unsigned documents;
};

static unsigned mark_line(yaml_mark_t mark)
{
	return (unsigned)mark.line + 1;
}

static unsigned mark_column(yaml_mark_t mark)
{
	return (unsigned)mark.column + 1;
}

/* Returns -1 if the tree is larger than a policy needs; parsing stops. */
static int count_node(struct reader *reader, const struct yaml_node *node)
{
	const struct yaml_node *parent = reader->depth > 0 ? reader->open[reader->depth - 1] : NULL;

	if (++reader->nodes > YAML_MAX_NODES) {
		yaml_complain(reader->document, node->line, node->column, NULL, "more than %d values in one file",
			      YAML_MAX_NODES);
		return -1;
	}
	if (parent && parent->count >= YAML_MAX_ITEMS) {
		yaml_complain(reader->document, node->line, node->column, NULL, "more than %d entries in one list or mapping",
			      YAML_MAX_ITEMS);
		return -1;
	}
	return 0;
}

static void append(struct yaml_node *parent, struct yaml_node *node)
{
	if (parent->last)
		parent->last->next = node;
	else
		parent->first = node;
	parent->last = node;
	parent->count++;
}

static int attach(struct reader *reader, struct yaml_node *node)
{
	struct yaml_node *parent = reader->depth > 0 ? reader->open[reader->depth - 1] : NULL;

	if (parent && parent->kind == NODE_MAP && reader->key) {
		reader->key->value = node;
		reader->key = NULL;
		reader->nodes++;
		return 0;
	}
	if (count_node(reader, node) < 0)
		return -1;
	if (!parent) {
		reader->root = node;
	} else if (parent->kind == NODE_LIST) {
		append(parent, node);
	} else {
		if (node->kind != NODE_SCALAR)
			yaml_complain(reader->document, node->line, node->column, NULL, "a key must be a plain word");
		append(parent, node);
		reader->key = node;
	}
	return 0;
}

static struct yaml_node *make_node(struct reader *reader, enum yaml_node_kind kind, const yaml_event_t *event)
{
	struct yaml_node *node = arena_alloc(reader->document->arena, sizeof *node);
	node->kind = kind;
	node->line = mark_line(event->start_mark);
	node->column = mark_column(event->start_mark);
	return node;
}

static void refuse_decoration(struct reader *reader, const yaml_event_t *event, const yaml_char_t *anchor,
			      const yaml_char_t *tag)
{
	unsigned line = mark_line(event->start_mark), column = mark_column(event->start_mark);
	if (anchor)
		yaml_complain(reader->document, line, column, "write the value out where it is needed",
			      "anchors (`&%.40s`) are not allowed", (const char *)anchor);
	if (tag)
		yaml_complain(reader->document, line, column, "quote a value that starts with `!`",
			      "tags (`%.40s`) are not allowed", (const char *)tag);
}

/* Escapes in double quotes can produce characters that are forbidden in the file. */
static bool is_clean(const char *text, size_t length)
{
	while (length > 0) {
		uint32_t character;
		size_t size = 1;

		if (!is_printable_ascii(*text)) {
			size = text_decode(text, length, &character);
			if (size == 0 || text_is_deceptive(character))
				return false;
		}
		text += size;
		length -= size;
	}
	return true;
}

static int take_scalar(struct reader *reader, const yaml_event_t *event)
{
	struct yaml_node *node = make_node(reader, NODE_SCALAR, event);
	const char *text = (const char *)event->data.scalar.value;
	size_t length = event->data.scalar.length;

	refuse_decoration(reader, event, event->data.scalar.anchor, event->data.scalar.tag);
	if (length > YAML_MAX_SCALAR) {
		yaml_complain(reader->document, node->line, node->column, NULL, "longer than %d bytes", YAML_MAX_SCALAR);
		length = 0;
	} else if (!is_clean(text, length)) {
		yaml_complain(reader->document, node->line, node->column, "values are single lines of visible text",
			      "the value holds a line break, a control character or an invisible one");
		node->is_broken = true;
	}
	node->text = node->is_broken ? "" : arena_copy_n(reader->document->arena, text, length);
	node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	return attach(reader, node);
}

static int take_alias(struct reader *reader, const yaml_event_t *event)
{
	struct yaml_node *node = make_node(reader, NODE_SCALAR, event);

	yaml_complain(reader->document, node->line, node->column, quote_pattern_hint, "aliases (`*%.40s`) are not allowed",
		      (const char *)event->data.alias.anchor);
	node->text = "";
	node->is_broken = true;
	return attach(reader, node);
}

static int open_collection(struct reader *reader, const yaml_event_t *event, enum yaml_node_kind kind)
{
	struct yaml_node *node = make_node(reader, kind, event);

	if (kind == NODE_LIST)
		refuse_decoration(reader, event, event->data.sequence_start.anchor, event->data.sequence_start.tag);
	else
		refuse_decoration(reader, event, event->data.mapping_start.anchor, event->data.mapping_start.tag);
	if (reader->depth >= YAML_MAX_DEPTH) {
		yaml_complain(reader->document, node->line, node->column, NULL, "nested more than %d levels deep",
			      YAML_MAX_DEPTH);
		return -1;
	}
	if (attach(reader, node) < 0)
		return -1;
	reader->keys[reader->depth] = reader->key;
	reader->key = NULL;
	reader->open[reader->depth++] = node;
	return 0;
}

static int close_collection(struct reader *reader)
{
	reader->depth--;
	reader->key = reader->keys[reader->depth];
	return 0;
}

static int start_document(struct reader *reader, const yaml_event_t *event)
{
	unsigned line = mark_line(event->start_mark), column = mark_column(event->start_mark);

	if (++reader->documents > 1) {
		yaml_complain(reader->document, line, column, NULL, "only one document is allowed in a file");
		return -1;
	}
	if (event->data.document_start.version_directive ||
	    event->data.document_start.tag_directives.start != event->data.document_start.tag_directives.end)
		yaml_complain(reader->document, line, column, NULL, "directives (`%%YAML`, `%%TAG`) are not allowed");
	return 0;
}

static int take_event(struct reader *reader, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		return start_document(reader, event);
	case YAML_SCALAR_EVENT:
		return take_scalar(reader, event);
	case YAML_ALIAS_EVENT:
		return take_alias(reader, event);
	case YAML_SEQUENCE_START_EVENT:
		return open_collection(reader, event, NODE_LIST);
	case YAML_MAPPING_START_EVENT:
		return open_collection(reader, event, NODE_MAP);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return close_collection(reader);
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		return 0;
	}
	return -1;
}

/* Returns the byte at a mark, NUL at the end. libyaml counts characters, so that mark.index is not
 * an offset. */
static char byte_at(const struct yaml *document, yaml_mark_t mark)
{
	const char *at = line_start(document, mark_line(mark)), *end = document->text + document->length;

	for (size_t i = 0; at && at < end && i < mark.column; i++) {
		uint32_t character;
		size_t size = text_decode(at, (size_t)(end - at), &character);
		at += size > 0 ? size : 1;
	}
	return at && at < end ? *at : '\0';
}

static const char *syntax_hint(const struct yaml *document, const yaml_parser_t *parser)
{
	char problem = byte_at(document, parser->problem_mark);

	if (parser->context && byte_at(document, parser->context_mark) == '*')
		return quote_pattern_hint;
	if (problem == '\t')
		return "indent with blanks, not with tabs";
	if (problem == '@' || problem == '`' || problem == '%')
		return "quote a value that starts with this character";
	return NULL;
}

static void complain_syntax(struct yaml *document, const yaml_parser_t *parser)
{
	const char *problem = parser->problem ? parser->problem : "not readable as YAML";

	if (parser->error == YAML_MEMORY_ERROR)
		arena_out_of_memory();
	yaml_complain(document, mark_line(parser->problem_mark), mark_column(parser->problem_mark),
		      syntax_hint(document, parser), "%s%s%s", parser->context ? parser->context : "",
		      parser->context ? ": " : "", problem);
}

/* Returns -1 if the tree is incomplete. */
static int read_events(struct reader *reader, yaml_parser_t *parser)
{
	for (;;) {
		yaml_event_t event;
		int status;
		bool is_end;

		if (!yaml_parser_parse(parser, &event)) {
			complain_syntax(reader->document, parser);
			return -1;
		}
		is_end = event.type == YAML_STREAM_END_EVENT;
		status = take_event(reader, &event);
		yaml_event_delete(&event);
		if (status < 0 || is_end)
			return status;
	}
}

struct yaml_node *yaml_read(struct yaml *document)
{
	struct reader reader = { .document = document };
	yaml_parser_t parser;
	int status;

	if (document->length > YAML_MAX_BYTES) {
		yaml_complain(document, 1, 1, NULL, "larger than %d bytes", YAML_MAX_BYTES);
		return NULL;
	}
	examine_bytes(document);
	if (document->complaints > 0)
		return NULL;
	if (!yaml_parser_initialize(&parser))
		arena_out_of_memory();
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)document->text, document->length);
	status = read_events(&reader, &parser);
	yaml_parser_delete(&parser);
	return status < 0 ? NULL : reader.root;
}

static bool is_number(const char *text)
{
	size_t at = text[0] == '-' || text[0] == '+' ? 1 : 0;
	size_t digits = strspn(text + at, "0123456789_");

	if (text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'o' || text[at + 1] == 'b') && text[at + 2])
		return text[at + 2 + strspn(text + at + 2, "0123456789abcdefABCDEF_")] == '\0';
	at += digits;
	if (text[at] == '.') {
		size_t fraction = strspn(text + at + 1, "0123456789_");
		at += 1 + fraction;
		digits += fraction;
	}
	if (digits == 0)
		return false;
	if (text[at] == 'e' || text[at] == 'E') {
		at += text[at + 1] == '-' || text[at + 1] == '+' ? 2 : 1;
		if (text[at] == '\0')
			return false;
		at += strspn(text + at, "0123456789");
	}
	return text[at] == '\0';
}

const char *yaml_plain_type(const char *text)
{
	static const struct {
		const char *word, *type;
	} words[] = {
		{ "", "null" },		  { "~", "null" },	  { "null", "null" },	 { "true", "a boolean" },
		{ "false", "a boolean" }, { "yes", "a boolean" }, { "no", "a boolean" }, { "on", "a boolean" },
		{ "off", "a boolean" },	  { "y", "a boolean" },	  { "n", "a boolean" },	 { ".inf", "a number" },
		{ ".nan", "a number" },
	};

	/* None of the words is longer than `false`. */
	for (size_t i = 0; strnlen(text, 6) < 6 && i < sizeof words / sizeof words[0]; i++) {
		if (strcasecmp(text, words[i].word) == 0)
			return words[i].type;
	}
	return is_number(text) ? "a number" : NULL;
}
