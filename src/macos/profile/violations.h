/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel refused to the command, as `log stream` tells it. Portable: only text in, records and words out. The lines come from
 * a program of the system but carry names that the command chose: nothing in them is trusted, everything is bounded. */
#ifndef BERM_MACOS_PROFILE_VIOLATIONS_H
#define BERM_MACOS_PROFILE_VIOLATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/text.h"

enum {
	VIOLATION_LINE_MAX = 8192, /* longer lines are passed over and counted */
	VIOLATION_RECORDS_MAX = 64, /* different ones that are kept; the rest is counted */
};

struct violation {
	const char *operation; /* file-read-data */
	const char *target; /* a path or a name; "" if there is none */
	const char *process; /* as it calls itself */
	size_t count;
};

struct violations {
	struct arena *arena;
	const char *tag; /* of this run: lines without it are somebody else's */
	struct violation *items;
	size_t count;
	size_t total; /* with repetitions, and with those that were not kept */
	char line[VIOLATION_LINE_MAX];
	size_t length;
	bool is_too_long; /* the line being collected */
};

/* Bytes as they come out of the pipe; complete lines are taken in. */
void violations_feed(struct violations *violations, const char *bytes, size_t length);
/* "the sandbox refused 3 operations: file-read-data /Users/x/.env (2), ..." One line; nothing if there were none. */
void violations_summary(const struct violations *violations, struct text *out);
/* One line each, for -v. */
void violations_details(const struct violations *violations, struct text *out);
/* One JSON object per line, for the state directory. */
void violations_json(const struct violations *violations, struct text *out);

#endif
