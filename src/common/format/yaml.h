/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a strict subset of YAML: one document of mappings, lists and scalars, each node with its
 * position. Refuses anchors, aliases, tags, directives, further documents, control characters, bidi
 * marks, invalid UTF-8, and documents larger than a policy needs. Never opens a file, knows no
 * keys. */
#ifndef BERM_COMMON_FORMAT_YAML_H
#define BERM_COMMON_FORMAT_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/diagnostic.h"

enum {
	YAML_MAX_BYTES = 1 << 20,
	YAML_MAX_DEPTH = 32,
	YAML_MAX_ITEMS = 4096, /* in one list or mapping */
	YAML_MAX_NODES = 65536,
	YAML_MAX_SCALAR = 4096, /* bytes: PATH_MAX */
	YAML_MAX_DIAGNOSTICS = 64, /* in one file; more would not help the user */
};

enum yaml_node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct yaml_node {
	enum yaml_node_kind kind;
	unsigned line, column; /* from 1 */
	const char *text; /* scalars; free of control characters */
	bool is_plain; /* a scalar without quotes */
	bool is_broken; /* already reported: the text is empty, further errors are not reported */
	struct yaml_node *first, *last; /* children of a list; keys of a mapping */
	struct yaml_node *next;
	struct yaml_node *value; /* of a key */
	size_t count;
};

/* A document that is being parsed. */
struct yaml {
	struct arena *arena;
	const char *source;
	const char *text;
	size_t length;
	struct diagnostics *diagnostics; /* the caller's; errors are appended */
	size_t complaints; /* number of errors */
};

/* Returns the root; NULL for an empty document or after an error that stops the parser.
 * document->complaints tells them apart. */
struct yaml_node *yaml_read(struct yaml *document);

/* Adds a diagnostic with its position and source line. `hint` may be NULL. */
void yaml_complain(struct yaml *document, unsigned line, unsigned column, const char *hint, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* True after YAML_MAX_DIAGNOSTICS errors; further ones are dropped. */
bool yaml_is_full(const struct yaml *document);
/* Returns "null", "a boolean" or "a number" if some YAML parser reads the plain scalar as that,
 * NULL for a string. */
const char *yaml_plain_type(const char *text);

#endif
