/* SPDX-License-Identifier: Apache-2.0 */
/* Places launcher and init on different CPUs. The scheduler often leaves a new process on its
 * parent's CPU and balances after milliseconds, which is longer than a launch takes. Used on an
 * idle machine only; on a busy one the scheduler decides. */
#ifndef BERM_LINUX_CPU_PLACEMENT_H
#define BERM_LINUX_CPU_PLACEMENT_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

struct cpu_placement {
	bool is_separated; /* otherwise there is nothing to restore */
	cpu_set_t allowed; /* the child's CPUs before */
};

/* Returns the number of CPUs that this process may use, at least 1. */
unsigned cpu_placement_count(void);
/* True if the machine is idle apart from this process and the child that it has just forked. */
bool cpu_placement_is_idle(void);
/* Excludes this process's current CPU from those of the child. Best effort. */
void cpu_placement_separate(struct cpu_placement *placement, pid_t child);
/* Gives the child all of its CPUs again. */
void cpu_placement_restore(const struct cpu_placement *placement, pid_t child);

#endif
