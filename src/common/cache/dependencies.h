/* SPDX-License-Identifier: Apache-2.0 */
/* Everything a plan was made from on the disk. A recording file system stands between the plan and the real one and notes each
 * question with what decided its answer, absences included; a stored plan is good for as long as every note still holds. */
#ifndef BERM_COMMON_CACHE_DEPENDENCIES_H
#define BERM_COMMON_CACHE_DEPENDENCIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/fs/filesystem.h"

struct fact {
	const char *path;
	bool is_content; /* the bytes mattered: size and times count too */
	uint32_t mode; /* type and permissions; 0: absent */
	uint32_t uid;
	uint64_t device, inode, size;
	int64_t changed_s, changed_ns; /* ctime: mtime can be forged */
};

struct facts {
	struct arena *arena;
	struct fact *items;
	size_t count;
	bool is_unstable; /* something changed while it was noted: the plan is right, but must not be stored */
	struct filesystem recorder;
	const struct filesystem *host;
};

/* The recording file system; valid as long as `facts` is. */
const struct filesystem *facts_record(struct facts *facts, struct arena *arena, const struct filesystem *host);
/* A file whose bytes are about to be read by other means than the file system of the plan. */
void facts_note_content(struct facts *facts, const char *path);
/* Looks again at what was read: anything that moved meanwhile, or so recently that its time cannot tell, makes it unstable. */
void facts_settle(struct facts *facts);
/* NULL if all hold, else the first path that does not. */
const char *facts_broken(const struct fact *items, size_t count);

#endif
