/* SPDX-License-Identifier: Apache-2.0 */
/* The report of names that a run has made in the private home beside the project. */
#include "common/cli/run_beside.h"

#include <string.h>

#include "common/base/text.h"
#include "common/cli/commands.h"

/* Returns the path relative to the project where both are in one directory, else with `~`. */
static const char *shown_beside(const struct plan *plan, const char *path)
{
	struct arena *arena = plan->arena;
	const char *project = plan->context.project, *home = plan->context.home;
	if (strcmp(path_parent(arena, path), path_parent(arena, project)) == 0)
		return arena_printf(arena, "../%s", path_base_name(path));
	return path_is_within(path, home) ? arena_printf(arena, "~%s", path + strlen(home)) : path;
}

/* A directory that is granted itself gets no .git: the host would obey it. */
static void add_way_out(const struct plan *plan, const struct run_beside_item *item, struct text *out)
{
	const char *path = shown_beside(plan, item->path);
	if (item->is_repository)
		text_add(out, "mkdir ../trees, --allow-write=../trees, and ../trees/%s", path_base_name(path));
	else if (item->is_directory)
		text_add(out, "mkdir %s, --allow-write=%s", path, path);
	else
		text_add(out, "--allow-write=DIRECTORY, and the file in it");
}

void run_beside_report(const struct plan *plan, const struct run_beside *beside)
{
	struct text out = { 0 };
	size_t home = strlen(plan->context.home);
	if (beside->count == 0)
		return;
	for (size_t i = 0; i < beside->count; i++)
		text_add(&out, "%s~%s", i > 0 ? ", " : "", beside->items[i].path + home);
	if (beside->total > beside->count)
		text_add(&out, " and %zu more", beside->total - beside->count);
	text_add(&out, beside->total > 1 ? " exist only in the private home; for one on this machine: "
					 : " exists only in the private home; for one on this machine: ");
	add_way_out(plan, &beside->items[0], &out);
	report_line(out.data);
	text_free(&out);
}
