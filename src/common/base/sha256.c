/* SPDX-License-Identifier: Apache-2.0 */
/* A plain implementation of FIPS 180-4. */
#include "common/base/sha256.h"

#include <stdio.h>
#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
	0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
	0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t value, unsigned bits)
{
	return value >> bits | value << (32 - bits);
}

static void expand(const unsigned char block[64], uint32_t words[64])
{
	for (size_t i = 0; i < 16; i++)
		words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
			   block[4 * i + 3];
	for (size_t i = 16; i < 64; i++) {
		uint32_t a = words[i - 15], b = words[i - 2];
		words[i] = words[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + words[i - 7] +
			   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

/* One round. Names change their places from round to round, so that no word is copied: a session's
 * client hashes its whole plan. */
static inline void turn(const uint32_t *words, size_t i, uint32_t *v, unsigned shift)
{
#define AT(index) v[((index)-shift) & 7]
	uint32_t e = AT(4), a = AT(0);
	uint32_t first =
		AT(7) + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & AT(5)) ^ (~e & AT(6))) + constants[i] + words[i];
	AT(3) += first;
	AT(7) = first + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & AT(1)) ^ (a & AT(2)) ^ (AT(1) & AT(2)));
#undef AT
}

static void compress(struct sha256 *hash)
{
	uint32_t words[64], v[8];
	expand(hash->block, words);
	memcpy(v, hash->state, sizeof v);
	for (size_t i = 0; i < 64; i += 8) {
		turn(words, i, v, 0);
		turn(words, i + 1, v, 1);
		turn(words, i + 2, v, 2);
		turn(words, i + 3, v, 3);
		turn(words, i + 4, v, 4);
		turn(words, i + 5, v, 5);
		turn(words, i + 6, v, 6);
		turn(words, i + 7, v, 7);
	}
	for (size_t i = 0; i < 8; i++)
		hash->state[i] += v[i];
}

void sha256_start(struct sha256 *hash)
{
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	memset(hash, 0, sizeof *hash);
	memcpy(hash->state, start, sizeof start);
}

void sha256_add(struct sha256 *hash, const void *bytes, size_t length)
{
	const unsigned char *from = bytes;
	while (length > 0) {
		size_t used = hash->length % sizeof hash->block;
		size_t part = sizeof hash->block - used < length ? sizeof hash->block - used : length;
		memcpy(hash->block + used, from, part);
		hash->length += part;
		from += part;
		length -= part;
		if (used + part == sizeof hash->block)
			compress(hash);
	}
}

void sha256_finish_hex(struct sha256 *hash, char hex[SHA256_HEX + 1])
{
	static const unsigned char padding[64] = { 0x80 };
	uint64_t bits = hash->length * 8;
	unsigned char length[8];
	for (size_t i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(hash, padding, 1 + (119 - hash->length % 64) % 64);
	sha256_add(hash, length, sizeof length);
	for (size_t i = 0; i < 8; i++)
		snprintf(hex + 8 * i, 9, "%08x", hash->state[i]);
}
