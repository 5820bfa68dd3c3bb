/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that must not be renamed or replaced while the scan's lists hold. These are the directories
 * above a hidden, locked or read-only path, up to the root of the writable grant: renaming one
 * would make room for another of that name. They are also the symlinks that lead to a hidden or
 * locked file, without which the next run would not find it, and the project's marker. Only lists
 * them; the view's masks.c pins them. */
#include "common/scan/internal.h"

#include <stdlib.h>
#include <string.h>

struct pins {
	const struct plan *plan;
	struct plan_match *items;
	size_t count;
};

static void add(struct pins *pins, const char *path, enum file_type type, const struct rule *rule)
{
	struct plan_match *pin = arena_push(pins->plan->arena, pins);
	*pin = (struct plan_match){ .path = path, .type = type, .rule = rule };
}

/* Directories that are also above `previous` were pinned with it: a directory is pinned once, not
 * once for each file in it. */
static void pin_ancestors(struct pins *pins, const char *path, const char *previous, const struct rule *rule)
{
	const struct plan *plan = pins->plan;
	for (;;) {
		path = path_parent(plan->arena, path);
		if ((previous && path_is_within(previous, path)) || !plan_is_writable(plan, path) ||
		    pins->count > SCAN_MATCHES_MAX)
			return;
		if (strcmp(plan_grant_for(plan, path)->path, path) != 0)
			add(pins, path, FILE_DIRECTORY, rule);
	}
}

static void pin_above(struct pins *pins, const struct plan_matches *matches)
{
	for (size_t i = 0; i < matches->count; i++)
		pin_ancestors(pins, matches->items[i].path, i > 0 ? matches->items[i - 1].path : NULL, matches->items[i].rule);
}

/* A link in a read-only tree needs no pin. */
static void pin_links(struct pins *pins, const struct plan_matches *links)
{
	for (size_t i = 0; i < links->count; i++) {
		const struct plan_match *link = &links->items[i];
		if (!plan_is_writable(pins->plan, link->path))
			continue;
		add(pins, link->path, FILE_SYMLINK, link->rule);
		pin_ancestors(pins, link->path, NULL, link->rule);
	}
}

/* Pins the directories between a read-only grant and the writable grant around it, so that its path
 * stays read-only. */
static void pin_grants(struct pins *pins)
{
	const struct plan *plan = pins->plan;
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind != GRANT_WRITE)
			pin_ancestors(pins, plan->grants.items[i].path, NULL, plan->grants.items[i].rule);
}

/* Pins the project's .git, also one with nothing in it to lock: without it a later run in a
 * subdirectory would not know that this project encloses it. The floor protects berm.yml. */
static void pin_marker(struct pins *pins, const struct scan_results *results)
{
	const struct plan *plan = pins->plan;
	const char *path = path_join(plan->arena, plan->context.project, ".git");
	struct file_info info;

	if (!plan_is_writable(plan, path) || strcmp(plan_grant_for(plan, path)->path, path) == 0 ||
	    scan_find_above(&results->masked, path) || scan_find_above(&results->locked, path) ||
	    plan->context.fs->inspect(plan->context.fs, path, &info) < 0)
		return;
	if (info.type == FILE_DIRECTORY || info.type == FILE_SYMLINK || info.type == FILE_REGULAR)
		add(pins, path, info.type, &rule_marker);
}

static int compare_pins(const void *left, const void *right)
{
	return strcmp(((const struct plan_match *)left)->path, ((const struct plan_match *)right)->path);
}

bool scan_pin(const struct plan *plan, struct scan_results *results, const struct plan_matches *links)
{
	struct pins pins = { .plan = plan };
	size_t kept = 0;

	pin_above(&pins, &results->masked);
	pin_above(&pins, &results->locked);
	pin_grants(&pins);
	pin_links(&pins, links);
	pin_marker(&pins, results);
	if (pins.count > 0)
		qsort(pins.items, pins.count, sizeof *pins.items, compare_pins);
	for (size_t i = 0; i < pins.count; i++)
		if (kept == 0 || strcmp(pins.items[kept - 1].path, pins.items[i].path) != 0)
			pins.items[kept++] = pins.items[i];
	results->pinned = (struct plan_matches){ pins.items, kept };
	return pins.count <= SCAN_MATCHES_MAX;
}
