/* SPDX-License-Identifier: Apache-2.0 */
/* Errors in a text of the user, each with its position. */
#ifndef BERM_COMMON_BASE_DIAGNOSTIC_H
#define BERM_COMMON_BASE_DIAGNOSTIC_H

#include <stddef.h>

#include "common/base/arena.h"

struct origin {
	/* Path as the user would write it, "built-in default", or "command line". */
	const char *source;
	unsigned line, column; /* from 1; 0: none */
};

struct diagnostic {
	struct origin origin;
	const char *message;
	const char *hint; /* "did you mean `deny`?" or NULL */
	const char *line; /* the source line, for quoting with a caret, or NULL */
};

/* All errors of a file, in the order they were found. */
struct diagnostics {
	struct arena *arena;
	struct diagnostic *items;
	size_t count;
};

#endif
