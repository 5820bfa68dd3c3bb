/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed once. Everything a policy or a plan points to lives in one arena. Allocation failure aborts the
 * process with exit 125 through arena_out_of_memory: nothing has run yet at any point where an arena is used, and there is no
 * sensible way on without memory. */
#ifndef BERM_COMMON_BASE_ARENA_H
#define BERM_COMMON_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks;
};

void *arena_alloc(struct arena *arena, size_t size); /* zeroed, aligned for any type */
void *arena_grow(struct arena *arena, const void *old, size_t old_size, size_t new_size); /* copies; the old one stays */
char *arena_copy(struct arena *arena, const char *text);
char *arena_copy_n(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *arena);
/* From here on allocations come from this memory of the caller's, which is zeroed and page-aligned, until it is full. It has to live until
 * arena_free. */
void arena_borrow(struct arena *arena, void *memory, size_t size);
/* No more of it is used. True if it was enough: all that was allocated in between lies in it. */
bool arena_give_back(struct arena *arena);
_Noreturn void arena_out_of_memory(void);

/* Appends one zeroed element to a { T *items; size_t count; } vector of the arena and returns its address. */
#define arena_push(arena, vector)                                                                                              \
	((vector)->items = arena_push_grow((arena), (vector)->items, (vector)->count, sizeof *(vector)->items),                \
	 &(vector)->items[(vector)->count++])
void *arena_push_grow(struct arena *arena, void *items, size_t count, size_t size);

#endif
