/* SPDX-License-Identifier: Apache-2.0 */
/* Seccomp notification listeners. A process tree can have only one (a second is EBUSY), and an
 * outer sandbox may hold it. */
#ifndef BERM_LINUX_CONFINE_LISTENER_H
#define BERM_LINUX_CONFINE_LISTENER_H

#include <stdbool.h>

/* True if a listener can be installed here. Tries it in a child process. */
bool listener_is_available(void);

#endif
