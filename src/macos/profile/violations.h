/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that the kernel refused to the command, read from `log show`. Portable: text in,
 * records and text out. The lines contain names that the command chose: none is trusted, and the
 * memory for them is bounded. */
#ifndef BERM_MACOS_PROFILE_VIOLATIONS_H
#define BERM_MACOS_PROFILE_VIOLATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/text.h"

enum {
	VIOLATION_LINE_MAX = 8192, /* longer lines are skipped */
	VIOLATION_RECORDS_MAX = 64, /* different ones; the rest is counted only */
};

struct violation {
	const char *operation; /* file-read-data */
	const char *target; /* a path or a name; "" if there is none */
	const char *process; /* the name that it reports */
	size_t count;
};

struct violations {
	struct arena *arena;
	const char *tag; /* of this run; lines without it belong to other processes */
	struct violation *items;
	size_t count;
	size_t total; /* including repetitions and records beyond the maximum */
	char line[VIOLATION_LINE_MAX];
	size_t length;
	bool is_too_long; /* the current line */
};

/* Adds bytes as they were read from the pipe, and parses complete lines. */
void violations_feed(struct violations *violations, const char *bytes, size_t length);
/* Adds "the sandbox refused 3 operations: file-read-data /Users/x/.env (2 times) and others", or
 * nothing if there are none. */
void violations_summary(const struct violations *violations, struct text *out);
/* Adds one line per record, for -v. */
void violations_details(const struct violations *violations, struct text *out);
/* Adds one JSON object per line, for the state directory. */
void violations_json(const struct violations *violations, struct text *out);

#endif
