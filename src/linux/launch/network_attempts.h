/* SPDX-License-Identifier: Apache-2.0 */
/* Detects network use in a network namespace without routes, by the kernel's counters. */
#ifndef BERM_LINUX_LAUNCH_NETWORK_ATTEMPTS_H
#define BERM_LINUX_LAUNCH_NETWORK_ATTEMPTS_H

#include <stdbool.h>

/* True if the counters of the caller's network namespace show an attempt. False if they cannot be
 * read. */
bool network_attempts_seen(void);
/* Returns how many attempts they show, for a namespace that several commands share. */
unsigned long long network_attempts_total(void);
/* The same for a text in the format of /proc/net/snmp. */
unsigned long long network_attempts_counted(const char *counters);

#endif
