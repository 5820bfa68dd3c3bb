/* SPDX-License-Identifier: Apache-2.0 */
/* The mounts of the view as one sorted list. Makes no system call. */
#include "linux/view/internal.h"

#include <stdlib.h>
#include <string.h>

static const char tmp_path[] = "/tmp";

/* Besides names that begin with a dot. */
static const char *const program_state[] = { "go" };

bool view_is_program_state(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof program_state / sizeof program_state[0]; i++)
		if (strlen(program_state[i]) == length && memcmp(program_state[i], name, length) == 0)
			return true;
	return name[0] == '.';
}

static int compare_entries(const void *a, const void *b)
{
	const struct view_entry *left = a, *right = b;
	int order = strcmp(left->path, right->path);
	return order ? order : (int)left->kind - (int)right->kind;
}

bool view_has_grant_at(const struct plan *plan, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	return grant && strcmp(grant->path, path) == 0;
}

/* True if the innermost containing grant already mounts this one with the same rights. */
static bool is_shown_by_parent(const struct plan *plan, size_t index)
{
	const struct plan_grant *grant = &plan->grants.items[index];
	for (size_t i = index; i-- > 0;) {
		const struct plan_grant *parent = &plan->grants.items[i];
		if (!path_is_within(grant->path, parent->path))
			continue;
		if (plan->home != HOME_HOST && path_is_within(plan->context.home, parent->path))
			return false;
		return (parent->kind == GRANT_WRITE) == (grant->kind == GRANT_WRITE);
	}
	return false;
}

/* Returns the directory directly below the home that only leads to this entry, in the arena; NULL
 * if there is none. */
static const char *way_to(const struct plan *plan, const struct view_entries *entries, size_t index)
{
	const struct view_entry *entry = &entries->items[index], *around = view_around(entries, entry->path, index);
	const char *name, *end;
	if (!around || around->kind != VIEW_PRIVATE || strcmp(around->path, plan->context.home) != 0)
		return NULL;
	name = entry->path + strlen(around->path) + 1;
	end = strchr(name, '/');
	if (!end || view_is_program_state(name, (size_t)(end - name)))
		return NULL;
	return arena_copy_n(plan->arena, entry->path, (size_t)(end - entry->path));
}

/* Adds the ways. `items` has room for one per entry, and is sorted before and after. */
static void add_ways(const struct plan *plan, struct view_entries *entries)
{
	size_t count = entries->count;
	const char *last = NULL;
	for (size_t i = 0; i < entries->count; i++) {
		const char *way = way_to(plan, entries, i);
		if (!way || (last && strcmp(last, way) == 0))
			continue;
		last = way; /* all entries of one way follow each other */
		entries->items[count++] =
			(struct view_entry){ .path = way, .kind = VIEW_WAY, .is_directory = true, .tree = -1 };
	}
	if (count == entries->count)
		return;
	entries->count = count;
	qsort(entries->items, count, sizeof *entries->items, compare_entries);
}

void view_list(const struct plan *plan, const struct state *state, struct view_entries *entries)
{
	size_t capacity = 2 * (plan->grants.count + plan->sockets.count + 2);
	struct view_entry *items = arena_alloc(plan->arena, capacity * sizeof *items);
	size_t count = 0;

	if (plan->home != HOME_HOST && !view_has_grant_at(plan, plan->context.home))
		items[count++] = (struct view_entry){
			.path = plan->context.home,
			.kind = VIEW_PRIVATE,
			.is_directory = true,
			.is_writable = true,
			.mode = "700",
			.place = state && state->home.path ? &state->home : NULL,
		};
	if (!view_has_grant_at(plan, tmp_path))
		items[count++] = (struct view_entry){
			.path = tmp_path,
			.kind = VIEW_PRIVATE,
			.is_directory = true,
			.is_writable = true,
			.mode = "1777",
			.place = state && state->tmp.path ? &state->tmp : NULL,
		};
	for (size_t i = 0; i < plan->grants.count; i++)
		if (!is_shown_by_parent(plan, i))
			items[count++] = (struct view_entry){
				.path = plan->grants.items[i].path,
				.kind = VIEW_GRANT,
				.is_directory = plan->grants.items[i].type == FILE_DIRECTORY,
				.is_writable = plan->grants.items[i].kind == GRANT_WRITE,
			};
	for (size_t i = 0; i < plan->sockets.count; i++)
		items[count++] = (struct view_entry){ .path = plan->sockets.items[i].value, .kind = VIEW_SOCKET };
	qsort(items, count, sizeof *items, compare_entries);
	entries->items = items;
	entries->count = count;
	add_ways(plan, entries);
}

const struct view_entry *view_around(const struct view_entries *entries, const char *path, size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (path_is_within(path, entries->items[i].path))
			return &entries->items[i];
	return NULL;
}
