/* SPDX-License-Identifier: Apache-2.0 */
/* Whether something in a network namespace without a way out looked for one: the kernel counts packets that had no route. */
#ifndef BERM_LINUX_LAUNCH_NETWORK_ATTEMPTS_H
#define BERM_LINUX_LAUNCH_NETWORK_ATTEMPTS_H

#include <stdbool.h>

/* In the namespace of the caller, who sees /proc. What cannot be read says no. */
bool sought_network(void);
/* The same of what /proc/net/snmp says. */
bool sought_in(const char *counters);

#endif
