/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share. */
#ifndef BERM_COMMON_RECORD_INTERNAL_H
#define BERM_COMMON_RECORD_INTERNAL_H

#include <time.h>

#include "common/record/record.h"

#define RECORD_DIRECTORY "log"
#define RECORD_SUFFIX ".ndjson"
#define RECORD_LEDGER "HEAD"

enum {
	RECORD_MONTH = 7, /* "2026-11" */
	RECORD_TIME = 27, /* "2026-11-18T15:04:05.000000Z" */
	RECORD_NAME = RECORD_ID + sizeof RECORD_SUFFIX - 1,
};

/* names.c */

/* Makes a run id from the time and random bytes. Returns -1 with errno without random bytes. */
int record_new_id(struct timespec now, char id[RECORD_ID + 1]);
/* True if the bytes have the form of a run id. *ms receives its time since 1970 unless NULL. */
bool record_is_id(const char *bytes, size_t length, uint64_t *ms);
/* True if the name is that of a directory of a month. */
bool record_is_month(const char *name);
/* The month of a run id, in UTC. */
void record_month(uint64_t ms, char month[RECORD_MONTH + 1]);
/* RFC 3339 with microseconds, in UTC. */
void record_time(struct timespec time, char text[RECORD_TIME + 1]);
/* Parses such a time. Returns milliseconds since 1970, or -1. */
int64_t record_time_ms(const char *text);
/* The hash of the first line of an empty ledger. */
extern const char record_no_hash[SHA256_HEX + 1];
/* Hashes a line without its end. */
void record_hash(const char *line, size_t length, char hash[SHA256_HEX + 1]);
/* Opens a file of the log: regular, of this user, not a symlink. Returns an fd, or -1 with
 * errno. */
int record_open_file(int directory, const char *name, int flags);

/* bytes.c: decodes base64. Returns NULL if it is none; *length receives the number of bytes. */
char *record_from_base64(struct arena *arena, const char *text, size_t *length);

/* ledger.c */

/* Reads the hash that the next line of the ledger refers to. */
int ledger_tail(int head, char hash[SHA256_HEX + 1]);
/* Adds the line of a finished run. -1 with errno. */
int ledger_add(struct record *record, struct timespec now);
/* prune.c: removes files of runs that started before `cutoff`, and their lines of the ledger. */
void record_remove_old(struct record *record, uint64_t cutoff_ms, struct timespec now);
/* Locks the ledger and opens it again if it was replaced meanwhile. -1 with errno; EAGAIN after a
 * few seconds. Closing the fd unlocks it. */
int ledger_lock(int log, int *head);
/* Reads the last line of the ledger's bytes that is complete: *length is 0 if there is none. */
void ledger_last(const char *bytes, size_t size, const char **line, size_t *length);
/* The hash that the line after this one refers to: of this line, or, after a line about removed
 * runs, of the last removed line. */
void ledger_hash(const char *line, size_t length, char hash[SHA256_HEX + 1]);

#endif
