/* SPDX-License-Identifier: Apache-2.0 */
/* The sum that a stored file carries of its own bytes, so that damage shows: always where only one word of eight bytes differs, else all but
 * certainly. Against damage, not against an attacker: whoever can write such a file needs no collision. Words are taken in this machine's
 * byte order. There are files with these sums: another function needs another FORMAT in plan_store.c and walk_memory.c. */
#ifndef BERM_COMMON_BASE_CHECKSUM_H
#define BERM_COMMON_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t checksum_of(const char *bytes, size_t length);

#endif
