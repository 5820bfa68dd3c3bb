/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of the running program and of this boot, as parts of cache keys: a cached result must
 * not outlive either. */
#ifndef BERM_COMMON_CONTEXT_IDENTITY_H
#define BERM_COMMON_CONTEXT_IDENTITY_H

#include <stdbool.h>

#include "common/base/sha256.h"

/* Adds berm's version and the device, inode, size and ctime of its executable. False if the
 * executable cannot be identified (no /proc, or macOS). */
bool identity_add_program(struct sha256 *hash);
/* Adds the kernel's random id of this boot. False if it cannot be read. */
bool identity_add_boot(struct sha256 *hash);

#endif
