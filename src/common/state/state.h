/* SPDX-License-Identifier: Apache-2.0 */
/* Private directories per project and grant class in ~/.local/state/berm. Opens every component
 * without following symlinks; each must belong to this user and be writable by no other. Refuses
 * anything else and never repairs it. */
#ifndef BERM_COMMON_STATE_STATE_H
#define BERM_COMMON_STATE_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/error.h"
#include "common/plan/plan.h"

/* A directory's name and identity. The backend opens it again in its own mount namespace and
 * compares. */
struct state_place {
	const char *path; /* NULL if the plan needs none */
	dev_t device;
	ino_t inode;
};

struct state {
	struct state_place home, tmp;
	/* Fd of the class directory with a shared lock, which `berm state reset` respects; -1:
	 * none. */
	int lock;
};

/* Creates the directories that the plan's home and tmp modes need. Without mounts writes the
 * documents, too. Concurrent runs and resets are safe. The caller closes state->lock. */
int state_prepare(const struct plan *plan, const struct plan_documents *documents, struct state *state, struct error *err);

/* Opens and checks the state directory; with is_creating creates it if absent, otherwise
 * err->number is ENOENT. Returns an fd that the caller closes, or -1. */
int state_open(struct arena *arena, const char *path, bool is_creating, struct error *err);
/* The same for a directory below an open one. `shown` is its path for messages. */
int state_enter(int parent, const char *name, const char *shown, bool is_creating, struct error *err);
/* Locks an open class directory, shared or exclusive, without waiting. Returns 0, 1 if another
 * process holds the lock, or -1 with errno. */
int state_lock(int directory, bool is_shared);
/* True if a run or a reset holds the lock. */
bool state_is_in_use(int directory);

/* Writes the project's path into its state directory, for lists, because that directory's name is
 * only a hash. Best effort: a run does not depend on it. */
void state_remember_project(int directory, const char *project);

/* True if the caller's limit on file sizes (ulimit -f) allows a file of this size. Beyond the limit
 * a write raises SIGXFSZ, which would kill berm or be forwarded to the command. */
bool state_may_write(size_t size);

/* Names: the directory of all projects; in each the file with the project's path, the directory of
 * its copies, and that of what `berm undo` needs. */
extern const char state_projects[];
extern const char state_path_file[];
extern const char state_copies[];
extern const char state_undo[];

#endif
