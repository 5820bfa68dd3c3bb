/* SPDX-License-Identifier: Apache-2.0 */
/* Private directories kept per project and grant class. Every component below the state directory is opened without following
 * symlinks and must belong to this user and be closed to others; anything else is refused, never repaired. */
#ifndef BERM_COMMON_STATE_H
#define BERM_COMMON_STATE_H

#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/plan.h"

/* A directory by name and identity: the backend opens it again in its own mount namespace and compares. */
struct state_place {
	const char *path; /* NULL if the plan needs none */
	dev_t device;
	ino_t inode;
};

struct state {
	struct state_place home, tmp;
};

/* Creates what the plan's home and tmp modes need. Safe when two runs do it at once. */
int state_prepare(const struct plan *plan, struct state *state, struct error *err);

#endif
