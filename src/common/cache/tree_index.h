/* SPDX-License-Identifier: Apache-2.0 */
/* What an earlier walk found, so that the next one need only look whether each directory is still the same. For every directory:
 * its inode and ctime, the names of the directories in it that were entered, and the entries that the visitor called remarkable.
 * A directory whose ctime has not changed holds the same names of the same types; it is not listed, and the visitor is told of
 * its remarkable entries again. Nothing here judges a name.
 *
 * As bytes it is a file of the user's own, bound to one plan (walk_owner). walk_memory_read believes no length and no order in it. */
#ifndef BERM_COMMON_CACHE_TREE_INDEX_H
#define BERM_COMMON_CACHE_TREE_INDEX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/fs/filesystem.h"

enum { WALK_MEMORY_MAX = 8 << 20, WALK_THREADS_MAX = 4 };
#define WALK_UNKNOWN UINT32_MAX

/* Which plan it is for: what is remarkable depends on all of it. The file of the stored plan is written once and never changed. */
struct walk_owner {
	uint64_t device, inode;
	int64_t changed_s, changed_ns;
	uint64_t credentials; /* of who walked: which directories can be listed depends on them */
};

/* When a directory was what. inode 0: not known, or too young to tell; then it is the same as nothing. */
struct walk_stamp {
	uint64_t inode;
	int64_t changed_s;
	uint32_t changed_ns;
	uint32_t entries; /* remarkable ones */
	uint32_t files, directories; /* others */
};

/* As it is stored. The children of one directory follow each other, sorted by name; they come after it. */
struct walk_record {
	struct walk_stamp stamp;
	uint32_t first_child, children;
	uint32_t text; /* its name; then for each remarkable entry its type (a byte) and name. Of a root: its path */
	uint32_t zero;
};

/* A directory as it was listed just now. */
struct walk_listing {
	struct walk_stamp stamp;
	struct walk_entries {
		struct walk_entry {
			const char *name;
			enum file_type type;
		} * items;
		size_t count;
	} entries;
	struct walk_children {
		struct walk_child {
			const char *name;
			uint32_t known; /* the record that still holds; or WALK_UNKNOWN */
			struct walk_listing *listing; /* or NULL */
		} * items;
		size_t count;
	} children;
};

struct walk_memory {
	struct walk_owner owner;
	/* What was read; no records if there was nothing to read. */
	void *bytes;
	const uint64_t *devices; /* of the roots, which are the first records */
	const struct walk_record *records;
	const char *text;
	uint32_t root_count, record_count;
	/* What was found this time. */
	struct walk_roots {
		struct walk_root {
			const char *path;
			uint64_t device;
			struct walk_child found;
		} * items;
		size_t count;
	} roots;
	struct arena arenas[WALK_THREADS_MAX]; /* one for each thread of a walk */
	pthread_mutex_t lock; /* for `replaced` */
	struct walk_listing **replaced; /* [record], where its parent still holds; NULL: none */
	atomic_uint_least64_t kept, listed,
		learnt; /* directories: not listed; listed; of those, such as need no listing next time */
};

void walk_memory_start(struct walk_memory *memory, const struct walk_owner *owner);
void walk_memory_end(struct walk_memory *memory);

/* Takes the bytes (of malloc) in any case. False if they are for another owner or not what walk_memory_write makes. */
bool walk_memory_read(struct walk_memory *memory, void *bytes, size_t size);
/* All that is known now, of malloc; NULL if there is too much of it. To be called once, after walks that did not fail. */
void *walk_memory_write(struct walk_memory *memory, size_t *size);
/* Puts the right checksum into such bytes. */
void walk_memory_seal(void *bytes, size_t size);
/* Did the walks find enough that is new? Listing a directory again costs as much as writing a hundred. */
bool walk_memory_is_worth_writing(const struct walk_memory *memory);
/* Before another attempt: what was read stays, what was found is forgotten. */
void walk_memory_forget(struct walk_memory *memory);

/* Is a directory that changed then old enough, for a walk that started then, that no later change can leave it with this ctime? */
bool walk_memory_is_settled(int64_t started_s, int64_t started_ns, int64_t changed_s, int64_t changed_ns);

/* For the walk. Records and children by number; WALK_UNKNOWN if there is none of that name. */
uint32_t walk_memory_root(const struct walk_memory *memory, const char *path, uint64_t device);
uint32_t walk_memory_child(const struct walk_memory *memory, uint32_t parent, const char *name);
struct walk_root *walk_memory_add_root(struct walk_memory *memory, const char *path, uint64_t device);
struct walk_listing *walk_memory_list(struct arena *arena);
void walk_memory_remark(struct arena *arena, struct walk_listing *listing, const char *name, enum file_type type);
void walk_memory_enter(struct arena *arena, struct walk_listing *listing, const char *name);
/* The record's directory was listed again; its parent was not. */
void walk_memory_replace(struct walk_memory *memory, uint32_t record, struct walk_listing *listing);

static inline const char *walk_memory_name(const struct walk_memory *memory, uint32_t record)
{
	return memory->text + memory->records[record].text;
}

#endif
