/* SPDX-License-Identifier: Apache-2.0 */
/* The directories in which a program of the host looks for names that it obeys: every write grant,
 * every project that the user is known to work in, every directory from which a protected name is
 * found now, and git directories. An absent name is refused in these, by the guard. Only lists
 * them. */
#include "common/scan/internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/plan/planting.h"

static void add(struct scan *scan, const char *path, enum place_kind kind, const struct rule *rule)
{
	struct plan_place *place = arena_push(scan->plan->arena, &scan->results->places);
	*place = (struct plan_place){ .path = path, .kind = kind, .rule = rule };
}

/* Returns the length of the directory from which a host finds the path by one of the patterns; 0 if
 * none of them looks in more than one directory. */
static size_t root_of(const struct scan *scan, const struct plan_match *match)
{
	const struct plan *plan = scan->plan;
	size_t length = strlen(match->path);
	for (size_t i = 0; i < plan->protect.count; i++) {
		const struct plan_pattern *item = &plan->protect.items[i];
		if (!item->pattern.is_anywhere || !pattern_matches(&item->pattern, match->path, true, scan->case_fold))
			continue;
		for (size_t at = length; at-- > 1;)
			if (match->path[at] == '/' &&
			    planting_matches_from(&item->pattern, match->path, at, true, scan->case_fold))
				return at;
	}
	return 0;
}

static void add_places_of(struct scan *scan, const struct plan_match *match)
{
	struct arena *arena = scan->plan->arena;
	size_t parent = (size_t)(strrchr(match->path, '/') - match->path);
	size_t root = match->rule == &rule_git_pointer ? parent : root_of(scan, match);
	if (root > 0)
		add(scan, arena_copy_n(arena, match->path, root), PLACE_ROOT, match->rule);
}

/* A worktree's own directory is left to the patterns: git makes its pointers again. */
static void add_git_directory(struct scan *scan, const struct plan_git_directory *directory)
{
	static const char dot_git[] = "/.git";
	size_t length = strlen(directory->path);
	if (directory->is_born) {
		add(scan, directory->path, PLACE_BORN, NULL);
		return;
	}
	if (directory->kind != GIT_WORKTREE)
		add(scan, directory->path, PLACE_GIT, NULL);
	if (length > sizeof dot_git && strcmp(directory->path + length - (sizeof dot_git - 1), dot_git) == 0)
		add(scan, arena_copy_n(scan->plan->arena, directory->path, length - (sizeof dot_git - 1)), PLACE_ROOT, NULL);
}

/* A linked worktree or a submodule: git removes and makes the pointer again. */
static bool has_pointer(const struct scan *scan, const char *path)
{
	const struct filesystem *fs = scan->plan->context.fs;
	struct file_info info;
	return fs->inspect(fs, path_join(scan->plan->arena, path, ".git"), &info) == 0 && info.type == FILE_REGULAR;
}

static int compare(const void *left, const void *right)
{
	const struct plan_place *a = left, *b = right;
	int order = strcmp(a->path, b->path);
	return order ? order : (int)a->kind - (int)b->kind;
}

static void add_projects(struct scan *scan)
{
	const struct plan *plan = scan->plan;
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE && plan->grants.items[i].type == FILE_DIRECTORY)
			add(scan, plan->grants.items[i].path, PLACE_ROOT, NULL);
	/* Also an absent one: a command could make it again, with a policy that is trusted. */
	for (size_t i = 0; i < plan->projects.count; i++)
		add(scan, plan->projects.items[i].path, PLACE_ROOT, NULL);
}

void scan_list_places(struct scan *scan)
{
	struct plan_places *places = &scan->results->places;
	const struct plan_matches *locked = &scan->results->locked;
	size_t kept = 0;
	add_projects(scan);
	for (size_t i = 0; i < locked->count; i++)
		add_places_of(scan, &locked->items[i]);
	for (size_t i = 0; i < scan->results->git_directories.count; i++)
		add_git_directory(scan, &scan->results->git_directories.items[i]);
	for (size_t i = 0; i < scan->protected_links.count; i++)
		add_places_of(scan, &scan->protected_links.items[i]);
	if (places->count > 0)
		qsort(places->items, places->count, sizeof *places->items, compare);
	for (size_t i = 0; i < places->count; i++)
		if (kept == 0 || places->items[kept - 1].kind != places->items[i].kind ||
		    strcmp(places->items[kept - 1].path, places->items[i].path) != 0)
			places->items[kept++] = places->items[i];
	places->count = kept;
	for (size_t i = 0; i < kept; i++)
		if (places->items[i].kind == PLACE_ROOT && has_pointer(scan, places->items[i].path))
			places->items[i].kind = PLACE_POINTER;
}
