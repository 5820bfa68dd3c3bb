/* SPDX-License-Identifier: Apache-2.0 */
/* Compares version numbers such as the kernel's release, "6.14.0-1-amd64". */
#ifndef BERM_COMMON_BASE_VERSION_H
#define BERM_COMMON_BASE_VERSION_H

#include <stdbool.h>

/* True if the version is major.minor or newer; `if_unreadable` if it does not begin with two
 * numbers. */
bool version_is_at_least(const char *version, unsigned major, unsigned minor, bool if_unreadable);

#endif
