/* SPDX-License-Identifier: Apache-2.0 */
/* Reads records: lists runs, parses one, verifies the chain. Treats every byte as hostile, and
 * never changes a file. */
#ifndef BERM_COMMON_RECORD_READER_H
#define BERM_COMMON_RECORD_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/base/sha256.h"
#include "common/format/jsonc.h"
#include "common/record/record.h"

struct record_line {
	const char *bytes; /* without the line's end */
	size_t length;
	struct jsonc_value value; /* an object, if is_valid */
	const char *event; /* "" if it has none */
	bool is_valid;
};

/* One run's file. */
struct record_run {
	const char *id;
	uint64_t ms; /* its start, since 1970 */
	struct record_lines {
		struct record_line *items;
		size_t count;
	} lines;
	const struct record_line *start, *end; /* run.start and run.end; or NULL */
	size_t cut; /* bytes after the last complete line */
	size_t damaged; /* lines that are not valid */
	bool is_running; /* another process holds its lock */
};

struct record_name {
	char id[RECORD_ID + 1];
	const char *month;
};
struct record_names {
	struct record_name *items; /* the newest first */
	size_t count;
};

/* Lists the files of all runs; none if there is no log. */
int record_runs(struct arena *arena, const char *state_directory, struct record_names *names, struct error *err);
/* Finds a run by its id, or by the first or last characters of it, at least four. */
int record_find(const struct record_names *names, const char *word, const struct record_name **name, struct error *err);
/* Reads and parses the file of one run. */
int record_read(struct arena *arena, const char *state_directory, const struct record_name *name, struct record_run *run,
		struct error *err);
/* Parses the bytes of a file. Never fails: damage is counted. */
void record_parse(struct arena *arena, const char *id, const char *bytes, size_t length, struct record_run *run);

/* Members of a line. Each returns NULL or the fallback if there is none of that type. */
const char *record_text(struct arena *arena, const struct jsonc_value *object, const char *name);
/* Decodes a value that record_bytes has written. */
const char *record_value(struct arena *arena, const struct jsonc_value *value);
uint64_t record_number(const struct jsonc_value *object, const char *name, uint64_t fallback);
bool record_is(const struct jsonc_value *object, const char *name); /* true */
/* The command as a shell would read it. */
const char *record_command(struct arena *arena, const struct record_run *run);

/* verify.c */

struct record_problem {
	const char *run; /* or NULL: of the ledger */
	const char *text;
};
struct record_verification {
	struct record_problem *items; /* the chain is broken */
	size_t count;
	size_t runs, lines; /* that were checked */
	size_t running, unfinished; /* without a line in the ledger */
	uint64_t pruned; /* runs that were removed because of their age */
};
/* Compares every run, or one, with the chain. -1 with err: it could not be read. */
int record_verify(struct arena *arena, const char *state_directory, const struct record_name *only,
		  struct record_verification *result, struct error *err);

#endif
