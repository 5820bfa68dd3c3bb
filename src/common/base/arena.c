/* SPDX-License-Identifier: Apache-2.0 */
/* A list of malloc'ed blocks. */
#include "common/base/arena.h"

#include <stdarg.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first block is small, because many arenas are short-lived and hold a line or two. Each
 * further block is twice as large. */
enum { FIRST_BLOCK = 1024, LARGEST_BLOCK = 65536 };

enum {
	EXIT_BEFORE_START = 125, /* berm failed, the command did not run */
	EXIT_AFTER_START = 123, /* berm failed while the command ran */
};

struct arena_block {
	struct arena_block *next;
	size_t used;
	size_t size;
	alignas(max_align_t) unsigned char data[];
};

static bool has_command_started;

void arena_command_started(void)
{
	has_command_started = true;
}

_Noreturn void arena_out_of_memory(void)
{
	static const char refused[] = "berm: out of memory; nothing was run\n", lost[] = "berm: out of memory\n";
	ssize_t ignored = has_command_started ? write(STDERR_FILENO, lost, sizeof lost - 1)
					      : write(STDERR_FILENO, refused, sizeof refused - 1);
	(void)ignored;
	_exit(has_command_started ? EXIT_AFTER_START : EXIT_BEFORE_START);
}

void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t align = alignof(max_align_t);
	struct arena_block *block = arena->blocks;
	void *result;

	if (size > SIZE_MAX / 4)
		arena_out_of_memory();
	size = (size + align - 1) / align * align;
	if (!block || block->size - block->used < size) {
		size_t capacity = block ? 2 * block->size : FIRST_BLOCK;
		if (capacity > LARGEST_BLOCK)
			capacity = LARGEST_BLOCK;
		if (capacity < size)
			capacity = size;
		block = calloc(1, sizeof *block + capacity);
		if (!block)
			arena_out_of_memory();
		block->size = capacity;
		block->next = arena->blocks;
		arena->blocks = block;
	}
	result = block->data + block->used;
	block->used += size;
	return result;
}

void *arena_grow(struct arena *arena, const void *old, size_t old_size, size_t new_size)
{
	void *result = arena_alloc(arena, new_size);
	if (old_size > 0)
		memcpy(result, old, old_size);
	return result;
}

void *arena_push_grow(struct arena *arena, void *items, size_t count, size_t size)
{
	/* The capacity is the next power of two, so that it follows from the count and needs no
	 * field. */
	if (count == 0)
		return arena_alloc(arena, size);
	if ((count & (count - 1)) != 0)
		return items;
	if (count > SIZE_MAX / 4 / size)
		arena_out_of_memory();
	return arena_grow(arena, items, count * size, 2 * count * size);
}

char *arena_copy_n(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);
	memcpy(copy, text, length);
	return copy;
}

char *arena_copy(struct arena *arena, const char *text)
{
	return arena_copy_n(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list arguments, again;
	char *result;
	int length;

	va_start(arguments, format);
	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0)
		arena_out_of_memory();
	result = arena_alloc(arena, (size_t)length + 1);
	vsnprintf(result, (size_t)length + 1, format, again);
	va_end(again);
	return result;
}

void arena_free(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *next = arena->blocks->next;
		free(arena->blocks);
		arena->blocks = next;
	}
}
