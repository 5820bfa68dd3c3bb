/* SPDX-License-Identifier: Apache-2.0 */
/* The arena: zeroed and aligned memory that never moves, and the exit status without memory. */
#include <greatest.h>

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "common/base/arena.h"
#include "unit/support/scratch.h"

TEST gives_zeroed_aligned_memory(void)
{
	struct arena arena = { 0 };
	for (size_t size = 0; size < 5000; size += 7) {
		unsigned char *memory = arena_alloc(&arena, size);
		ASSERT_EQ(0, (uintptr_t)memory % alignof(max_align_t));
		for (size_t i = 0; i < size; i++)
			ASSERT_EQ(0, memory[i]);
		memset(memory, 0xee, size);
	}
	arena_free(&arena);
	PASS();
}

TEST takes_pieces_larger_than_a_block(void)
{
	struct arena arena = { 0 };
	char *before = arena_copy(&arena, "before");
	char *large = arena_alloc(&arena, 1 << 20);
	char *after = arena_copy(&arena, "after");
	memset(large, 'x', 1 << 20);
	ASSERT_STR_EQ("before", before);
	ASSERT_STR_EQ("after", after);
	arena_free(&arena);
	PASS();
}

TEST keeps_every_pushed_item_in_order(void)
{
	struct arena arena = { 0 };
	struct {
		int *items;
		size_t count;
	} numbers = { 0 };
	for (int i = 0; i < 3000; i++) {
		int *item = arena_push(&arena, &numbers);
		ASSERT_EQ(0, *item);
		*item = i;
	}
	ASSERT_EQ(3000, numbers.count);
	for (int i = 0; i < 3000; i++)
		ASSERT_EQ(i, numbers.items[i]);
	arena_free(&arena);
	PASS();
}

TEST copies_text(void)
{
	struct arena arena = { 0 };
	char text[] = "a\0b";
	char *copy = arena_copy_n(&arena, text, 3);
	ASSERT_MEM_EQ("a\0b\0", copy, 4);
	ASSERT_STR_EQ("", arena_copy(&arena, ""));
	ASSERT_STR_EQ("7 of x", arena_printf(&arena, "%d of %s", 7, "x"));
	ASSERT_EQ(40000, strlen(arena_printf(&arena, "%40000s", "x")));
	char *grown = arena_grow(&arena, "abc", 4, 100);
	ASSERT_STR_EQ("abc", grown);
	ASSERT_EQ(0, grown[99]);
	arena_free(&arena);
	PASS();
}

TEST can_be_used_again_after_free(void)
{
	struct arena arena = { 0 };
	arena_copy(&arena, "x");
	arena_free(&arena);
	ASSERT_EQ(NULL, arena.blocks);
	ASSERT_STR_EQ("y", arena_copy(&arena, "y"));
	arena_free(&arena);
	arena_free(&arena);
	PASS();
}

static int ask_too_much(void *data)
{
	struct arena arena = { 0 };
	arena_alloc(&arena, *(size_t *)data);
	return 0;
}

TEST ends_the_run_as_refused_without_memory(void)
{
	size_t sizes[] = { SIZE_MAX, SIZE_MAX - 8, SIZE_MAX / 2, SIZE_MAX / 4 + 1 };
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		ASSERT_EQ(125, scratch_child(ask_too_much, &sizes[i]));
		ASSERT_STR_EQ("berm: out of memory; nothing was run\n", scratch_errors());
	}
	PASS();
}

static int ask_too_much_after_the_start(void *data)
{
	arena_command_started();
	return ask_too_much(data);
}

TEST does_not_claim_that_nothing_ran_after_the_start(void)
{
	size_t size = SIZE_MAX;
	ASSERT_EQ(123, scratch_child(ask_too_much_after_the_start, &size));
	ASSERT_STR_EQ("berm: out of memory\n", scratch_errors());
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(gives_zeroed_aligned_memory);
	RUN_TEST(takes_pieces_larger_than_a_block);
	RUN_TEST(keeps_every_pushed_item_in_order);
	RUN_TEST(copies_text);
	RUN_TEST(can_be_used_again_after_free);
	RUN_TEST(ends_the_run_as_refused_without_memory);
	RUN_TEST(does_not_claim_that_nothing_ran_after_the_start);
	GREATEST_MAIN_END();
}
