/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for child processes. Signals never interrupt a wait. */
#ifndef BERM_COMMON_BASE_CHILD_H
#define BERM_COMMON_BASE_CHILD_H

#include <sys/types.h>

/* Waits until the child exits. `status` may be NULL. Returns 0, or -1 with errno. */
int child_wait(pid_t pid, int *status);
/* The same for a child that takes long: calls progress_tick() meanwhile. */
int child_wait_long(pid_t pid, int *status);
/* Kills the child and waits for it. Does nothing if `pid` is not positive. */
void child_end(pid_t pid);

#endif
