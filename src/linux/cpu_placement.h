/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes of one launch, on two processors. The scheduler often leaves a new process on its parent's, and evens out in milliseconds, which
 * is longer than a launch lasts. Only on an otherwise idle machine is it known better here; on a busy one it is left alone. */
#ifndef BERM_LINUX_CPU_PLACEMENT_H
#define BERM_LINUX_CPU_PLACEMENT_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

struct processors {
	bool has_parted; /* else there is nothing to undo */
	cpu_set_t allowed;
};

/* That this process may use; at least 1. */
unsigned processors_count(void);
/* Does nobody else run but this process and the child that it has just forked? */
bool processors_are_idle(void);
/* The child is not to wait for this process's processor. */
void processors_part(struct processors *processors, pid_t child);
/* It may use all again. */
void processors_join(const struct processors *processors, pid_t child);

#endif
