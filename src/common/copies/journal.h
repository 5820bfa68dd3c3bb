/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of one apply as bytes: what is to be done, with the inodes that tell after a crash
 * whether it was done. A damaged journal is refused as a whole. Never opens a file. */
#ifndef BERM_COMMON_COPIES_JOURNAL_H
#define BERM_COMMON_COPIES_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/arena.h"
#include "common/base/text.h"
#include "common/copies/copies.h"

enum journal_kind {
	JOURNAL_ADD, /* the copy's file or directory gets a name that is unused */
	JOURNAL_REPLACE, /* the copy's file is exchanged with that of the project */
	JOURNAL_DELETE,
	JOURNAL_MAKE_DIRECTORY,
	JOURNAL_SET_MODE,
	JOURNAL_KINDS
};

struct journal_operation {
	enum journal_kind kind;
	const char *path; /* relative to the project */
	uint64_t source; /* inode of the copy's file; 0: none */
	struct copy_identity before; /* of the project's file; 0: none */
	uint64_t parent; /* inode of its directory in the project; 0: made by an earlier operation */
	mode_t before_mode, after_mode;
	bool is_directory;
	bool is_used_again; /* a later operation uses the name that this one frees */
};

struct journal {
	const char *copy; /* name */
	int64_t time; /* seconds since 1970 */
	bool is_copied; /* the project is on another mount than the state */
	uint64_t bytes; /* of the files that are kept for undo */
	struct journal_operation *items;
	size_t count;
};

void journal_encode(const struct journal *journal, struct text *out);
/* Returns false for bytes that journal_encode has not written, or with a path that leads out. */
bool journal_decode(struct arena *arena, const char *bytes, size_t length, struct journal *journal);

/* A list of identities, one for each operation. */
struct journal_states {
	struct copy_identity *items;
	size_t count;
};
void journal_encode_states(const struct journal_states *states, struct text *out);
bool journal_decode_states(struct arena *arena, const char *bytes, size_t length, struct journal_states *states);

/* True for a relative path without empty, `.` and `..` components. */
bool journal_path_is_safe(const char *path);

#endif
