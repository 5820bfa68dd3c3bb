/* SPDX-License-Identifier: Apache-2.0 */
/* What must stay where it is for the lists of the scan to hold: the directories above what is hidden, locked or read-only, up to the
 * outermost writable root around it, because renaming one away would make room for another under its name; and the symlinks that
 * lead to what is hidden or locked, because without them the next run would not find it. Only names; masks.c does the pinning. */
#include "common/scan/scan.h"

#include <stdlib.h>
#include <string.h>

struct pins {
	struct plan *plan;
	struct plan_match *items;
	size_t count;
};

static bool is_writable(const struct plan *plan, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	return grant && grant->kind == GRANT_WRITE;
}

static void add(struct pins *pins, const char *path, enum file_type type, const struct rule *rule)
{
	struct plan_match *pin = arena_push(pins->plan->arena, pins);
	*pin = (struct plan_match){ .path = path, .type = type, .rule = rule };
}

/* Whatever is above `previous` too was pinned with it: a directory is pinned once, not once for each file in it. */
static void pin_ancestors(struct pins *pins, const char *path, const char *previous, const struct rule *rule)
{
	const struct plan *plan = pins->plan;
	for (;;) {
		path = path_parent(plan->arena, path);
		if ((previous && path_is_within(previous, path)) || !is_writable(plan, path) || pins->count > SCAN_MATCHES_MAX)
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

/* A link in a tree that is read-only stays by itself. */
static void pin_links(struct pins *pins, const struct plan_matches *links)
{
	for (size_t i = 0; i < links->count; i++) {
		const struct plan_match *link = &links->items[i];
		if (!is_writable(pins->plan, link->path))
			continue;
		add(pins, link->path, FILE_SYMLINK, link->rule);
		pin_ancestors(pins, link->path, NULL, link->rule);
	}
}

/* Those inside a writable one: what is readable only stays so under its own name. */
static void pin_grants(struct pins *pins)
{
	const struct plan *plan = pins->plan;
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind != GRANT_WRITE)
			pin_ancestors(pins, plan->grants.items[i].path, NULL, plan->grants.items[i].rule);
}

static int compare_pins(const void *left, const void *right)
{
	return strcmp(((const struct plan_match *)left)->path, ((const struct plan_match *)right)->path);
}

bool scan_pin(struct plan *plan, const struct plan_matches *links)
{
	struct pins pins = { .plan = plan };
	size_t kept = 0;

	pin_above(&pins, &plan->masked);
	pin_above(&pins, &plan->locked);
	pin_grants(&pins);
	pin_links(&pins, links);
	if (pins.count > 0)
		qsort(pins.items, pins.count, sizeof *pins.items, compare_pins);
	for (size_t i = 0; i < pins.count; i++)
		if (kept == 0 || strcmp(pins.items[kept - 1].path, pins.items[i].path) != 0)
			pins.items[kept++] = pins.items[i];
	plan->pinned = (struct plan_matches){ pins.items, kept };
	return pins.count <= SCAN_MATCHES_MAX;
}
