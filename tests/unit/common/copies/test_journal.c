/* SPDX-License-Identifier: Apache-2.0 */
/* The journal's bytes: written, read again, damaged. */
#include <greatest.h>

#include <stdlib.h>
#include <string.h>

#include "common/copies/journal.h"

static struct journal_operation operations[] = {
	{ .kind = JOURNAL_REPLACE,
	  .path = "a",
	  .source = 7,
	  .before = { 8, -9, 999999999 },
	  .parent = 2,
	  .before_mode = 0644,
	  .after_mode = 0600 },
	{ .kind = JOURNAL_DELETE, .path = "d/e\n\xff", .before = { 1, 2, 3 }, .is_directory = true, .is_used_again = true },
	{ .kind = JOURNAL_ADD, .path = "d/e\n\xff", .source = UINT64_MAX },
};
static struct journal example = {
	.copy = "default", .time = 1700000000, .is_copied = true, .bytes = 5, .items = operations, .count = 3
};

TEST what_is_written_is_read(void)
{
	struct arena arena = { 0 };
	struct text bytes = { 0 }, again = { 0 };
	struct journal journal;

	journal_encode(&example, &bytes);
	ASSERT(journal_decode(&arena, bytes.data, bytes.length, &journal));
	ASSERT_STR_EQ("default", journal.copy);
	ASSERT_EQ(3, journal.count);
	ASSERT_STR_EQ("d/e\n\xff", journal.items[1].path);
	ASSERT(journal.items[1].is_used_again && journal.items[1].is_directory);
	ASSERT_EQ(-9, journal.items[0].before.seconds);
	journal_encode(&journal, &again);
	ASSERT_EQ(bytes.length, again.length);
	ASSERT_EQ(0, memcmp(bytes.data, again.data, bytes.length));
	text_free(&bytes);
	text_free(&again);
	arena_free(&arena);
	PASS();
}

TEST damage_is_refused(void)
{
	struct arena arena = { 0 };
	struct text bytes = { 0 };
	struct journal journal;

	journal_encode(&example, &bytes);
	for (size_t i = 0; i < bytes.length; i++) {
		ASSERT(!journal_decode(&arena, bytes.data, i, &journal));
		bytes.data[i] ^= 1;
		ASSERT(!journal_decode(&arena, bytes.data, bytes.length, &journal));
		bytes.data[i] ^= 1;
	}
	ASSERT(journal_decode(&arena, bytes.data, bytes.length, &journal));
	text_free(&bytes);
	arena_free(&arena);
	PASS();
}

/* With a correct checksum, too: nothing in the file may lead out of the project. */
TEST paths_that_lead_out_are_refused(void)
{
	static const char *const paths[] = { "", "/etc", "..", "a/../b", "a//b", "a/", "./a", "a/.", "." };
	struct arena arena = { 0 };

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct journal_operation operation = { .kind = JOURNAL_ADD, .path = paths[i] };
		struct journal journal = { .copy = "x", .items = &operation, .count = 1 }, read;
		struct text bytes = { 0 };
		ASSERTm(paths[i], !journal_path_is_safe(paths[i]));
		journal_encode(&journal, &bytes);
		ASSERTm(paths[i], !journal_decode(&arena, bytes.data, bytes.length, &read));
		text_free(&bytes);
	}
	ASSERT(journal_path_is_safe("a/.b/..c/d.."));
	arena_free(&arena);
	PASS();
}

TEST states_are_read_again(void)
{
	struct copy_identity items[] = { { 1, 2, 3 }, { 0 }, { UINT64_MAX, -1, UINT32_MAX } };
	struct journal_states states = { items, 3 }, read;
	struct arena arena = { 0 };
	struct text bytes = { 0 };

	journal_encode_states(&states, &bytes);
	ASSERT(journal_decode_states(&arena, bytes.data, bytes.length, &read));
	ASSERT_EQ(3, read.count);
	ASSERT_EQ(-1, read.items[2].seconds);
	ASSERT(!journal_decode_states(&arena, bytes.data, bytes.length - 1, &read));
	ASSERT(!journal_decode_states(&arena, "", 0, &read));
	text_free(&bytes);
	arena_free(&arena);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(what_is_written_is_read);
	RUN_TEST(damage_is_refused);
	RUN_TEST(paths_that_lead_out_are_refused);
	RUN_TEST(states_are_read_again);
	GREATEST_MAIN_END();
}
