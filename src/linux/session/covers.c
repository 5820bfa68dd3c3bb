/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the results of a newer scan with the sandbox. Names that appeared are covered late. A
 * change that needs another kind of mount, a pin that is no part of a new cover or a writable part
 * of a locked directory, makes the session outdated for this command. Pure. */
#include <stdlib.h>
#include <string.h>

#include "linux/session/internal.h"

static int compare(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void sort(struct path_set *set)
{
	if (set->count > 0)
		qsort(set->items, set->count, sizeof *set->items, compare);
}

static bool has(const struct path_set *set, const char *path)
{
	return set->count > 0 && bsearch(&path, set->items, set->count, sizeof *set->items, compare);
}

static void add(struct arena *arena, struct path_set *set, const struct plan_matches *matches)
{
	for (size_t i = 0; i < matches->count; i++)
		*arena_push(arena, set) = matches->items[i].path;
}

void covers_begin(struct covers *covers, const struct plan *plan)
{
	add(plan->arena, &covers->masked, &plan->scan->masked);
	add(plan->arena, &covers->locked, &plan->scan->locked);
	add(plan->arena, &covers->pinned, &plan->scan->pinned);
	add(plan->arena, &covers->opened, &plan->scan->opened);
	sort(&covers->masked);
	sort(&covers->locked);
	sort(&covers->pinned);
	sort(&covers->opened);
}

static int list_masks(const struct covers *covers, const struct plan_matches *matches, struct arena *arena,
		      struct new_covers *added, struct error *err)
{
	for (size_t i = 0; i < matches->count; i++) {
		const char *path = matches->items[i].path;
		if (has(&covers->masked, path))
			continue;
		if (has(&covers->locked, path))
			return error_set(err, "%s was readable when the session began", path);
		*arena_push(arena, added) = (struct cover){ path, true };
	}
	return 0;
}

static void list_locks(const struct covers *covers, const struct plan_matches *matches, struct arena *arena,
		       struct new_covers *added)
{
	for (size_t i = 0; i < matches->count; i++)
		if (!has(&covers->locked, matches->items[i].path) && !has(&covers->masked, matches->items[i].path))
			*arena_push(arena, added) = (struct cover){ matches->items[i].path, false };
}

static bool is_above(const struct path_set *set, const char *path)
{
	for (size_t i = 0; i < set->count; i++)
		if (path_is_within(set->items[i], path))
			return true;
	return false;
}

/* The watcher pins the directories above everything that it covers late. */
static bool is_pinned_late(const struct covers *covers, const struct new_covers *added, const char *path)
{
	for (size_t i = 0; i < added->count; i++)
		if (path_is_within(added->items[i].path, path))
			return true;
	return is_above(&covers->masked, path) || is_above(&covers->locked, path);
}

int covers_compare(const struct covers *covers, const struct scan_results *now, struct arena *arena, struct new_covers *added,
		   struct error *err)
{
	*added = (struct new_covers){ 0 };
	if (list_masks(covers, &now->masked, arena, added, err) < 0)
		return -1;
	list_locks(covers, &now->locked, arena, added);
	for (size_t i = 0; i < now->pinned.count; i++) {
		const struct plan_match *pin = &now->pinned.items[i];
		if (!has(&covers->pinned, pin->path) &&
		    (pin->type != FILE_DIRECTORY || !is_pinned_late(covers, added, pin->path)))
			return error_set(err, "%s appeared since the session began, and must be held in its place", pin->path);
	}
	for (size_t i = 0; i < now->opened.count; i++)
		if (!has(&covers->opened, now->opened.items[i].path))
			return error_set(err, "%s appeared since the session began in a protected directory",
					 now->opened.items[i].path);
	return 0;
}

void covers_add(struct covers *covers, struct arena *arena, const struct new_covers *added)
{
	for (size_t i = 0; i < added->count; i++) {
		struct path_set *set = added->items[i].is_mask ? &covers->masked : &covers->locked;
		if (has(set, added->items[i].path))
			continue;
		*arena_push(arena, set) = arena_copy(arena, added->items[i].path);
		sort(set);
	}
}
