/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed all at once. A policy, a plan and everything they point to are in one arena.
 * Allocation never returns NULL: without memory the process exits through arena_out_of_memory. */
#ifndef BERM_COMMON_BASE_ARENA_H
#define BERM_COMMON_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks;
};

/* Returns zeroed memory, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size);
/* Returns a larger copy; the rest is zeroed. The old memory stays valid. */
void *arena_grow(struct arena *arena, const void *old, size_t old_size, size_t new_size);
/* Each returns a NUL-terminated string in the arena. */
char *arena_copy(struct arena *arena, const char *text);
char *arena_copy_n(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Frees everything. The arena can be used again. */
void arena_free(struct arena *arena);
/* Prints a message and exits: with 125 while no command has started, with 123 afterwards. */
_Noreturn void arena_out_of_memory(void);
/* Called once by the launcher when the command has started: from then on the process must not
 * report that nothing was run. */
void arena_command_started(void);

/* Appends one zeroed element to a { T *items; size_t count; } vector in the arena and returns its
 * address. */
#define arena_push(arena, vector)                                                                                              \
	((vector)->items = arena_push_grow((arena), (vector)->items, (vector)->count, sizeof *(vector)->items),                \
	 &(vector)->items[(vector)->count++])
void *arena_push_grow(struct arena *arena, void *items, size_t count, size_t size);

#endif
