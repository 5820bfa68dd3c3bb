/* SPDX-License-Identifier: Apache-2.0 */
/* The host file system: a parallel walk with an index. Never follows a symlink, and fails rather
 * than miss an entry.
 *
 * Every directory is opened relative to the root's fd with all symlinks refused: by openat2, or
 * component by component if the kernel or an outer filter has no openat2. A directory that is
 * swapped for a symlink during the walk therefore leads nowhere.
 *
 * With an index (tree_index.h) a directory's inode and ctime are compared first, by a path that may
 * lead through a symlink if an ancestor is swapped at this moment. This race is harmless: only the
 * directory that was listed has that inode and ctime, so the indexed entries are still its entries.
 * Its parent was compared before it, in the same walk. A match at a path that is gone by then fails
 * the launch when it is mounted on, like any other change after the walk. */
#ifndef BERM_LINUX_WALK_INTERNAL_H
#define BERM_LINUX_WALK_INTERNAL_H

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "common/fs/filesystem.h"
#include "common/cache/tree_index.h"

enum { WALK_DIRECTORY_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* A directory to read, by its path from "/". The part after `root_length` is relative to the root's
 * fd. */
struct pending {
	struct pending *next;
	struct walk_child *slot; /* the result goes here if its parent was listed in this walk; or NULL */
	uint32_t record; /* of this path in the index, or WALK_UNKNOWN */
	uint32_t children; /* not 0: visit only this many of its children, from `record` on */
	size_t length;
	char path[];
};

struct walk {
	enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type);
	void *self;
	const struct walk_visitor *visitor; /* in place of visit and self, which are NULL then */
	struct tree_index *index; /* or NULL */
	uint64_t device; /* of the root; directories of other devices are not indexed */
	int64_t started_s, started_ns;
	int root_fd;
	size_t root_length;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct pending *stack;
	size_t waiting, cost, pending_bytes;
	unsigned busy;
	atomic_uint idle; /* threads that wait for work; changed with the lock held */
	bool has_failed;
	struct error *err;
};

/* One thread of a walk. */
struct worker {
	struct walk *walk;
	struct arena *arena; /* for listings; NULL without an index */
	struct helpers *helpers; /* the first thread starts them; NULL in a helper */
	uint64_t kept, listed, learnt; /* added to those of struct tree_index */
	uint64_t directories, files; /* for the visitor's count */
};

/* Returns the path relative to the root's fd; "" for the root. */
static inline const char *walk_relative_path(const struct walk *walk, const char *path)
{
	const char *relative = path + walk->root_length;
	return relative + strspn(relative, "/");
}

/* list.c */
/* Visits the entries of a directory and adds those to descend into to the front of *found. Fails
 * the walk if an entry could be missed. */
void walk_read_directory(struct worker *worker, const struct pending *directory, struct pending **found);
/* Visits one entry. If there is a listing, adds the entry to it if it is kept, else counts it. */
enum walk_step walk_visit_one(struct worker *worker, struct tree_index_listing *listing, const char *directory,
			      const char *name, enum file_type type);
/* Visits a directory that cannot be listed: a second visit, as FILE_UNKNOWN. */
void walk_visit_closed(struct worker *worker, const char *path);
/* True if this errno of an open means that the directory is gone or replaced: nothing to search. */
bool walk_is_gone(int number);
/* Add a child of a directory, and a range of children by their records. False if out of memory. */
bool walk_add_pending(struct pending **list, const char *directory, size_t length, const char *name, uint32_t record);
bool walk_add_children(struct pending **list, const char *directory, size_t length, uint32_t first, uint32_t count);
/* Fails the walk with this errno, unless it has failed already. */
void walk_fail(struct walk *walk, int number, const char *path);

/* indexed.c */
/* Visits the kept entries of a directory that has a record, and of the directories below it.
 * Returns false, with nothing visited, if the directory has changed. */
bool walk_visit_indexed(struct worker *worker, const struct pending *directory, struct pending **found);
/* The same for `count` children of a directory, from record `first` on. */
void walk_visit_indexed_children(struct worker *worker, const struct pending *directory, uint32_t first, uint32_t count,
				 struct pending **found);

/* threads.c */
/* Reads every directory on the walk's stack, in as many threads as pay off. */
void walk_work(struct walk *walk);
/* Puts directories on the walk's stack, for any thread. */
void walk_share(struct walk *walk, struct pending *found);
/* Starts one more thread if there may be more. Does nothing in a helper. */
void walk_start_helper(struct worker *worker);

#endif
