/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes of one launch, on two processors. The scheduler often leaves a new process on its parent's, and evens out in milliseconds, which
 * is longer than a launch lasts. Only on an otherwise idle machine is it known better here; on a busy one it is left alone. */
#ifndef BERM_LINUX_PROCESSORS_H
#define BERM_LINUX_PROCESSORS_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

struct processors {
	bool has_idle; /* another one is idle; else nothing is ever moved */
	cpu_set_t allowed;
};

/* Those that this process may use. */
void processors_read(struct processors *processors);
/* The parent: its child, just forked, is not to wait for this processor. */
void processors_send_away(const struct processors *processors, pid_t child);
/* The child: may use all again. Once the parent's processors_send_away is known to have happened that is final. */
void processors_free(const struct processors *processors);

#endif
