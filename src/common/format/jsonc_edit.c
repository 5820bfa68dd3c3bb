/* SPDX-License-Identifier: Apache-2.0 */
/* The editor: inserts or removes bytes at positions from the parser. The result is parsed again
 * before it is returned, so that a bug here becomes an error and never a damaged file. */
#include "common/format/jsonc.h"

#include <string.h>

/* A document, its values, and its style of indentation. */
struct layout {
	struct arena *arena;
	const char *source;
	struct jsonc_text document;
	struct jsonc_value root;
	const char *newline;
	const char *unit; /* one level of indentation */
	struct error *err;
};

static const char default_unit[] = "  ";

static int fail_at(const struct layout *layout, const struct jsonc_value *value, const char *what)
{
	size_t line, column;
	jsonc_place(layout->document, value->start, &line, &column);
	error_set(layout->err, "%s:%zu:%zu: %s", layout->source, line, column, what);
	return error_hint(layout->err, "nothing was written");
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Returns the blanks between the start of the line and `offset`, or NULL if there is other text
 * between them. */
static const char *indent_before(const struct layout *layout, size_t offset)
{
	size_t start = offset;
	while (start > 0 && is_blank(layout->document.data[start - 1]))
		start--;
	if (start == 0 || layout->document.data[start - 1] != '\n')
		return NULL;
	return arena_copy_n(layout->arena, layout->document.data + start, offset - start);
}

/* Returns the blanks at the start of the line of `offset`. */
static const char *line_indent(const struct layout *layout, size_t offset)
{
	const char *data = layout->document.data;
	size_t start = offset, end;
	while (start > 0 && data[start - 1] != '\n')
		start--;
	for (end = start; end < offset && is_blank(data[end]);)
		end++;
	return arena_copy_n(layout->arena, data + start, end - start);
}

static const char *children_indent(const struct layout *layout, const struct jsonc_value *container)
{
	for (size_t i = container->count; i > 0; i--) {
		const char *indent = indent_before(layout, container->children[i - 1].start);
		if (indent)
			return indent;
	}
	return NULL;
}

static bool has_newline(struct jsonc_text document, size_t start, size_t end)
{
	return memchr(document.data + start, '\n', end - start) != NULL;
}

static int open_document(struct layout *layout)
{
	const char *first, *unit;
	if (jsonc_parse(layout->arena, JSONC_COMMENTS, layout->source, layout->document, &layout->root, layout->err) < 0)
		return error_hint(layout->err, "nothing was written");
	if (layout->root.type != JSONC_OBJECT)
		return fail_at(layout, &layout->root, "an object is needed here");
	first = memchr(layout->document.data, '\n', layout->document.length);
	layout->newline = first && first > layout->document.data && first[-1] == '\r' ? "\r\n" : "\n";
	unit = children_indent(layout, &layout->root);
	layout->unit = unit && unit[0] ? unit : default_unit;
	return 0;
}

void jsonc_format(const struct jsonc_value *value, const char *newline, const char *indent, const char *unit, struct text *out)
{
	bool is_object = value->type == JSONC_OBJECT;
	struct text deeper = { 0 };

	if (value->type == JSONC_STRING) {
		text_add_json(out, value->string);
		return;
	}
	if (!is_object && value->type != JSONC_ARRAY) {
		text_add_n(out, value->raw, value->end - value->start);
		return;
	}
	text_add(&deeper, "%s%s", indent, unit);
	text_add(out, is_object ? "{" : "[");
	for (size_t i = 0; i < value->count; i++) {
		if (i > 0)
			text_add(out, newline ? "," : ", ");
		if (newline)
			text_add(out, "%s%s", newline, deeper.data);
		if (is_object) {
			text_add_json(out, value->children[i].key);
			text_add(out, ": ");
		}
		jsonc_format(&value->children[i].value, newline, deeper.data, unit, out);
	}
	if (newline && value->count > 0)
		text_add(out, "%s%s", newline, indent);
	text_add(out, is_object ? "}" : "]");
	text_free(&deeper);
}

/* Returns the end of the comments that follow `offset` on the same line, or `offset` if there are
 * none. */
static size_t past_line_comments(const struct layout *layout, size_t offset)
{
	const char *data = layout->document.data;
	size_t end = offset;
	for (;;) {
		size_t at = end;
		while (is_blank(data[at]))
			at++;
		if (data[at] != '/')
			return end;
		if (data[at + 1] == '/') {
			at += strcspn(data + at, "\n");
			return data[at - 1] == '\r' ? at - 1 : at;
		}
		end = (size_t)(strstr(data + at + 2, "*/") + 2 - data);
	}
}

/* Returns the end of the last comment between two offsets, or `start`. There are only spaces and
 * comments between them. */
static size_t last_comment_end(const struct layout *layout, size_t start, size_t end)
{
	const char *data = layout->document.data;
	size_t result = start;
	for (size_t at = start; at < end; at++) {
		if (data[at] != '/')
			continue;
		if (data[at + 1] == '/')
			at += strcspn(data + at, "\n");
		else
			at = (size_t)(strstr(data + at + 2, "*/") + 2 - data);
		result = at;
		if (data[at] == '\n' && data[at - 1] == '\r')
			result--;
		at--;
	}
	return result;
}

static void keep(const struct layout *layout, size_t start, size_t end, struct text *out)
{
	text_add_n(out, layout->document.data + start, end - start);
}

/* `text` is the formatted child with its key. */
static void insert_into_empty(const struct layout *layout, const struct jsonc_value *container, const char *text,
			      const char *indent, bool on_lines, struct text *out)
{
	size_t close = container->end - 1;
	size_t point = last_comment_end(layout, container->start + 1, close);
	bool has_comment = point > container->start + 1;

	keep(layout, 0, point, out);
	if (on_lines)
		text_add(out, "%s%s", layout->newline, indent);
	text_add(out, "%s", text);
	if (has_comment && has_newline(layout->document, point, close))
		keep(layout, point, close, out);
	else if (on_lines)
		text_add(out, "%s%s", layout->newline, line_indent(layout, container->start));
	keep(layout, close, layout->document.length, out);
}

static void insert_after_last(const struct layout *layout, const struct jsonc_value *container, const char *text,
			      const char *indent, bool on_lines, struct text *out)
{
	const struct jsonc_child *last = &container->children[container->count - 1];
	size_t after = last->comma ? last->comma + 1 : last->value.end;
	size_t point = past_line_comments(layout, after);

	keep(layout, 0, after, out);
	if (!last->comma)
		text_add(out, ",");
	keep(layout, after, point, out);
	if (on_lines)
		text_add(out, "%s%s", layout->newline, indent);
	else
		text_add(out, " ");
	text_add(out, "%s%s", text, last->comma ? "," : "");
	keep(layout, point, layout->document.length, out);
}

static void insert_child(const struct layout *layout, const struct jsonc_value *container, const char *key,
			 const struct jsonc_value *value, struct text *out)
{
	const char *indent = children_indent(layout, container);
	bool on_lines = container->count > 0
				? has_newline(layout->document, container->start, container->end)
				: container == &layout->root || has_newline(layout->document, 0, layout->document.length);
	struct text child = { 0 };

	if (!indent)
		indent = arena_printf(layout->arena, "%s%s", line_indent(layout, container->start), layout->unit);
	if (key) {
		text_add_json(&child, key);
		text_add(&child, ": ");
	}
	jsonc_format(value, on_lines ? layout->newline : NULL, indent, layout->unit, &child);
	if (container->count == 0)
		insert_into_empty(layout, container, child.data, indent, on_lines, out);
	else
		insert_after_last(layout, container, child.data, indent, on_lines, out);
	text_free(&child);
}

static void replace(const struct layout *layout, const struct jsonc_value *old, const char *bytes, size_t length,
		    struct text *out)
{
	keep(layout, 0, old->start, out);
	text_add_n(out, bytes, length);
	keep(layout, old->end, layout->document.length, out);
}

/* True if there are only spaces and line ends between two offsets. */
static bool is_space(const struct layout *layout, size_t start, size_t end)
{
	for (size_t i = start; i < end; i++)
		if (!memchr(" \t\r\n", layout->document.data[i], 4))
			return false;
	return true;
}

/* Removes one child with one comma. Comments around it stay. */
static void remove_child(const struct layout *layout, const struct jsonc_value *container, size_t index, struct text *out)
{
	const struct jsonc_child *child = &container->children[index];
	size_t before = index > 0 ? container->children[index - 1].comma + 1 : container->start + 1;
	size_t start = last_comment_end(layout, before, child->start);
	size_t end = child->value.end, close = container->end - 1;

	if (container->count == 1 && start == container->start + 1 &&
	    is_space(layout, child->comma ? child->comma + 1 : end, close)) {
		keep(layout, 0, start, out);
		keep(layout, close, layout->document.length, out);
		return;
	}
	if (!child->comma && index > 0) {
		keep(layout, 0, before - 1, out);
		keep(layout, before, start, out);
	} else
		keep(layout, 0, start, out);
	if (child->comma) {
		keep(layout, end, child->comma, out);
		end = child->comma + 1;
	}
	keep(layout, end, layout->document.length, out);
}

/* Builds and parses {"a": {"b": VALUE}} for the missing keys. */
static int wrap_value(const struct layout *layout, const char *const *missing, const struct jsonc_edit *edit,
		      struct jsonc_value *value)
{
	struct text text = { 0 };
	const char *copy;
	size_t depth = 0, length;

	for (; missing[depth]; depth++) {
		text_add(&text, "{");
		text_add_json(&text, missing[depth]);
		text_add(&text, ":");
	}
	text_add(&text, edit->is_element ? "[%s]" : "%s", edit->value);
	for (; depth > 0; depth--)
		text_add(&text, "}");
	length = text.length;
	copy = arena_copy_n(layout->arena, text.data, length);
	text_free(&text);
	return jsonc_parse(layout->arena, JSONC_STRICT, "setting", (struct jsonc_text){ copy, length }, value, layout->err);
}

static size_t find_element(const struct jsonc_value *array, const struct jsonc_value *element)
{
	size_t i = 0;
	while (i < array->count && !jsonc_equal(&array->children[i].value, element))
		i++;
	return i;
}

static int parse_wanted(struct arena *arena, const struct jsonc_edit *edit, struct jsonc_value *value, struct error *err)
{
	return jsonc_parse(arena, JSONC_STRICT, "setting", (struct jsonc_text){ edit->value, strlen(edit->value) }, value, err);
}

bool jsonc_holds(struct arena *arena, const struct jsonc_value *root, const struct jsonc_edit *edit)
{
	const struct jsonc_value *found = jsonc_find(root, edit->path);
	struct jsonc_value wanted = { 0 };
	struct error ignored = { 0 };

	if (!found || parse_wanted(arena, edit, &wanted, &ignored) < 0)
		return false;
	if (edit->is_element)
		return found->type == JSONC_ARRAY && find_element(found, &wanted) < found->count;
	return jsonc_equal(found, &wanted);
}

/* Returns the deepest existing value on the path and the number of keys to it. */
static const struct jsonc_value *descend(const struct layout *layout, const struct jsonc_edit *edit, size_t *depth)
{
	const struct jsonc_value *at = &layout->root, *next;
	for (*depth = 0; edit->path[*depth]; ++*depth) {
		next = jsonc_member(at, edit->path[*depth]);
		if (!next)
			break;
		at = next;
	}
	return at;
}

static int set_missing(const struct layout *layout, const struct jsonc_edit *edit, const struct jsonc_value *container,
		       size_t depth, struct text *out)
{
	struct jsonc_value value = { 0 };
	if (container->type != JSONC_OBJECT)
		return fail_at(layout, container, "an object is needed here");
	if (wrap_value(layout, edit->path + depth, edit, &value) < 0)
		return -1;
	/* The outermost brace is the existing container. */
	insert_child(layout, container, edit->path[depth], &value.children[0].value, out);
	return 0;
}

static int set_existing(const struct layout *layout, const struct jsonc_edit *edit, const struct jsonc_value *old,
			struct text *out)
{
	struct jsonc_value wanted = { 0 };
	struct text text = { 0 };

	if (parse_wanted(layout->arena, edit, &wanted, layout->err) < 0)
		return -1;
	if (edit->is_element) {
		if (old->type != JSONC_ARRAY)
			return fail_at(layout, old, "a list is needed here");
		insert_child(layout, old, NULL, &wanted, out);
		return 0;
	}
	jsonc_format(&wanted, has_newline(layout->document, 0, layout->document.length) ? layout->newline : NULL,
		     line_indent(layout, old->start), layout->unit, &text);
	replace(layout, old, text.data, text.length, out);
	text_free(&text);
	return 0;
}

static int verify(const struct layout *layout, const struct text *out, struct jsonc_value *root)
{
	if (jsonc_parse(layout->arena, JSONC_COMMENTS, layout->source, (struct jsonc_text){ out->data, out->length }, root,
			layout->err) == 0)
		return 0;
	return error_hint(layout->err, "this is a bug in berm; nothing was written");
}

int jsonc_set(struct arena *arena, const char *source, struct jsonc_text document, const struct jsonc_edit *edit,
	      struct text *out, struct error *err)
{
	struct layout layout = { .arena = arena, .source = source, .document = document, .err = err };
	const struct jsonc_value *at;
	struct jsonc_value result = { 0 };
	size_t depth;
	int status;

	/* NUL-terminated. */
	layout.document.data = arena_copy_n(arena, document.data, document.length);
	if (open_document(&layout) < 0)
		return -1;
	if (jsonc_holds(arena, &layout.root, edit)) {
		keep(&layout, 0, document.length, out);
		return 0;
	}
	at = descend(&layout, edit, &depth);
	status = edit->path[depth] ? set_missing(&layout, edit, at, depth, out) : set_existing(&layout, edit, at, out);
	if (status < 0 || verify(&layout, out, &result) < 0)
		return -1;
	return jsonc_holds(arena, &result, edit)
		       ? 0
		       : error_set(err, "%s: the edit failed, which is a bug in berm; nothing was written", source);
}

static size_t child_index(const struct jsonc_value *container, const struct jsonc_value *value)
{
	size_t i = 0;
	while (i < container->count && &container->children[i].value != value)
		i++;
	return i;
}

/* Removes the deepest container that is empty now and that `original` lacks. One for each call. */
static int prune(struct layout *layout, const struct jsonc_value *original, const struct jsonc_edit *edit, size_t depth,
		 struct text *out)
{
	const char *path[JSONC_PATH_MAX + 1] = { 0 };
	const struct jsonc_value *value, *container;

	memcpy(path, edit->path, depth * sizeof *path);
	value = jsonc_find(&layout->root, path);
	if (!value || (value->type != JSONC_OBJECT && value->type != JSONC_ARRAY) || value->count > 0 ||
	    jsonc_find(original, path) || !is_space(layout, value->start + 1, value->end - 1)) {
		keep(layout, 0, layout->document.length, out);
		return 0;
	}
	path[depth - 1] = NULL;
	container = jsonc_find(&layout->root, path);
	remove_child(layout, container, child_index(container, value), out);
	return 0;
}

static int unset_found(const struct layout *layout, const struct jsonc_value *original, const struct jsonc_edit *edit,
		       const struct jsonc_value *found, struct text *out)
{
	const struct jsonc_value *before = jsonc_find(original, edit->path), *container;
	const char *path[JSONC_PATH_MAX + 1];
	struct jsonc_value wanted = { 0 };
	size_t depth = 0;

	if (parse_wanted(layout->arena, edit, &wanted, layout->err) < 0)
		return -1;
	if (edit->is_element) {
		size_t index = found->type == JSONC_ARRAY ? find_element(found, &wanted) : 0;
		bool was_there = before && before->type == JSONC_ARRAY && find_element(before, &wanted) < before->count;
		if (found->type != JSONC_ARRAY || index == found->count || was_there)
			keep(layout, 0, layout->document.length, out);
		else
			remove_child(layout, found, index, out);
		return 0;
	}
	if (!jsonc_equal(found, &wanted)) {
		if (before && jsonc_equal(before, found)) {
			keep(layout, 0, layout->document.length, out);
			return 0;
		}
		return fail_at(layout, found, "this value was changed after berm wrote it");
	}
	if (before) {
		replace(layout, found, before->raw, before->end - before->start, out);
		return 0;
	}
	while (edit->path[depth])
		depth++;
	memcpy(path, edit->path, sizeof path);
	path[depth - 1] = NULL;
	container = jsonc_find(&layout->root, path);
	remove_child(layout, container, child_index(container, found), out);
	return 0;
}

/* Replaces the document by the edited one. */
static int advance(struct layout *layout, struct text *made)
{
	struct jsonc_value root = { 0 };
	if (verify(layout, made, &root) < 0)
		return -1;
	layout->document = (struct jsonc_text){ arena_copy_n(layout->arena, made->data, made->length), made->length };
	text_free(made);
	return open_document(layout);
}

int jsonc_unset(struct arena *arena, const char *source, struct jsonc_text document, struct jsonc_text original,
		const struct jsonc_edit *edit, struct text *out, struct error *err)
{
	struct layout layout = { .arena = arena, .source = source, .document = document, .err = err };
	const struct jsonc_value *found;
	struct jsonc_value before = { 0 };
	struct text made = { 0 };
	size_t depth = 0;
	int status = 0;

	layout.document.data = arena_copy_n(arena, document.data, document.length);
	if (open_document(&layout) < 0 || jsonc_parse(arena, JSONC_COMMENTS, "the original", original, &before, err) < 0)
		return -1;
	found = jsonc_find(&layout.root, edit->path);
	if (found) {
		status = unset_found(&layout, &before, edit, found, &made);
		if (status == 0)
			status = advance(&layout, &made);
	}
	for (; edit->path[depth];)
		depth++;
	for (; status == 0 && depth > 0; depth--) {
		status = prune(&layout, &before, edit, depth, &made);
		if (status == 0)
			status = advance(&layout, &made);
	}
	text_free(&made);
	if (status == 0)
		keep(&layout, 0, layout.document.length, out);
	return status;
}
