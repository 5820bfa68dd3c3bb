/* SPDX-License-Identifier: Apache-2.0 */
/* Parses JSON, with comments and trailing commas if asked, and edits it by splicing bytes. An edit
 * preserves all comments, order, spacing and line ends outside of it. Never opens a file. */
#ifndef BERM_COMMON_FORMAT_JSONC_H
#define BERM_COMMON_FORMAT_JSONC_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/base/text.h"

enum {
	JSONC_DEPTH_MAX = 64,
	JSONC_SIZE_MAX = 8 << 20, /* of a document, in bytes */
	JSONC_PATH_MAX = 6, /* keys in the path of an edit */
};

enum jsonc_type { JSONC_NULL, JSONC_FALSE, JSONC_TRUE, JSONC_NUMBER, JSONC_STRING, JSONC_ARRAY, JSONC_OBJECT };

/* JSONC_STRICT: RFC 8259 only. JSONC_COMMENTS: also line and block comments, a trailing comma, a
 * byte-order mark. Both refuse duplicate keys, because programs disagree about which one counts,
 * invalid UTF-8, and lone surrogates. */
enum jsonc_dialect { JSONC_STRICT, JSONC_COMMENTS };

struct jsonc_child;

struct jsonc_value {
	enum jsonc_type type;
	const char *raw; /* end - start bytes of the document */
	size_t start, end; /* offsets in the document */
	const char *string; /* JSONC_STRING: decoded; NUL-terminated, may contain NULs */
	size_t length;
	struct jsonc_child *children; /* of an object or array */
	size_t count;
};

struct jsonc_child {
	const char *key; /* decoded; NULL in an array */
	size_t key_length;
	size_t start; /* offset of the key, in an array of the value */
	struct jsonc_value value;
	size_t comma; /* offset of the comma after the child; 0: none */
};

struct jsonc_text {
	const char *data;
	size_t length;
};

/* One change: sets the value at `path`, or with is_element adds `value` to the array at `path`
 * unless the array contains it. Missing objects and the array are created. */
struct jsonc_edit {
	const char *path[JSONC_PATH_MAX + 1]; /* ends with NULL */
	const char *value; /* strict JSON */
	bool is_element;
};

/* Parses a document. Everything is in the arena except `raw`, which points into `document`. Errors
 * start with source:line:column. */
int jsonc_parse(struct arena *arena, enum jsonc_dialect dialect, const char *source, struct jsonc_text document,
		struct jsonc_value *root, struct error *err);
/* Converts an offset to line and column, both from 1, in characters. */
void jsonc_place(struct jsonc_text document, size_t offset, size_t *line, size_t *column);
/* Each returns NULL if there is no such value. */
const struct jsonc_value *jsonc_member(const struct jsonc_value *object, const char *key);
const struct jsonc_value *jsonc_find(const struct jsonc_value *root, const char *const *path);
/* True if both are equal, whatever the order of members and the escapes in strings. */
bool jsonc_equal(const struct jsonc_value *a, const struct jsonc_value *b);
/* False if `value` is NULL. */
bool jsonc_is_string(const struct jsonc_value *value, const char *text);

/* Writes the changed document to `out`. Fails with the position if the root or a value on the path
 * is not an object, or the target of an element is not an array. */
int jsonc_set(struct arena *arena, const char *source, struct jsonc_text document, const struct jsonc_edit *edit,
	      struct text *out, struct error *err);
/* Reverts jsonc_set: restores the value that `original` has at the path, or removes it, and removes
 * containers that `original` lacks once they are empty. All other bytes become those of `original`,
 * except spaces inside an empty container. Fails with the position if the value is neither the
 * edit's nor absent: the user changed it. */
int jsonc_unset(struct arena *arena, const char *source, struct jsonc_text document, struct jsonc_text original,
		const struct jsonc_edit *edit, struct text *out, struct error *err);
/* True if the edit would change nothing. */
bool jsonc_holds(struct arena *arena, const struct jsonc_value *root, const struct jsonc_edit *edit);
/* Writes a value on several lines; each but the first starts with `newline` and `indent`. On one
 * line if newline is NULL. Not json_write.h: this is for files of other programs, with their line
 * ends and indentation. */
void jsonc_format(const struct jsonc_value *value, const char *newline, const char *indent, const char *unit, struct text *out);

#endif
