/* SPDX-License-Identifier: Apache-2.0 */
/* Trees that are not searched: trees of software and what files.prune names. They are only asked about paths that the policy spells out,
 * and root's run also about what only root may read. A pattern that matches a base name anywhere finds nothing here. */
#include "common/scan/internal.h"

#include <string.h>

/* One pattern that spells out where it applies, looked up in a tree that was not searched. */
struct lookup {
	struct scan *scan;
	const struct plan_pattern *item;
	bool is_deny;
	bool is_writable; /* the tree */
};

static void record_lookup(struct lookup *lookup, const char *path, enum file_type type)
{
	struct scan *scan = lookup->scan;
	bool is_directory = type == FILE_DIRECTORY, is_link = type == FILE_SYMLINK;
	if (lookup->is_deny && plan_deny_applies(scan->plan, lookup->item, path, is_directory))
		scan_record(scan, is_link ? &scan->denied_links : &scan->masked, path, type, lookup->item->rule);
	if (!lookup->is_deny && plan_protect_applies(scan->plan, lookup->item, path))
		scan_record(scan, is_link ? &scan->protected_links : &scan->locked, path, type, lookup->item->rule);
}

static enum walk_step visit_lookup(void *self, const char *directory, const char *name, enum file_type type)
{
	struct lookup *lookup = self;
	const struct pattern *pattern = &lookup->item->pattern;
	char path[SCAN_PATH_BYTES];
	if (!path_join_into(path, sizeof path, directory, name))
		return WALK_SKIP;
	if (pattern_matches(pattern, path, type == FILE_DIRECTORY, lookup->scan->case_fold)) {
		record_lookup(lookup, path, type);
		return WALK_SKIP;
	}
	return type == FILE_DIRECTORY && pattern_may_match_below(pattern, path, lookup->scan->case_fold) ? WALK_DESCEND
													 : WALK_SKIP;
}

/* A spelled-out path with a symlink in it has a resolved twin among the patterns: that one is looked up. */
static void look_up_literal(struct lookup *lookup, const char *path)
{
	const struct plan *plan = lookup->scan->plan;
	struct file_info info;
	struct error ignored;
	const char *canonical;
	if (path_resolve(plan->context.fs, plan->arena, path, &canonical, NULL, &info, &ignored) < 0 ||
	    strcmp(canonical, path) != 0 || info.type == FILE_ABSENT)
		return;
	/* Behind a directory that is closed: where the command can write it may be the command's to open. */
	if (info.type == FILE_UNKNOWN && !lookup->is_writable)
		return;
	if (!lookup->item->pattern.is_directory_only || info.type == FILE_DIRECTORY)
		record_lookup(lookup, path, info.type);
}

static int look_up(struct lookup *lookup, const struct scan_tree *tree, struct error *err)
{
	const struct plan *plan = lookup->scan->plan;
	const struct pattern *pattern = &lookup->item->pattern;

	if (pattern->is_anywhere || !pattern_may_match_below(pattern, tree->path, lookup->scan->case_fold))
		return 0;
	if (pattern->is_literal && !lookup->scan->case_fold) {
		look_up_literal(lookup, pattern->text);
		return 0;
	}
	return plan->context.fs->walk(plan->context.fs, plan_search_start(plan, pattern, tree->path), visit_lookup, lookup,
				      err);
}

/* In trees of software, by what the plan knows of them. A file that is closed to this user by its permissions needs no mask: of the ten or so in /etc that a
 * machine has, each would cost a launch a mount. */
static int look_up_software(struct scan *scan, struct error *err)
{
	const struct plan *plan = scan->plan;
	const struct filesystem *fs = plan->context.fs;
	for (size_t i = 0; i < plan->named.count; i++) {
		const struct plan_match *match = &plan->named.items[i];
		if (!fs->is_closed || !fs->is_closed(fs, match->path))
			scan_record(scan, &scan->masked, match->path, match->type, match->rule);
	}
	for (size_t i = 0; i < plan->searches.count; i++) {
		const struct plan_search *search = &plan->searches.items[i];
		struct lookup lookup = { scan, &plan->deny.items[search->pattern], true, false };
		if (fs->walk(fs, search->start, visit_lookup, &lookup, err) < 0)
			return -1;
	}
	return 0;
}

int scan_look_up(struct scan *scan, struct error *err)
{
	const struct plan *plan = scan->plan;
	if (look_up_software(scan, err) < 0)
		return -1;
	for (size_t i = 0; i < scan->unsearched.count; i++) {
		const struct scan_tree tree = scan->unsearched.items[i];
		for (size_t k = 0; k < plan->deny.count; k++) {
			struct lookup lookup = { scan, &plan->deny.items[k], true, tree.is_writable };
			if (look_up(&lookup, &tree, err) < 0)
				return -1;
		}
		for (size_t k = 0; tree.is_writable && k < plan->protect.count; k++) {
			struct lookup lookup = { scan, &plan->protect.items[k], false, true };
			if (look_up(&lookup, &tree, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* Without its capabilities root still owns these files and could open them. */
static enum walk_step visit_root_only(void *self, const char *directory, const char *name, enum file_type type)
{
	struct scan *scan = self;
	const struct filesystem *fs = scan->plan->context.fs;
	mode_t needed = type == FILE_DIRECTORY ? 05 : 04;
	struct file_info info;
	char path[SCAN_PATH_BYTES];

	if (type == FILE_SYMLINK || !path_join_into(path, sizeof path, directory, name) || fs->inspect(fs, path, &info) < 0 ||
	    info.type == FILE_ABSENT)
		return WALK_SKIP;
	if ((info.mode & needed) == needed)
		return WALK_DESCEND;
	scan_record(scan, &scan->masked, path, type, &rule_root_only);
	return WALK_SKIP;
}

/* Below /etc, as far as it is granted. */
static int hide_root_only_in(struct scan *scan, const char *directory, struct error *err)
{
	const struct plan *plan = scan->plan;
	const struct filesystem *fs = plan->context.fs;
	if (plan_grant_for(plan, directory))
		return fs->walk(fs, directory, visit_root_only, scan, err);
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		if (grant->type == FILE_DIRECTORY && path_is_within(grant->path, directory) &&
		    fs->walk(fs, grant->path, visit_root_only, scan, err) < 0)
			return -1;
	}
	return 0;
}

/* Where administrators keep what only root may read. The rest of /usr is the distribution's, and too large to look through. */
int scan_hide_root_only(struct scan *scan, struct error *err)
{
	static const char *const directories[] = { "/etc", "/opt", "/usr/local/etc" };
	const struct context *context = &scan->plan->context;
	if (context->uid != 0 || context->os != OS_LINUX)
		return 0;
	for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
		if (hide_root_only_in(scan, directories[i], err) < 0)
			return -1;
	return 0;
}
