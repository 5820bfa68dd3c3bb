/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), for names and texts where an attacker must not find a collision: state
 * directories, trusted policies. */
#ifndef BERM_COMMON_BASE_SHA256_H
#define BERM_COMMON_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX = 64 };

struct sha256 {
	uint32_t state[8];
	uint64_t length; /* in bytes */
	unsigned char block[64];
};

void sha256_start(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *bytes, size_t length);
/* Writes the hash in lower-case hexadecimal with a NUL. */
void sha256_finish_hex(struct sha256 *hash, char hex[SHA256_HEX + 1]);

#endif
