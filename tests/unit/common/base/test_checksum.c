/* SPDX-License-Identifier: Apache-2.0 */
/* The checksum of cache files: known values, and every single flipped bit is detected. */
#include <greatest.h>

#include <string.h>

#include "common/base/checksum.h"

/* Computed from the definition by another program. */
static const struct {
	const char *text;
	size_t length;
	uint64_t sum;
} known[] = {
	{ "", 0, 0x9e3779b9e17d05ac },
	{ "a", 1, 0xed14a55ea39a00ef },
	{ "berm", 4, 0xb9945c1577be53e4 },
	{ "\xff\xff\xff\xff\xff\xff\xff", 7, 0x6f3701911179c964 },
	{ "12345678", 8, 0x4471843a10820cc5 },
	{ "123456789", 9, 0x6216e8ba9abb79ed },
	{ "\0\0\0\0\0\0\0", 8, 0x29003325d8279539 },
	{ "\0\0\0\0\0\0\0\0", 9, 0xf343a5591851ad5b },
	{ "The quick brown fox jumps over the lazy dog", 43, 0xa0aad5674d9a38da },
};

TEST known_answers(void)
{
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		ASSERT_EQ_FMTm(known[i].text, (unsigned long long)known[i].sum,
			       (unsigned long long)checksum_of(known[i].text, known[i].length), "%llx");
	PASS();
}

/* Words need not be aligned. */
TEST any_place(void)
{
	const char *text = known[8].text;
	char bytes[64];
	for (size_t shift = 0; shift < 8; shift++) {
		memcpy(bytes + shift, text, 43);
		ASSERT_EQ(known[8].sum, checksum_of(bytes + shift, 43));
	}
	PASS();
}

/* For all prefixes, so that both words and trailing bytes are covered. */
TEST a_flipped_bit_shows(void)
{
	char bytes[43];
	memcpy(bytes, known[8].text, sizeof bytes);
	for (size_t length = 1; length <= sizeof bytes; length++) {
		uint64_t sum = checksum_of(bytes, length);
		for (size_t bit = 0; bit < 8 * length; bit++) {
			bytes[bit / 8] ^= (char)(1 << bit % 8);
			ASSERT(checksum_of(bytes, length) != sum);
			bytes[bit / 8] ^= (char)(1 << bit % 8);
			/* Control: the original sum again. */
			ASSERT_EQ(sum, checksum_of(bytes, length));
		}
	}
	PASS();
}

/* A file that was truncated or extended, even by zeros, and words that were swapped. */
TEST other_damage_shows(void)
{
	static const char zeros[64], words[] = "1234567887654321", moved[] = "8765432112345678";
	for (size_t length = 1; length <= sizeof zeros; length++)
		for (size_t other = 0; other < length; other++)
			ASSERT(checksum_of(zeros, length) != checksum_of(zeros, other));
	ASSERT(checksum_of(words, 16) != checksum_of(moved, 16));
	PASS();
}

SUITE(checksum_suite)
{
	RUN_TEST(known_answers);
	RUN_TEST(any_place);
	RUN_TEST(a_flipped_bit_shows);
	RUN_TEST(other_damage_shows);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(checksum_suite);
	GREATEST_MAIN_END();
}
