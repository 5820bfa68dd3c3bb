/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "linux/repair/internal.h"

void known_fill(struct known *known, const struct plan *plan)
{
	const struct plan_matches *masked = &plan->scan->masked, *locked = &plan->scan->locked;
	size_t mask = 0, lock = 0;
	known->items = arena_alloc(plan->arena, (masked->count + locked->count + 1) * sizeof *known->items);
	known->count = 0;
	while (mask < masked->count || lock < locked->count) {
		bool is_mask = lock == locked->count ||
			       (mask < masked->count && strcmp(masked->items[mask].path, locked->items[lock].path) < 0);
		known->items[known->count++] =
			(struct known_path){ is_mask ? masked->items[mask++] : locked->items[lock++], is_mask, false };
	}
}

/* Returns the index of the first path that is not before this one. */
static size_t lower_bound(const struct known *known, const char *path)
{
	size_t low = 0, high = known->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(known->items[middle].match.path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct known_path *known_find(const struct known *known, const char *path)
{
	size_t at = lower_bound(known, path);
	return at < known->count && strcmp(known->items[at].match.path, path) == 0 ? &known->items[at] : NULL;
}

bool known_is_below(const struct known *known, const char *directory)
{
	char start[PATH_MAX + 1];
	size_t length = strlen(directory), at;
	if (length >= PATH_MAX)
		return true;
	memcpy(start, directory, length);
	start[length] = '/';
	start[length + 1] = '\0';
	at = lower_bound(known, start);
	return at < known->count && strncmp(known->items[at].match.path, start, length + 1) == 0;
}

struct known_path *known_add(struct known *known, struct arena *arena, const struct plan_match *match, bool is_mask)
{
	size_t at = lower_bound(known, match->path);
	struct known_path *added;
	(void)arena_push(arena, known);
	added = &known->items[at];
	memmove(added + 1, added, (known->count - 1 - at) * sizeof *added);
	*added = (struct known_path){ *match, is_mask, false };
	added->match.path = arena_copy(arena, match->path);
	return added;
}
