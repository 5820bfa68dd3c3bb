/* SPDX-License-Identifier: Apache-2.0 */
/* A fact is one string: its kind, a path, and perhaps a NUL-free detail after a separator that no
 * path of a git or policy file needs. Sorted on the first question. */
#include "common/sweep/internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/fs/path.h"

static const char *fact(struct arena *arena, enum sweep_fact kind, const char *path, const char *detail)
{
	size_t length = strlen(path), rest = detail ? strlen(detail) + 1 : 0;
	char *text = arena_alloc(arena, length + rest + 2);
	text[0] = (char)kind;
	memcpy(text + 1, path, length);
	if (detail) {
		text[length + 1] = FACT_SEPARATOR;
		memcpy(text + length + 2, detail, rest);
	}
	return text;
}

void facts_add(struct arena *arena, struct sweep_facts *facts, enum sweep_fact kind, const char *path, const char *detail)
{
	*(const char **)arena_push(arena, facts) = fact(arena, kind, path, detail);
	facts->is_sorted = false;
}

static int compare(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Drops what is there twice. */
static void sort(struct sweep_facts *facts)
{
	size_t kept = 0;
	if (facts->is_sorted)
		return;
	if (facts->count > 0)
		qsort(facts->items, facts->count, sizeof *facts->items, compare);
	for (size_t i = 0; i < facts->count; i++)
		if (kept == 0 || strcmp(facts->items[kept - 1], facts->items[i]) != 0)
			facts->items[kept++] = facts->items[i];
	facts->count = kept;
	facts->is_sorted = true;
}

/* Returns the first fact that is not before this one. */
static size_t lower_bound(const struct sweep_facts *facts, const char *wanted)
{
	size_t low = 0, high = facts->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(facts->items[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool facts_have(struct arena *arena, struct sweep_facts *facts, enum sweep_fact kind, const char *path, const char *detail)
{
	const char *wanted = fact(arena, kind, path, detail);
	size_t at;
	sort(facts);
	at = lower_bound(facts, wanted);
	return at < facts->count && strcmp(facts->items[at], wanted) == 0;
}

bool facts_was_present(struct arena *arena, struct sweep_facts *facts, const char *path)
{
	if (facts_have(arena, facts, FACT_PRESENT, path, NULL))
		return true;
	for (;; path = path_parent(arena, path)) {
		if (facts_have(arena, facts, FACT_OPENED, path, NULL))
			return false;
		if (facts_have(arena, facts, FACT_LOCKED, path, NULL))
			return true;
		if (strcmp(path, "/") == 0)
			return false;
	}
}

bool facts_have_place(const struct sweep_facts *facts, const char *path)
{
	for (size_t i = 0; i < facts->count; i++)
		if (facts->items[i][0] == FACT_PLACE && path_is_within(path, facts->items[i] + 1))
			return true;
	return false;
}

const char *facts_find(struct arena *arena, struct sweep_facts *facts, enum sweep_fact kind, const char *path)
{
	const char *wanted = fact(arena, kind, path, "");
	size_t at;
	sort(facts);
	at = lower_bound(facts, wanted);
	return at < facts->count && text_starts_with(facts->items[at], wanted) ? facts->items[at] + strlen(wanted) : NULL;
}

char *facts_encode(struct arena *arena, struct sweep_facts *facts, size_t *length)
{
	size_t total = 0;
	char *bytes, *at;
	sort(facts);
	for (size_t i = 0; i < facts->count; i++)
		total += strlen(facts->items[i]) + 1;
	at = bytes = arena_alloc(arena, total + 1);
	for (size_t i = 0; i < facts->count; i++) {
		size_t size = strlen(facts->items[i]) + 1;
		memcpy(at, facts->items[i], size);
		at += size;
	}
	*length = total;
	return bytes;
}

void facts_decode(struct arena *arena, const char *bytes, size_t length, struct sweep_facts *facts)
{
	*facts = (struct sweep_facts){ 0 };
	for (size_t at = 0; at < length; at += strlen(bytes + at) + 1)
		*(const char **)arena_push(arena, facts) = bytes + at;
}
