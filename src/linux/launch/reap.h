/* SPDX-License-Identifier: Apache-2.0 */
/* Ends processes where no pid namespace does it; finds children of others. */
#ifndef BERM_LINUX_LAUNCH_REAP_H
#define BERM_LINUX_LAUNCH_REAP_H

#include <stdbool.h>
#include <sys/types.h>

/* Makes this process the parent of all that is left behind below it. -1 with errno. */
int sweep_adopt(void);
/* Does Landlock keep this process's signals away from `outside`, a process of the same user? What is true once stays true. */
bool sweep_is_scoped(pid_t outside);
/* Ends every other process that this one may signal, at one stroke: a process cannot fork its way out, because the kernel sends the
 * signal to all under the lock that a fork needs. Only for who is scoped: anybody else would end the user's session. */
void sweep_scope(void);
/* SIGCONT to the children of this process. One that has just ended may have left its number to somebody else, to whom it means as little. */
void sweep_continue(pid_t parent);
/* Ends the children, and what becomes a child by that, until there are none (true) or `patience_ms` are over. */
bool sweep_children(int patience_ms);

#endif
