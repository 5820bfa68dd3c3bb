/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the walk of filesystem_linux.c: what its threads share, and what the directories tell them.
 *
 * Every directory is opened relative to the root's descriptor with all symlinks refused (openat2, or component by component where the
 * kernel or an outer filter has no openat2), so that a directory swapped for a symlink meanwhile leads nowhere.
 *
 * With a memory (walk_memory.h) a directory is first asked for its inode and ctime, by a path that may lead through a symlink if
 * somebody swaps an ancestor at this moment. That is no harm: only the very directory that was listed has that inode and ctime, so
 * that what is told of it is true of it; its parent was looked at before it, in this walk; and whatever is found at a path that
 * is not there any more ends the launch where it is mounted on, as after any other change since the walk. */
#ifndef BERM_LINUX_WALK_INTERNAL_H
#define BERM_LINUX_WALK_INTERNAL_H

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "common/fs/filesystem.h"
#include "common/cache/tree_index.h"

enum { WALK_DIRECTORY_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* A directory that waits to be read, by its path from "/"; the part after `root_length` is relative to the root's descriptor. */
struct pending {
	struct pending *next;
	struct walk_child *slot; /* where its parent, listed in this walk, is told what became of it; or NULL */
	uint32_t known; /* the memory's record of this path, or WALK_UNKNOWN */
	uint32_t children; /* not 0: the directory was told of, and so many of its children, from record `known` on, were not */
	size_t length;
	char path[];
};

struct walk {
	enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type);
	void *self;
	const struct walk_visitor *visitor; /* in place of visit and self, which are NULL then */
	struct walk_memory *memory;
	uint64_t device; /* of the root; only its directories are known by inode and ctime */
	int64_t started_s, started_ns;
	int root_fd;
	size_t root_length;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct pending *stack;
	size_t waiting, cost, pending_bytes;
	unsigned busy;
	atomic_uint hungry; /* threads that have nothing to do; changed with the lock held */
	bool has_failed;
	struct error *err;
};

/* One thread of it. */
struct worker {
	struct walk *walk;
	struct arena *arena; /* for what is listed; NULL without a memory */
	struct crew *crew; /* of the first thread: the others, which it calls in; else NULL */
	uint64_t kept, listed, learnt;
	uint64_t directories, files; /* for the visitor's count */
};

/* Relative to the root's descriptor; "" for the root. */
static inline const char *walk_relative_path(const struct walk *walk, const char *path)
{
	const char *relative = path + walk->root_length;
	return relative + strspn(relative, "/");
}

/* walk_directory.c */
/* Tells the visitor what the directory holds; what is to be descended into goes to the front of *found. What could hide a name makes the
 * walk fail. */
void walk_read_directory(struct worker *worker, const struct pending *directory, struct pending **found);
/* Tells the visitor of one entry, and the listing (if there is one) what has to be told again. */
enum walk_step walk_visit_one(struct worker *worker, struct walk_listing *listing, const char *directory, const char *name,
			      enum file_type type);
/* Tells the visitor of a directory that may not be listed. */
void walk_visit_closed(struct worker *worker, const char *path);
/* After an open that failed: gone, or something else by now, so that there is nothing to search. */
bool walk_is_gone(int number);
/* A directory's child that waits to be read, and children of one that was told of (struct pending). False: no memory. */
bool walk_add_pending(struct pending **list, const char *directory, size_t length, const char *name, uint32_t known);
bool walk_add_children(struct pending **list, const char *directory, size_t length, uint32_t first, uint32_t count);
void walk_fail(struct walk *walk, int number, const char *path);

/* walk_known.c */
/* Tells of a directory that has a record, and of all that is known below it. False, and nothing told: it is not the same any more. */
bool walk_tell_known(struct worker *worker, const struct pending *directory, struct pending **found);
void walk_tell_children(struct worker *worker, const struct pending *directory, uint32_t first, uint32_t count,
			struct pending **found);

/* walk_threads.c */
/* Reads all that waits in the walk's stack, in as many threads as it is worth. */
void walk_work(struct walk *walk);
/* Hands what is found to whichever thread is free. */
void walk_offer(struct walk *walk, struct pending *found);
/* There is enough to do for one more. */
void walk_call_helper(struct worker *worker);

#endif
