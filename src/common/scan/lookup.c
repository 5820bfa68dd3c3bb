/* SPDX-License-Identifier: Apache-2.0 */
/* Trees that are not searched: trees of software and directories of files.prune. Only paths that
 * the policy spells out are looked up in them, and for root also files that only root may read. A
 * pattern that matches a base name anywhere finds nothing here. */
#include "common/scan/internal.h"

#include <string.h>

enum lookup_list { LOOKUP_DENY, LOOKUP_PROTECT, LOOKUP_UNPROTECT };

/* The lookup of one pattern, which has directories, in a tree that was not searched. */
struct lookup {
	struct scan *scan;
	const struct plan_pattern *item;
	enum lookup_list list;
	bool is_writable; /* the tree */
};

static void record_lookup(struct lookup *lookup, const char *path, enum file_type type)
{
	struct scan *scan = lookup->scan;
	bool is_directory = type == FILE_DIRECTORY, is_link = type == FILE_SYMLINK;
	if (lookup->list == LOOKUP_DENY && plan_deny_applies(scan->plan, lookup->item, path, is_directory))
		scan_record(scan, is_link ? &scan->denied_links : &scan->masked, path, type, lookup->item->rule);
	if (lookup->list == LOOKUP_PROTECT && plan_protect_applies(scan->plan, lookup->item, path, is_directory))
		scan_record(scan, is_link ? &scan->protected_links : &scan->locked, path, type, lookup->item->rule);
	if (lookup->list == LOOKUP_UNPROTECT && !is_link && !plan_protected_by(scan->plan, path, is_directory))
		scan_record(scan, &scan->opened, path, type, lookup->item->rule);
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

/* A path with a symlink in it has a resolved twin among the patterns, which is looked up instead.
 * */
static void look_up_literal(struct lookup *lookup, const char *path)
{
	const struct plan *plan = lookup->scan->plan;
	struct file_info info;
	struct error ignored;
	const char *canonical;
	if (path_resolve(plan->context.fs, plan->arena, path, &canonical, NULL, &info, &ignored) < 0 ||
	    strcmp(canonical, path) != 0 || info.type == FILE_ABSENT)
		return;
	/* Behind a closed directory: in a writable tree the command may be able to open it. */
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

/* The entries of one directory that a pattern matches or may match below. */
struct listing {
	struct lookup *lookup;
	struct listed {
		const char **items;
		size_t count;
	} directories;
};

static enum walk_step visit_listed(void *self, const char *directory, const char *name, enum file_type type)
{
	struct listing *listing = self;
	struct scan *scan = listing->lookup->scan;
	const struct pattern *pattern = &listing->lookup->item->pattern;
	char path[SCAN_PATH_BYTES];
	if (!path_join_into(path, sizeof path, directory, name))
		return WALK_SKIP;
	if (pattern_matches(pattern, path, type == FILE_DIRECTORY, scan->case_fold)) {
		record_lookup(listing->lookup, path, type);
	} else if (type == FILE_DIRECTORY && pattern_may_match_below(pattern, path, scan->case_fold)) {
		pthread_mutex_lock(&scan->lock);
		*(const char **)arena_push(scan->plan->arena, &listing->directories) = arena_copy(scan->plan->arena, path);
		pthread_mutex_unlock(&scan->lock);
	}
	return WALK_SKIP;
}

static int expand(struct lookup *lookup, const char *directory, const char *rest, struct error *err);

/* Expands a component without wildcards: the path is inspected instead of listing its directory. */
static int expand_name(struct lookup *lookup, const char *path, const char *after, struct error *err)
{
	const struct filesystem *fs = lookup->scan->plan->context.fs;
	struct file_info info;
	if (strlen(path) >= SCAN_PATH_BYTES || fs->inspect(fs, path, &info) < 0)
		return 0;
	if (after)
		return info.type == FILE_DIRECTORY ? expand(lookup, path, after, err) : 0;
	if (info.type != FILE_ABSENT && info.type != FILE_UNKNOWN &&
	    pattern_matches(&lookup->item->pattern, path, info.type == FILE_DIRECTORY, false))
		record_lookup(lookup, path, info.type);
	return 0;
}

/* Looks up `rest`, the pattern's part below the directory. A name without wildcards is inspected
 * and not searched for: listing each version of a toolchain for one file in it would cost a launch
 * more than all else here. */
static int expand(struct lookup *lookup, const char *directory, const char *rest, struct error *err)
{
	const struct scan *scan = lookup->scan;
	const struct filesystem *fs = scan->plan->context.fs;
	struct listing listing = { .lookup = lookup };
	size_t length = strcspn(rest, "/");
	const char *after = rest[length] ? rest + length + 1 : NULL;

	if (strstr(rest, "**"))
		return fs->walk(fs, directory, visit_lookup, lookup, err);
	if (strcspn(rest, "*?[\\") >= length && !scan->case_fold)
		return expand_name(lookup, arena_printf(scan->plan->arena, "%s/%.*s", directory, (int)length, rest), after,
				   err);
	if (fs->walk(fs, directory, visit_listed, &listing, err) < 0)
		return -1;
	for (size_t i = 0; after && i < listing.directories.count; i++)
		if (expand(lookup, listing.directories.items[i], after, err) < 0)
			return -1;
	return 0;
}

/* Searches below the directory at which the pattern begins. A tree of software that is below that
 * directory is walked. */
static int search_software(struct lookup *lookup, const char *start, struct error *err)
{
	const struct pattern *pattern = &lookup->item->pattern;
	const struct filesystem *fs = lookup->scan->plan->context.fs;
	size_t length = strlen(start);
	if (length > 1 && strncmp(pattern->text, start, length) == 0 && pattern->text[length] == '/' &&
	    strcspn(pattern->text, "*?[\\") > length)
		return expand(lookup, start, pattern->text + length + 1, err);
	return fs->walk(fs, start, visit_lookup, lookup, err);
}

/* Looks up the plan's list for trees of software. A file that its permissions close to this user
 * needs no mask: /etc has about ten of them, and each would cost a launch one mount. */
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
		struct lookup lookup = { scan, &plan->deny.items[search->pattern], LOOKUP_DENY, false };
		if (search_software(&lookup, search->start, err) < 0)
			return -1;
	}
	return 0;
}

static int look_up_list(struct scan *scan, const struct plan_patterns *patterns, enum lookup_list list,
			const struct scan_tree *tree, struct error *err)
{
	for (size_t i = 0; i < patterns->count; i++) {
		struct lookup lookup = { scan, &patterns->items[i], list, tree->is_writable };
		if (look_up(&lookup, tree, err) < 0)
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
		if (look_up_list(scan, &plan->deny, LOOKUP_DENY, &tree, err) < 0)
			return -1;
		if (tree.is_writable && (look_up_list(scan, &plan->protect, LOOKUP_PROTECT, &tree, err) < 0 ||
					 look_up_list(scan, &plan->unprotect, LOOKUP_UNPROTECT, &tree, err) < 0))
			return -1;
	}
	return 0;
}

/* Hides entries without permissions for others. Without capabilities root still owns them and could
 * open them. */
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

/* Walks the directory, or the grants inside it. */
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

/* Administrators keep files that only root may read in these directories. The rest of /usr belongs
 * to the distribution, and is too large to search. */
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
