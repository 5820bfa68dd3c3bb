/* SPDX-License-Identifier: Apache-2.0 */
/* One multiplication for eight bytes, because each launch sums the whole cached plan. Every step is
 * invertible, so that texts that differ in one word never have the same sum. */
#include "common/base/checksum.h"

#include <string.h>

uint64_t checksum_of(const char *bytes, size_t length)
{
	uint64_t sum = 0x9e3779b97f4a7c15u ^ length;
	for (; length >= 8; bytes += 8, length -= 8) {
		uint64_t word;
		memcpy(&word, bytes, 8);
		sum = (sum ^ word) * 0xff51afd7ed558ccdu;
		sum ^= sum >> 29;
	}
	for (; length > 0; bytes++, length--)
		sum = (sum ^ (unsigned char)*bytes) * 0xff51afd7ed558ccdu;
	return sum ^ (sum >> 32);
}
