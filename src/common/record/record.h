/* SPDX-License-Identifier: Apache-2.0 */
/* The record of runs: a file of JSON lines per run, chained by hashes, and a ledger of the finished
 * ones, in <state>/log. A damaged or full disk costs records, which are counted, and never stops a
 * run by itself. Never holds the value of a variable or of an argument that names a secret.
 *
 * Order of calls: record_begin; then for each event record_event, json_* calls and record_write;
 * RECORD_RUN_END is the last; record_end. All are safe after a failed record_begin. */
#ifndef BERM_COMMON_RECORD_RECORD_H
#define BERM_COMMON_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/base/json_write.h"
#include "common/base/sha256.h"
#include "common/base/text.h"

enum {
	RECORD_VERSION = 1,
	RECORD_ID = 36, /* characters of a run id, a UUID of version 7 */
	RECORD_ARGV_MAX = 8 << 10, /* bytes of argv in a record */
	RECORD_RATE = 10000, /* records per second; more are counted and not written */
};
/* Bytes of one run's file: further events are only counted. */
#define RECORD_SIZE_MAX ((uint64_t)64 << 20)

enum record_event {
	RECORD_RUN_START,
	RECORD_NET,
	RECORD_FILE_DENIED,
	RECORD_GIT,
	RECORD_PLANT,
	RECORD_REPAIR,
	RECORD_LIMIT,
	RECORD_RUN_END,
	RECORD_LOG_FOLDED,
	RECORD_LOG_CUT,
	RECORD_EVENT_COUNT
};
/* Returns the event's name in the record, for example "run.start". */
const char *record_event_name(enum record_event event);

struct record_options {
	const char *state_directory;
	bool is_synced; /* on disk before the run starts and before berm exits */
	uint64_t keep_ms; /* records of runs that started earlier are removed */
};

struct record {
	struct arena *arena;
	struct record_options options;
	bool has_begun; /* record_begin has succeeded, and record_end was not called */
	int log, file, head; /* fds: the directory, the run's file, the ledger; -1: none */
	dev_t device; /* of the run's file */
	ino_t inode;
	char id[RECORD_ID + 1];
	char prev[SHA256_HEX + 1]; /* hash of the last line */
	uint64_t seq; /* of the next line */
	uint64_t size; /* of the file */
	int64_t started_ns; /* monotonic */
	uint64_t counts[RECORD_EVENT_COUNT]; /* events, written or not */
	uint64_t folded[RECORD_EVENT_COUNT]; /* not written because of the rate, since the last note */
	uint64_t lost; /* that should have been written and were not */
	uint64_t cut; /* not written because of the size */
	int64_t second; /* of the rate */
	unsigned in_second;
	struct error failure; /* the first */
	/* The line that is being made. */
	enum record_event event;
	bool is_folded; /* only counted */
	struct text line;
	struct json json;
};

/* Opens a new record. -1 with err: this run cannot be recorded. */
int record_begin(struct record *record, struct arena *arena, const struct record_options *options, struct error *err);
/* Starts a line with the members that every event has. The caller adds its own to the result and
 * calls record_write. */
struct json *record_event(struct record *record, enum record_event event);
/* Ends the line and writes it. */
void record_write(struct record *record);
/* Closes every fd, for a launch that forks with them; record_resume opens them again. */
void record_park(struct record *record);
void record_resume(struct record *record);
/* Adds members about the record itself to the line: counts of events, lost ones. */
void record_add_counts(const struct record *record, struct json *json);
/* Adds the run to the ledger, removes what is older than keep_ms, once a day, and closes
 * everything. False if something was not written; record->failure has the reason. */
bool record_end(struct record *record);

/* bytes.c: adds bytes that may be no text: a string, or {"b64": ...} if they are invalid UTF-8. */
void record_bytes(struct json *json, const char *name, const char *bytes);
/* redact.c: returns the words without secrets: values after options, headers and names that call
 * for one, the userinfo of URLs, well-known forms of tokens, and values of variables of `variables`
 * with such names; that list ends with NULL, or is NULL. */
char *const *record_redact(struct arena *arena, char *const *words, char *const *variables);
/* redact.c: adds the words, redacted and at most RECORD_ARGV_MAX bytes of them, as "argv", and
 * "argv_cut" if something is missing. */
void record_argv(struct arena *arena, struct json *json, char *const *words, char *const *variables);
/* schema.c: writes the JSON Schema (draft 2020-12) of the lines. */
void record_schema(struct text *out);

#endif
