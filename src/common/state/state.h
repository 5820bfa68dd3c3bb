/* SPDX-License-Identifier: Apache-2.0 */
/* Private directories kept per project and grant class. Every component below the state directory is opened without following
 * symlinks and must belong to this user and be closed to others; anything else is refused, never repaired. */
#ifndef BERM_COMMON_STATE_STATE_H
#define BERM_COMMON_STATE_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/error.h"
#include "common/plan/plan.h"

/* A directory by name and identity: the backend opens it again in its own mount namespace and compares. */
struct state_place {
	const char *path; /* NULL if the plan needs none */
	dev_t device;
	ino_t inode;
};

struct state {
	struct state_place home, tmp;
	int lock; /* the class directory under a shared lock, so that `berm state reset` lets a run be; -1 if there is none */
};

/* Creates what the plan's home and tmp modes need. Safe when two runs do it at once, and while another berm resets it. */
int state_prepare(const struct plan *plan, struct state *state, struct error *err);

/* The state directory itself, opened and judged; with is_creating it is made if it is absent. ENOENT in err->number else. */
int state_open(struct arena *arena, const char *path, bool is_creating, struct error *err);
/* One directory below an open one, judged in the same way; `shown` is its path for messages. */
int state_enter(int parent, const char *name, const char *shown, bool is_creating, struct error *err);
/* Locks an open class directory, shared or exclusive, without waiting. 0; 1 if somebody else holds it; -1 with errno. */
int state_lock(int directory, bool is_shared);
/* Does a run (or a reset) hold it now? */
bool state_is_in_use(int directory);

/* Does the caller's limit on file sizes (ulimit -f) allow so much? Beyond it a write would end berm by a signal, or be taken for one that is
 * meant for the command. */
bool state_may_write(size_t size);

/* The file in a project's directory that says which project it is, and the directory that holds all projects. */
extern const char state_projects[];
extern const char state_path_file[];

#endif
