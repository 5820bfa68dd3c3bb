/* SPDX-License-Identifier: Apache-2.0 */
/* Checksum of a cache file, against damage. Detects every change within one 8-byte word, and others
 * almost certainly. No protection against attackers: a process that can write such a file needs no
 * collision. Words have the machine's byte order. Changing the function requires a new FORMAT in
 * plan_cache.c and tree_index.c. */
#ifndef BERM_COMMON_BASE_CHECKSUM_H
#define BERM_COMMON_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t checksum_of(const char *bytes, size_t length);

#endif
