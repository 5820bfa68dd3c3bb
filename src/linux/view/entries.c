/* SPDX-License-Identifier: Apache-2.0 */
/* The mounts of the view as one sorted list. Makes no system call. */
#include "linux/view/internal.h"

#include <stdlib.h>
#include <string.h>

static const char tmp_path[] = "/tmp";

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

void view_list(const struct plan *plan, const struct state *state, struct view_entries *entries)
{
	size_t capacity = plan->grants.count + plan->sockets.count + 2;
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
}

const struct view_entry *view_around(const struct view_entries *entries, const char *path, size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (path_is_within(path, entries->items[i].path))
			return &entries->items[i];
	return NULL;
}
