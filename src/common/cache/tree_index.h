/* SPDX-License-Identifier: Apache-2.0 */
/* The index of the directories that an earlier walk visited, so that the next walk only compares
 * each directory. For every directory it has: inode and ctime, the names of the directories in it
 * that were entered, and the entries that the visitor marked with is_kept. A directory with an
 * unchanged ctime has the same names of the same types: it is not listed, and its kept entries are
 * visited again. Nothing here evaluates a name.
 *
 * The encoded index is a private file of the user and belongs to one plan (struct
 * tree_index_owner). tree_index_read trusts no length and no order in it. */
#ifndef BERM_COMMON_CACHE_TREE_INDEX_H
#define BERM_COMMON_CACHE_TREE_INDEX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "common/base/arena.h"
#include "common/fs/filesystem.h"

enum { TREE_INDEX_MAX = 8 << 20, WALK_THREADS_MAX = 4 }; /* bytes; threads of a walk */
#define WALK_UNKNOWN UINT32_MAX /* no record */

/* The plan of an index, by its file: which entries are kept depends on the whole plan. The file of
 * a cached plan is written once and never changed. */
struct tree_index_owner {
	uint64_t device, inode;
	int64_t changed_s, changed_ns;
	uint64_t credentials; /* hash; the credentials decide which directories can be listed */
};

/* The identity and state of a directory. inode 0: unknown, or changed too recently; then it equals
 * no directory. */
struct tree_index_stamp {
	uint64_t inode;
	int64_t changed_s;
	uint32_t changed_ns;
	uint32_t entries; /* kept ones */
	uint32_t files, directories; /* the others */
};

/* A directory in the encoded index. The children of one directory are adjacent, sorted by name, and
 * come after it. */
struct tree_index_record {
	struct tree_index_stamp stamp;
	uint32_t first_child, children;
	/* Offset of its name (a root: its key), then type (a byte) and name of each kept entry. */
	uint32_t text;
	uint32_t zero;
};

/* A directory that was listed in this walk. */
struct tree_index_listing {
	struct tree_index_stamp stamp;
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
			uint32_t known; /* its record, if that is unchanged; else WALK_UNKNOWN */
			struct tree_index_listing *listing; /* or NULL */
		} * items;
		size_t count;
	} children;
};

struct tree_index {
	struct tree_index_owner owner;
	int (*clock)(struct timespec *now); /* the time of day; tests set their own */
	/* A device whose ctimes can be relied on, as the walk found in this process. */
	bool has_good_device;
	uint64_t good_device;
	/* The index that was read; no records if there was none. */
	void *bytes;
	const uint64_t *devices; /* of the roots, which are the first records */
	const struct tree_index_record *records;
	const char *text;
	uint32_t root_count, record_count;
	/* The results of this process's walks. */
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
	/* [record], new listings below an unchanged parent; NULL: none. */
	struct tree_index_listing **replaced;
	/* Directories: not listed; listed; of the listed, those that need no listing next time. */
	atomic_uint_least64_t kept, listed, learnt;
};

/* Initialises an empty index; tree_index_end frees everything. */
void tree_index_start(struct tree_index *index, const struct tree_index_owner *owner);
void tree_index_end(struct tree_index *index);

/* Decodes the bytes, which are from malloc and owned by the index in any case. False if they belong
 * to another owner or are damaged. */
bool tree_index_read(struct tree_index *index, void *bytes, size_t size);
/* Encodes the old index with the results of the walks. Returns bytes that the caller frees, or NULL
 * if they exceed TREE_INDEX_MAX. Called once, after walks that did not fail. */
void *tree_index_write(struct tree_index *index, size_t *size);
/* Sets the checksum of encoded bytes; for the fuzzer, too. */
void tree_index_seal(void *bytes, size_t size);
/* True if the walks found enough new directories. Listing a directory again costs as much as
 * writing a hundred. */
bool tree_index_is_worth_writing(const struct tree_index *index);
/* Drops the results of the walks; the index that was read stays. */
void tree_index_forget(struct tree_index *index);

/* True if, for a walk that started then, no later change can leave a directory with this ctime. */
bool tree_index_is_settled(int64_t started_s, int64_t started_ns, int64_t changed_s, int64_t changed_ns);

/* For the walk. Return the record of a root or a child, or WALK_UNKNOWN if there is none of that
 * name. */
uint32_t tree_index_root(const struct tree_index *index, const char *key, uint64_t device);
uint32_t tree_index_child(const struct tree_index *index, uint32_t parent, const char *name);
/* Adds a root of this walk, by its path or the key of its visitor. */
struct walk_root *tree_index_add_root(struct tree_index *index, const char *key, uint64_t device);
/* Returns an empty listing; the next two add a kept entry and a directory that is entered. */
struct tree_index_listing *tree_index_list(struct arena *arena);
void tree_index_keep(struct arena *arena, struct tree_index_listing *listing, const char *name, enum file_type type);
void tree_index_enter(struct arena *arena, struct tree_index_listing *listing, const char *name);
/* Replaces a record whose directory was listed again while its parent was not. */
void tree_index_replace(struct tree_index *index, uint32_t record, struct tree_index_listing *listing);

/* Returns the name of a record; a root's key. */
static inline const char *tree_index_name(const struct tree_index *index, uint32_t record)
{
	return index->text + index->records[record].text;
}

#endif
