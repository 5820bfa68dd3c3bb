/* SPDX-License-Identifier: Apache-2.0 */
/* The policies that are part of the binary: by name, by kind, and with the one line that says what each is for. */
#ifndef BERM_COMMON_POLICY_BUILTIN_H
#define BERM_COMMON_POLICY_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>

enum builtin_kind {
	BUILTIN_BASE, /* what `extends` may name */
	BUILTIN_PIECE, /* what `use` may name: a toolchain */
	BUILTIN_REGISTRY, /* the same, for the hosts of a package registry */
	BUILTIN_FLOOR, /* under everything, named by nobody */
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

/* The index-th in the order of their names, over all kinds; false past the last. */
bool builtin_at(size_t index, struct builtin *builtin);
bool builtin_find(const char *name, struct builtin *builtin);

#endif
