/* SPDX-License-Identifier: Apache-2.0 */
/* The strict YAML subset that berm reads: one document of mappings, lists and scalars, every node with its place. What YAML can do
 * beyond that (anchors, aliases, tags, directives, several documents) and what could deceive a reader (control characters,
 * marks of direction, invalid UTF-8) is an error, and so is more than a policy can need. Knows no keys. */
#ifndef BERM_COMMON_FORMAT_YAML_H
#define BERM_COMMON_FORMAT_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/policy/policy.h"

enum {
	DOCUMENT_MAX_BYTES = 1 << 20,
	DOCUMENT_MAX_DEPTH = 32,
	DOCUMENT_MAX_ITEMS = 4096, /* in one list or mapping */
	DOCUMENT_MAX_NODES = 65536,
	DOCUMENT_MAX_SCALAR = 4096, /* bytes: the longest path there is */
	DOCUMENT_MAX_DIAGNOSTICS = 64, /* in one file; the rest would scroll away what matters */
};

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
	enum node_kind kind;
	unsigned line, column; /* from 1 */
	const char *text; /* scalars; free of control characters */
	bool is_plain; /* a scalar without quotes */
	bool is_broken; /* complained about already: its text is empty and nobody needs to hear more about it */
	struct node *first, *last; /* what a list or mapping holds; a mapping holds its keys */
	struct node *next;
	struct node *value; /* of a key */
	size_t count;
};

/* A text under examination: where it came from, and where complaints about it go. */
struct document {
	struct arena *arena;
	const char *source;
	const char *text;
	size_t length;
	struct diagnostics *diagnostics;
	size_t complaints;
};

/* The root, NULL for an empty document or after a complaint that leaves nothing to go on with. Look at document->complaints. */
struct node *document_read(struct document *document);

/* Adds a diagnostic for one place, with its line. `hint` may be NULL. */
void document_complain(struct document *document, unsigned line, unsigned column, const char *hint, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Have there been so many complaints that more are not kept? */
bool document_is_full(const struct document *document);
/* Does a plain scalar mean something else than a string to some YAML reader (null, boolean, number)? NULL, or what. */
const char *document_plain_type(const char *text);

#endif
