/* SPDX-License-Identifier: Apache-2.0 */
/* files.deny in trees of software, which are not searched. A literal path is looked up once, when
 * the plan is made. For a pattern with wildcards the directory at which it begins is recorded, if
 * it exists. A cached plan is valid only while nothing on the paths to these names has changed,
 * their absence included, so a launch need not look them up again. Only reads. */
#include "common/plan/build.h"

#include <string.h>

/* Records a literal path that exists. A path with a symlink in it has a resolved twin among the
 * patterns, which is taken instead. */
static void name(struct plan *plan, const struct plan_pattern *item)
{
	const char *path = item->pattern.text, *canonical;
	struct file_info info;
	struct error ignored;
	struct plan_match *match;

	if (path_resolve(plan->context.fs, plan->arena, path, &canonical, NULL, &info, &ignored) < 0 ||
	    strcmp(canonical, path) != 0)
		return;
	/* The command cannot open a closed directory that is read-only for it. */
	if (info.type == FILE_ABSENT || info.type == FILE_UNKNOWN)
		return;
	if (item->pattern.is_directory_only && info.type != FILE_DIRECTORY)
		return;
	if (!plan_deny_applies(plan, item, path, info.type == FILE_DIRECTORY))
		return;
	match = arena_push(plan->arena, &plan->named);
	*match = (struct plan_match){ .path = path, .type = info.type, .rule = item->rule };
}

const char *plan_search_start(const struct plan *plan, const struct pattern *pattern, const char *tree)
{
	size_t length = pattern->literal_prefix;
	const char *prefix;
	if (pattern->is_literal || length <= 1)
		return tree;
	prefix = arena_copy_n(plan->arena, pattern->text, pattern->text[length - 1] == '/' ? length - 1 : length);
	return path_is_within(prefix, tree) ? prefix : tree;
}

static void search(struct plan *plan, size_t number, const char *tree)
{
	const char *start = plan_search_start(plan, &plan->deny.items[number].pattern, tree);
	struct file_info info;
	struct plan_search *search;
	if (plan->context.fs->inspect(plan->context.fs, start, &info) == 0 && info.type == FILE_ABSENT)
		return;
	search = arena_push(plan->arena, &plan->searches);
	*search = (struct plan_search){ .start = start, .pattern = number };
}

void build_named(struct builder *builder)
{
	struct plan *plan = builder->plan;
	bool case_fold = plan->context.fs->is_case_insensitive;
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		if (grant->kind != GRANT_SYSTEM || grant->type != FILE_DIRECTORY)
			continue;
		for (size_t k = 0; k < plan->deny.count; k++) {
			const struct pattern *pattern = &plan->deny.items[k].pattern;
			if (pattern->is_anywhere || !pattern_may_match_below(pattern, grant->path, case_fold))
				continue;
			if (pattern->is_literal && !case_fold)
				name(plan, &plan->deny.items[k]);
			else
				search(plan, k, grant->path);
		}
	}
}
