/* SPDX-License-Identifier: Apache-2.0 */
/* A command can make more names than the lists of a search hold, so that its plant is not among
 * them. Then each place where the host looks, and each git directory of the launch, is examined by
 * itself. Slow, and without a limit on names. */
#include "common/sweep/internal.h"

#include <string.h>

#include "common/fs/path.h"
#include "common/fs/posix.h"

enum { DEPTH_MAX = 4 }; /* names below a place: .jj/repo/store/git_target */

/* One place. */
struct crowd {
	struct look *look;
	struct scan *scan;
	const char *place;
	size_t depth; /* of the place itself */
};

static size_t depth_of(const char *path)
{
	size_t depth = 0;
	for (; *path; path++)
		depth += *path == '/' && path[1];
	return depth;
}

static enum walk_step visit(void *self, const char *directory, const char *name, enum file_type type)
{
	struct crowd *crowd = self;
	struct look *look = crowd->look;
	const char *path = path_join(look->arena, directory, name);
	struct scan_entry entry = scan_entries_judge(crowd->scan, path, name, type == FILE_DIRECTORY);
	struct plan_match match = { .path = path, .type = type, .rule = entry.protected_by };
	if (match.rule && strcmp(names_place(look->arena, path, match.rule), crowd->place) == 0)
		names_look_at(look, &match);
	if (match.rule || entry.denied_by || entry.is_pruned || type != FILE_DIRECTORY || strcmp(name, ".git") == 0)
		return WALK_SKIP;
	return depth_of(path) < crowd->depth + DEPTH_MAX ? WALK_DESCEND : WALK_SKIP;
}

void crowded_names(struct look *look)
{
	struct crowd crowd = { .look = look };
	struct error ignored = { 0 };
	if (!look->found.is_incomplete)
		return;
	crowd.scan = scan_entries_prepare(look->plan);
	for (size_t i = 0; i < look->baseline->count; i++) {
		if (look->baseline->items[i][0] != FACT_PLACE)
			continue;
		crowd.place = look->baseline->items[i] + 1;
		crowd.depth = depth_of(crowd.place);
		(void)filesystem_posix_walk(look->plan->context.fs, crowd.place, visit, &crowd, &ignored);
	}
}

static void add(struct look *look, const char *path)
{
	const struct filesystem *fs = look->plan->context.fs;
	struct plan_match mark = { .path = path, .rule = &rule_marker };
	struct file_info info;
	if (fs->inspect(fs, path, &info) < 0 || info.type == FILE_ABSENT)
		return;
	mark.type = info.type;
	repositories_add(look, &mark);
}

void crowded_repositories(struct look *look)
{
	for (size_t i = 0; i < look->baseline->count && look->found.is_incomplete; i++) {
		const char *fact = look->baseline->items[i], *path = fact + 1;
		if (fact[0] == FACT_PLACE)
			add(look, path_join(look->arena, path, ".git"));
		else if (fact[0] == FACT_GIT || fact[0] == FACT_BORN)
			add(look, strcmp(path_base_name(path), ".git") == 0 ? path : path_join(look->arena, path, "HEAD"));
	}
}
