/* SPDX-License-Identifier: Apache-2.0 */
/* The records of running sessions, in <state>/sessions: for each a lock, a socket and a private
 * record. The process that holds the lock is the session's holder; without it record and socket are
 * leftovers. */
#ifndef BERM_COMMON_STATE_SESSIONS_H
#define BERM_COMMON_STATE_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/base/sha256.h"

enum { SESSION_NAME_MAX = 32, SESSION_SECRET_MAX = 64, SESSION_STEM_MAX = 160 };

struct session_record {
	char name[SESSION_NAME_MAX + 1];
	char identity[SHA256_HEX + 1]; /* of its plan: plan_identity() */
	/* Proves that a client can read the record, which no sandbox can. */
	char token[SHA256_HEX + 1];
	char proxy_secret[SESSION_SECRET_MAX + 1]; /* of the session's proxy; "": it has none */
	int64_t pid; /* of the holder */
	int64_t started; /* seconds since 1970 */
	int64_t idle_ms;
	bool keeps; /* background processes live until the session ends */
	const char *project;
};

/* True for 1 to SESSION_NAME_MAX characters of A-Z, a-z, 0-9, dot, dash and underscore; the first
 * is no dot. */
bool session_name_is_valid(const char *name);
/* Writes the name of the session's files without their ends. */
void session_stem(const char *project_key, const char *name, char stem[SESSION_STEM_MAX]);

/* Opens the directory of the records. Returns an fd that the caller closes, or -1; err->number is
 * ENOENT if it does not exist and is_creating is false. */
int sessions_open(struct arena *arena, const char *state_directory, bool is_creating, struct error *err);
/* Becomes the holder. Returns the fd of the lock, or -1; err->number is EBUSY if there is one. */
int sessions_take(int directory, const char *stem, struct error *err);
/* True if a holder has the lock. */
bool sessions_is_held(int directory, const char *stem);
/* Written by the holder, read by clients. -1 with err. */
int sessions_write(struct arena *arena, int directory, const char *stem, const struct session_record *record,
		   struct error *err);
int sessions_read(struct arena *arena, int directory, const char *stem, struct session_record *record, struct error *err);
/* Removes the files. The caller has the lock. */
void sessions_remove(int directory, const char *stem);

struct session_stems {
	const char **items;
	size_t count;
};
/* Lists the stems of all records, sorted. */
void sessions_list(struct arena *arena, int directory, struct session_stems *stems);
/* Writes the name of a session's socket. */
void session_socket_name(const char *stem, char name[SESSION_STEM_MAX]);

#endif
