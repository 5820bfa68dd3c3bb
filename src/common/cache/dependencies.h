/* SPDX-License-Identifier: Apache-2.0 */
/* The files a plan was made from. A recording file system wraps the real one and records, for each
 * query, the attributes that decided the answer; an absent file is recorded too. A cached plan is
 * valid while every dependency is unchanged. */
#ifndef BERM_COMMON_CACHE_DEPENDENCIES_H
#define BERM_COMMON_CACHE_DEPENDENCIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "common/base/arena.h"
#include "common/fs/filesystem.h"

struct dependency {
	const char *path;
	bool is_content; /* the content was read: size and ctime are compared too */
	uint32_t mode; /* type and permissions; 0: absent */
	uint32_t uid;
	uint64_t device, inode, size;
	int64_t changed_s, changed_ns; /* ctime: mtime can be forged */
	/* Of an absent file: 1 + the number of an earlier dependency, which proves its absence
	 * while it vouches: an absent directory around it, or its unchanged directory. 0: none. */
	uint32_t prover;
	int64_t listed_s, listed_ns; /* of a directory: the ctime with which it proves that; 0: none */
	bool is_vouching; /* the last comparison found it so; not stored */
};

struct dependencies {
	struct arena *arena;
	struct dependency *items;
	size_t count;
	/* A file changed while the plan was made: the plan is valid, but must not be cached. */
	bool is_unstable;
	struct filesystem recorder;
	const struct filesystem *host;
};

/* Returns the recording file system, which is valid as long as `dependencies`. */
const struct filesystem *dependencies_record(struct dependencies *dependencies, struct arena *arena,
					     const struct filesystem *host);
/* Records a file whose content is about to be read by other means than that file system. */
void dependencies_note_content(struct dependencies *dependencies, const char *path);
/* Ends the recording: sets is_unstable if a dependency has changed, or changed so recently before
 * `now`, the time of day, that its ctime cannot show another change. */
void dependencies_settle(struct dependencies *dependencies, const struct timespec *now);
/* Returns the first path that has changed, or NULL if all are unchanged. */
const char *dependencies_broken(struct dependency *items, size_t count);

#endif
