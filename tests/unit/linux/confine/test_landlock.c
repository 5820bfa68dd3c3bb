/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rights by ABI; test_landlock_live.c tests the kernel. */
#include "greatest.h"
#include "linux/confine/landlock.h"

TEST every_abi_handles_what_it_knows(void)
{
	static const struct {
		int abi;
		uint64_t filesystem, known_network, network, scoped;
		bool is_complete;
	} rows[] = {
		{ -1, 0, 0, 0, 0, false },	  { 0, 0, 0, 0, 0, false },	    { 1, 0x1fff, 0, 0, 0, false },
		{ 2, 0x3fff, 0, 0, 0, false },	  { 3, 0x7fff, 0, 0, 0, false },    { 4, 0x7fff, 3, 3, 0, false },
		{ 5, 0xffff, 3, 3, 0, false },	  { 6, 0xffff, 3, 3, 3, false },    { 7, 0xffff, 3, 3, 3, false },
		{ 8, 0xffff, 3, 3, 3, false },	  { 9, 0x1ffff, 3, 3, 3, true },    { 10, 0x1ffff, 0xf, 3, 3, true },
		{ 11, 0x1ffff, 0xf, 3, 3, true }, { 12, 0x1ffff, 0xf, 3, 3, true },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct landlock_handled known = landlock_known_at(rows[i].abi);
		struct landlock_handled with = landlock_handled_at(rows[i].abi, true);
		struct landlock_handled without = landlock_handled_at(rows[i].abi, false);

		ASSERT_EQ(rows[i].filesystem, known.filesystem);
		ASSERT_EQ(rows[i].known_network, known.network);
		ASSERT_EQ(rows[i].scoped, known.scoped);
		ASSERT_EQ(rows[i].filesystem, with.filesystem);
		ASSERT_EQ(rows[i].network, with.network);
		ASSERT_EQ(rows[i].scoped, with.scoped);
		ASSERT_EQ(rows[i].filesystem, without.filesystem);
		ASSERT_EQ(0u, without.network);
		ASSERT_EQ(rows[i].scoped, without.scoped);
		ASSERT_EQ(rows[i].is_complete, landlock_describe(rows[i].abi)[0] == '\0');
	}
	PASS();
}

TEST nothing_is_claimed_without_landlock(void)
{
	struct plan plan = { 0 };
	struct error err = { 0 };

	ASSERT_EQ(-1, landlock_apply(&plan, NULL, 0, 0, &err));
	ASSERT(error_is_set(&err));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(every_abi_handles_what_it_knows);
	RUN_TEST(nothing_is_claimed_without_landlock);
	GREATEST_MAIN_END();
}
