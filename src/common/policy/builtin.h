/* SPDX-License-Identifier: Apache-2.0 */
/* The policies that are part of the binary, with name, kind and a one-line summary. */
#ifndef BERM_COMMON_POLICY_BUILTIN_H
#define BERM_COMMON_POLICY_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>

enum builtin_kind {
	BUILTIN_BASE, /* a name for `extends` */
	BUILTIN_PIECE, /* a name for `use`: a toolchain */
	BUILTIN_REGISTRY, /* a name for `use`: the hosts of a package registry */
	BUILTIN_AGENT, /* of `berm agent`; no key can name it */
	BUILTIN_FLOOR, /* always the lowest layer; no key can name it */
	BUILTIN_KIND_COUNT
};

struct builtin {
	char name[32];
	enum builtin_kind kind;
	const char *text; /* NUL-terminated */
	size_t length;
	const char *summary; /* the first line of the comment at its head; not terminated */
	int summary_length;
};

/* Returns the index-th policy of all kinds, sorted by name; false past the last. */
bool builtin_at(size_t index, struct builtin *builtin);
/* Finds a policy of any kind by its name; false if there is none. */
bool builtin_find(const char *name, struct builtin *builtin);

#endif
