/* SPDX-License-Identifier: Apache-2.0 */
/* The arena: zeroed, aligned, never moving what it gave out, and an honest end when there is no memory. */
#include <greatest.h>

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "common/base/arena.h"
#include "unit/scratch.h"

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

static bool is_in(const void *piece, const char *memory, size_t size)
{
	return (const char *)piece >= memory && (const char *)piece < memory + size;
}

TEST takes_pieces_from_borrowed_memory(void)
{
	enum { SIZE = 8192 };
	struct arena arena = { 0 };
	char *memory = aligned_alloc(4096, SIZE);
	const char *before = arena_copy(&arena, "before");
	ASSERT(memory);
	memset(memory, 0, SIZE);
	arena_borrow(&arena, memory, SIZE);
	for (int i = 0; i < 100; i++)
		ASSERT(is_in(arena_alloc(&arena, 16), memory, SIZE));
	ASSERT(arena_give_back(&arena));
	ASSERT(!is_in(arena_alloc(&arena, 1), memory, SIZE));
	ASSERT_STR_EQ("before", before);
	arena_free(&arena);
	free(memory);
	PASS();
}

TEST tells_when_borrowed_memory_was_not_enough(void)
{
	enum { SIZE = 4096 };
	struct arena arena = { 0 };
	char *memory = aligned_alloc(4096, SIZE);
	ASSERT(memory);
	memset(memory, 0, SIZE);
	arena_borrow(&arena, memory, SIZE);
	ASSERT(is_in(arena_alloc(&arena, SIZE / 2), memory, SIZE));
	ASSERT(!is_in(arena_alloc(&arena, SIZE), memory, SIZE));
	ASSERT(!arena_give_back(&arena));
	arena_free(&arena);
	free(memory);
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
		ASSERT(strstr(scratch_errors(), "out of memory"));
	}
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
	RUN_TEST(takes_pieces_from_borrowed_memory);
	RUN_TEST(tells_when_borrowed_memory_was_not_enough);
	RUN_TEST(ends_the_run_as_refused_without_memory);
	GREATEST_MAIN_END();
}
