/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what a sandbox around this process holds for a plan. Asks the kernel, and believes a
 * document only on a mount that no command can have made. Environment variables prove nothing. */
#ifndef BERM_LINUX_PROBE_OUTER_H
#define BERM_LINUX_PROBE_OUTER_H

#include "common/plan/held.h"
#include "common/plan/plan.h"

/* True if the outer sandbox (berm, bubblewrap) holds the guarantee for this path by mounts that
 * this process cannot change: a protected file is read-only, a secret one is unreadable. */
bool outer_holds(const struct plan *plan, const char *path, bool is_secret);
/* Reads a document of the berm around this process: a name in INSIDE_DIRECTORY. Returns 1 with the
 * text, 0 if there is none, -1 with errno. *directory, if not NULL, gets the directory, to be
 * closed. */
int outer_document(struct arena *arena, const char *name, int *directory, const char **text);
/* Fills `held` by the document of a berm around this process; without one nothing is held. */
void outer_read(const struct plan *plan, struct held *held);

#endif
