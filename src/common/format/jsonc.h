/* SPDX-License-Identifier: Apache-2.0 */
/* JSON, and JSON with comments and trailing commas as editors write it, read with positions and changed by splicing bytes: what is
 * not named by an edit (comments, order, spacing, line ends) stays as it was. */
#ifndef BERM_COMMON_FORMAT_JSONC_H
#define BERM_COMMON_FORMAT_JSONC_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/base/text.h"

enum {
	JSONC_DEPTH_MAX = 64,
	JSONC_SIZE_MAX = 8 << 20, /* bytes of a document */
	JSONC_PATH_MAX = 6, /* keys of an edit */
};

enum jsonc_type { JSONC_NULL, JSONC_FALSE, JSONC_TRUE, JSONC_NUMBER, JSONC_STRING, JSONC_ARRAY, JSONC_OBJECT };

/* JSONC_STRICT: RFC 8259 and nothing else. JSONC_COMMENTS: also line and block comments, a comma after the last child, a byte-order
 * mark. Both refuse duplicate keys (programs disagree about which one counts), invalid UTF-8 and lone surrogates. */
enum jsonc_dialect { JSONC_STRICT, JSONC_COMMENTS };

struct jsonc_child;

struct jsonc_value {
	enum jsonc_type type;
	const char *raw; /* in the document: end - start bytes */
	size_t start, end; /* offsets in the document */
	const char *string; /* of a string: decoded, with `length` bytes, NUL-terminated, possibly with NULs inside */
	size_t length;
	struct jsonc_child *children; /* of an object or array */
	size_t count;
};

struct jsonc_child {
	const char *key; /* as a value's string; NULL in an array */
	size_t key_length;
	size_t start; /* of the key, or of the value in an array */
	struct jsonc_value value;
	size_t comma; /* offset of the comma after it; 0: none */
};

struct jsonc_text {
	const char *data;
	size_t length;
};

/* One change: the value at `path` becomes `value`, or, for an element, the array at `path` gets `value` unless it has it. Objects
 * and the array on the way are made as needed. */
struct jsonc_edit {
	const char *path[JSONC_PATH_MAX + 1]; /* ends with NULL */
	const char *value; /* strict JSON */
	bool is_element;
};

/* Everything lives in the arena but `raw`, which points into `document`. Errors name source:line:column. */
int jsonc_parse(struct arena *arena, enum jsonc_dialect dialect, const char *source, struct jsonc_text document,
		struct jsonc_value *root, struct error *err);
/* 1-based, in characters. */
void jsonc_place(struct jsonc_text document, size_t offset, size_t *line, size_t *column);
const struct jsonc_value *jsonc_member(const struct jsonc_value *object, const char *key); /* NULL: no object or no such key */
const struct jsonc_value *jsonc_find(const struct jsonc_value *root, const char *const *path);
bool jsonc_equal(const struct jsonc_value *a, const struct jsonc_value *b); /* order of members and spelling of strings aside */
bool jsonc_is_string(const struct jsonc_value *value, const char *text); /* NULL value: false */

/* jsonc_edit.c. `out` gets the whole changed document. A document whose root is no object, or with something else than an object (an
 * array for an element) on the path, is an error with the place. */
int jsonc_set(struct arena *arena, const char *source, struct jsonc_text document, const struct jsonc_edit *edit,
	      struct text *out, struct error *err);
/* Takes a jsonc_set back: what `original` had at the path, or nothing, and containers that it did not have if they are empty now.
 * Bytes that were there before are there again, spaces inside an otherwise empty container aside. A value that is neither the
 * edit's nor absent was changed by somebody: an error with the place. */
int jsonc_unset(struct arena *arena, const char *source, struct jsonc_text document, struct jsonc_text original,
		const struct jsonc_edit *edit, struct text *out, struct error *err);
/* Does the document say what the edit says? */
bool jsonc_holds(struct arena *arena, const struct jsonc_value *root, const struct jsonc_edit *edit);
/* A value on several lines. `newline` and `indent` begin each line but the first; compact on one line if newline is NULL. */
void jsonc_format(const struct jsonc_value *value, const char *newline, const char *indent, const char *unit, struct text *out);

#endif
