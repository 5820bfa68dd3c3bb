/* SPDX-License-Identifier: Apache-2.0 */
/* Ends and reaps processes without a pid namespace; signals the children of another process. */
#ifndef BERM_LINUX_LAUNCH_REAP_H
#define BERM_LINUX_LAUNCH_REAP_H

#include <stdbool.h>
#include <sys/types.h>

/* Makes this process a subreaper: the parent of orphans below it. -1 with errno. */
int reap_adopt(void);
/* True if Landlock blocks this process's signals to `outside`, a process of the same user. Landlock
 * domains only grow stricter, so the answer stays true. */
bool reap_is_scoped(pid_t outside);
/* Kills every other process that this one may signal, with one kill(). Forking does not escape it:
 * the kernel sends the signal to all under the lock that a fork needs. Only if reap_is_scoped():
 * otherwise it would kill the user's session. */
void reap_scope(void);
/* Sends SIGCONT to the children of `parent`. A child's pid may have been reused; SIGCONT is
 * harmless then too. */
void reap_continue(pid_t parent);
/* Kills and reaps the children, and the orphans that become children, until there are none. False
 * if `timeout_ms` has passed. */
bool reap_children(int timeout_ms);

#endif
