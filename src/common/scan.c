/* SPDX-License-Identifier: Apache-2.0 */
/* What the patterns match now: files.deny becomes a list of what is hidden, files.protect a list of what is read-only. Searched are
 * the directories that are readable or writable by a rule; trees of software and what files.prune names are only asked about paths
 * that the policy spells out. Reads names, nothing else; the lists come out the same for the same tree, whatever the threads do. */
#include "common/scan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/plan_build.h"
#include "common/scan_index.h"

/* A directory that the search did not look into. */
struct tree {
	const char *path;
	bool is_writable;
};

struct scan {
	struct plan *plan;
	struct walk_memory *memory; /* or NULL */
	bool case_fold;
	const struct plan_grant *root; /* being searched */
	bool has_inner_grants; /* below root */
	struct scan_index index; /* deny, then protect, then prune */
	struct matches {
		struct plan_match *items;
		size_t count;
	} masked, locked, denied_links, protected_links, followed;
	struct trees {
		struct tree *items;
		size_t count;
	} unsearched;
	pthread_mutex_t lock; /* for the lists above and the plan's arena */
	atomic_uint_least64_t directories, files;
	atomic_bool has_too_many, has_too_long, has_closed_root;
};

static void add_note(struct scan *scan, enum note_kind kind, const struct rule *rule, const char *text)
{
	struct plan_note *note = arena_push(scan->plan->arena, &scan->plan->notes);
	*note = (struct plan_note){ .kind = kind, .text = text, .rule = rule };
}

static void record(struct scan *scan, struct matches *matches, const char *path, enum file_type type, const struct rule *rule)
{
	pthread_mutex_lock(&scan->lock);
	if (matches->count < SCAN_MATCHES_MAX) {
		struct plan_match *match = arena_push(scan->plan->arena, matches);
		*match = (struct plan_match){ .path = arena_copy(scan->plan->arena, path), .type = type, .rule = rule };
	} else {
		scan->has_too_many = true;
	}
	pthread_mutex_unlock(&scan->lock);
}

static void record_unsearched(struct scan *scan, const char *path, bool is_writable)
{
	pthread_mutex_lock(&scan->lock);
	struct tree *tree = arena_push(scan->plan->arena, &scan->unsearched);
	tree->path = arena_copy(scan->plan->arena, path);
	tree->is_writable = is_writable;
	pthread_mutex_unlock(&scan->lock);
}

static bool is_grant(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (strcmp(plan->grants.items[i].path, path) == 0)
			return true;
	return false;
}

/* What one entry turned out to be. */
struct finding {
	const struct rule *denied_by, *protected_by;
	bool is_pruned;
};

static void judge_candidate(const struct scan *scan, size_t number, const char *path, bool is_directory,
			    struct finding *finding)
{
	const struct plan *plan = scan->plan;
	const struct plan_pattern *item;
	if (number < plan->deny.count) {
		item = &plan->deny.items[number];
		if (!finding->denied_by && pattern_matches(&item->pattern, path, is_directory, scan->case_fold) &&
		    plan_deny_applies(plan, item, path, is_directory))
			finding->denied_by = item->rule;
		return;
	}
	number -= plan->deny.count;
	if (number < plan->protect.count) {
		item = &plan->protect.items[number];
		if (!finding->protected_by && scan->root->kind == GRANT_WRITE &&
		    pattern_matches(&item->pattern, path, is_directory, scan->case_fold) &&
		    plan_protect_applies(plan, item, path))
			finding->protected_by = item->rule;
		return;
	}
	number -= plan->protect.count;
	if (is_directory && pattern_matches(&plan->prune.items[number].pattern, path, true, scan->case_fold))
		finding->is_pruned = true;
}

static struct finding judge(const struct scan *scan, const char *path, const char *name, size_t length, bool is_directory)
{
	const struct scan_index *index = &scan->index;
	struct finding finding = { 0 };
	for (size_t word = 0; word < index->words; word++) {
		uint64_t bits = scan_index_candidates(index, word, (unsigned char)name[0], (unsigned char)name[length - 1]);
		for (; bits; bits &= bits - 1) {
			size_t number = word * 64 + (size_t)__builtin_ctzll(bits);
			if (scan_index_agrees(index, number, name, length))
				judge_candidate(scan, number, path, is_directory, &finding);
		}
	}
	return finding;
}

static bool has_candidate(const struct scan_index *index, const char *name, size_t length)
{
	for (size_t word = 0; word < index->words; word++) {
		uint64_t bits = scan_index_candidates(index, word, (unsigned char)name[0], (unsigned char)name[length - 1]);
		for (; bits; bits &= bits - 1)
			if (scan_index_agrees(index, word * 64 + (size_t)__builtin_ctzll(bits), name, length))
				return true;
	}
	return false;
}

/* Of several threads one at a time: what is read goes into the plan's arena. */
static bool is_git_pointer(struct scan *scan, const char *directory, const char *name, enum file_type type)
{
	bool result;
	if (scan->root->kind != GRANT_WRITE || !scan_may_be_git_pointer(name, type))
		return false;
	pthread_mutex_lock(&scan->lock);
	result = scan_is_git_pointer(scan->plan, directory, name);
	pthread_mutex_unlock(&scan->lock);
	return result;
}

/* An entry that some pattern may be about. Remarkable if something came of it, or may come of it later under the same plan. */
static enum walk_step visit_closely(struct scan *scan, const char *directory, const char *name, enum file_type type,
				    bool *is_remarkable)
{
	bool is_directory = type == FILE_DIRECTORY;
	char path[SCAN_PATH_BYTES];
	struct finding finding;

	*is_remarkable = true;
	if (!path_join_into(path, sizeof path, directory, name)) {
		scan->has_too_long = true;
		return WALK_SKIP;
	}
	finding = judge(scan, path, name, strlen(name), is_directory);
	if (!finding.protected_by && is_git_pointer(scan, directory, name, type))
		finding.protected_by = &rule_git_pointer;
	if (finding.denied_by) {
		record(scan, type == FILE_SYMLINK ? &scan->denied_links : &scan->masked, path, type, finding.denied_by);
		return WALK_SKIP;
	}
	/* A grant inside this one is searched, or not, by its own kind. */
	if ((is_directory || finding.protected_by) && scan->has_inner_grants && is_grant(scan->plan, path))
		return WALK_SKIP;
	if (finding.protected_by)
		record(scan, type == FILE_SYMLINK ? &scan->protected_links : &scan->locked, path, type, finding.protected_by);
	if (finding.is_pruned)
		record_unsearched(scan, path, scan->root->kind == GRANT_WRITE);
	*is_remarkable = finding.protected_by || finding.is_pruned || scan_may_be_git_pointer(name, type);
	return is_directory && !finding.is_pruned ? WALK_DESCEND : WALK_SKIP;
}

static bool is_named_socket(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->sockets.count; i++)
		if (strcmp(plan->sockets.items[i].path, path) == 0)
			return true;
	return false;
}

/* Hidden for what it is, whatever its name: a socket of the host, or a directory that its owner closed and could open up again
 * inside. What is read-only inside cannot be opened up. */
static enum walk_step visit_special(struct scan *scan, const char *directory, const char *name, enum file_type type)
{
	char path[SCAN_PATH_BYTES];
	if (!path_join_into(path, sizeof path, directory, name)) {
		scan->has_too_long = true;
	} else if (type == FILE_SOCKET && !is_named_socket(scan->plan, path)) {
		record(scan, &scan->masked, path, type, &rule_host_socket);
	} else if (type == FILE_UNKNOWN && scan->root->kind == GRANT_WRITE) {
		if (strcmp(path, scan->root->path) == 0)
			scan->has_closed_root = true;
		record(scan, &scan->masked, path, FILE_DIRECTORY, &rule_unsearchable);
	}
	return WALK_SKIP;
}

/* Called for every entry of every tree that is searched: nearly all of them end here. */
static enum walk_step visit(void *self, const char *directory, const char *name, enum file_type type, bool *is_remarkable)
{
	struct scan *scan = self;
	bool is_directory = type == FILE_DIRECTORY;
	size_t length = strlen(name);

	if (type == FILE_SOCKET || type == FILE_UNKNOWN) {
		*is_remarkable = true;
		return visit_special(scan, directory, name, type);
	}
	atomic_fetch_add_explicit(is_directory ? &scan->directories : &scan->files, 1, memory_order_relaxed);
	if ((is_directory && (scan->has_inner_grants || strlen(directory) + length + 2 > SCAN_PATH_BYTES)) ||
	    has_candidate(&scan->index, name, length) || scan_may_be_git_pointer(name, type))
		return visit_closely(scan, directory, name, type, is_remarkable);
	return is_directory ? WALK_DESCEND : WALK_SKIP;
}

static enum walk_step visit_plainly(void *self, const char *directory, const char *name, enum file_type type)
{
	bool ignored = false;
	return visit(self, directory, name, type, &ignored);
}

static void count(void *self, uint64_t directories, uint64_t files)
{
	struct scan *scan = self;
	atomic_fetch_add_explicit(&scan->directories, directories, memory_order_relaxed);
	atomic_fetch_add_explicit(&scan->files, files, memory_order_relaxed);
}

/* With what an earlier launch found, if there is such a thing. */
static int search(struct scan *scan, const char *root, struct error *err)
{
	const struct filesystem *fs = scan->plan->context.fs;
	const struct walk_visitor visitor = { .visit = visit, .count = count, .self = scan };
	if (scan->memory && fs->walk_again)
		return fs->walk_again(fs, root, &visitor, scan->memory, err);
	return fs->walk(fs, root, visit_plainly, scan, err);
}

static bool has_inner_grants(const struct plan *plan, const struct plan_grant *root)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (&plan->grants.items[i] != root && path_is_within(plan->grants.items[i].path, root->path))
			return true;
	return false;
}

static void build_index(struct scan *scan)
{
	const struct plan *plan = scan->plan;
	const struct plan_patterns *lists[] = { &plan->deny, &plan->protect, &plan->prune };
	size_t number = 0;

	scan_index_prepare(&scan->index, plan->arena, plan->deny.count + plan->protect.count + plan->prune.count);
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		for (size_t k = 0; k < lists[i]->count; k++)
			scan_index_add(&scan->index, number++, &lists[i]->items[k].pattern, scan->case_fold);
}

static int search_roots(struct scan *scan, struct error *err)
{
	struct plan *plan = scan->plan;
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		if (grant->type != FILE_DIRECTORY || grant->kind == GRANT_SYSTEM)
			continue;
		scan->root = grant;
		scan->has_inner_grants = has_inner_grants(plan, grant);
		if (search(scan, grant->path, err) < 0)
			return -1;
		if (scan->has_closed_root)
			return error_set(err, "%s may not be listed, so what is hidden in it cannot be found", grant->path);
	}
	return 0;
}

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
		record(scan, is_link ? &scan->denied_links : &scan->masked, path, type, lookup->item->rule);
	if (!lookup->is_deny && plan_protect_applies(scan->plan, lookup->item, path))
		record(scan, is_link ? &scan->protected_links : &scan->locked, path, type, lookup->item->rule);
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

static int look_up(struct lookup *lookup, const struct tree *tree, struct error *err)
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
			record(scan, &scan->masked, match->path, match->type, match->rule);
	}
	for (size_t i = 0; i < plan->searches.count; i++) {
		const struct plan_search *search = &plan->searches.items[i];
		struct lookup lookup = { scan, &plan->deny.items[search->pattern], true, false };
		if (fs->walk(fs, search->start, visit_lookup, &lookup, err) < 0)
			return -1;
	}
	return 0;
}

static int look_up_all(struct scan *scan, struct error *err)
{
	const struct plan *plan = scan->plan;
	if (look_up_software(scan, err) < 0)
		return -1;
	for (size_t i = 0; i < scan->unsearched.count; i++) {
		const struct tree tree = scan->unsearched.items[i];
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
	record(scan, &scan->masked, path, type, &rule_root_only);
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
static int hide_root_only(struct scan *scan, struct error *err)
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

/* Hiding or locking all that is granted is never what a name was meant for. */
static bool holds_grant(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (path_is_within(plan->grants.items[i].path, path))
			return true;
	return false;
}

/* Every link on the way to something hidden or locked, and those that lead nowhere: the name is what the host goes by. */
static void record_followed(struct scan *scan, const struct plan_match *link, const struct path_links *passed)
{
	record(scan, &scan->followed, link->path, FILE_SYMLINK, link->rule);
	for (size_t i = 0; i < passed->count; i++)
		record(scan, &scan->followed, passed->items[i].path, FILE_SYMLINK, link->rule);
}

/* A mask or lock cannot lie on a link. What it leads to is hidden or locked instead, if it is visible at all. */
static void follow_links(struct scan *scan, const struct matches *links, struct matches *matches, enum grant_kind lowest)
{
	struct plan *plan = scan->plan;
	const char *done = matches == &scan->masked ? "hidden" : "read-only";
	for (size_t i = 0; i < links->count; i++) {
		const struct plan_match *link = &links->items[i];
		const struct plan_grant *grant;
		struct path_links passed = { 0 };
		struct file_info info;
		struct error ignored;
		const char *target;
		int resolved = path_resolve(plan->context.fs, plan->arena, link->path, &target, &passed, &info, &ignored);
		record_followed(scan, link, &passed);
		if (resolved < 0 || info.type == FILE_ABSENT)
			continue;
		grant = plan_grant_for(plan, target);
		if (!grant || grant->kind < lowest || (info.type == FILE_UNKNOWN && grant->kind != GRANT_WRITE))
			continue;
		if (holds_grant(plan, target)) {
			add_note(scan, NOTE_OTHER, link->rule,
				 arena_printf(plan->arena, "%s leads to %s, which is granted as a whole and stays", link->path,
					      target));
			continue;
		}
		record(scan, matches, target, info.type, link->rule);
		add_note(scan, NOTE_OTHER, link->rule,
			 arena_printf(plan->arena, "%s is a link: %s, where it leads, is %s", link->path, target, done));
	}
}

/* A rule that stands in a file comes before one that berm made up: it says more. */
static int compare_rules(const struct rule *a, const struct rule *b)
{
	int order = strcmp(a->origin.source, b->origin.source);
	if ((a->origin.line == 0) != (b->origin.line == 0))
		return a->origin.line == 0 ? 1 : -1;
	if (a->layer != b->layer)
		return a->layer < b->layer ? -1 : 1;
	if (order)
		return order;
	if (a->origin.line != b->origin.line)
		return a->origin.line < b->origin.line ? -1 : 1;
	return a->origin.column < b->origin.column ? -1 : a->origin.column > b->origin.column;
}

static int compare_matches(const void *left, const void *right)
{
	const struct plan_match *a = left, *b = right;
	int order = scan_compare_paths(a->path, b->path);
	/* Which of several rules stands must not depend on the threads. */
	return order ? order : compare_rules(a->rule, b->rule);
}

/* Each path once, nothing below another. */
static void finish_list(struct matches *matches, struct plan_matches *out)
{
	size_t kept = 0;
	if (matches->count > 0)
		qsort(matches->items, matches->count, sizeof *matches->items, compare_matches);
	for (size_t i = 0; i < matches->count; i++)
		if (kept == 0 || !path_is_within(matches->items[i].path, matches->items[kept - 1].path))
			matches->items[kept++] = matches->items[i];
	matches->count = kept;
	out->items = matches->items;
	out->count = kept;
}

static void drop_masked(const struct plan_matches *masked, struct matches *locked)
{
	size_t kept = 0;
	for (size_t i = 0; i < locked->count; i++)
		if (!scan_find_above(masked, locked->items[i].path))
			locked->items[kept++] = locked->items[i];
	locked->count = kept;
}

static int compare_plainly(const void *left, const void *right)
{
	return strcmp(((const struct plan_match *)left)->path, ((const struct plan_match *)right)->path);
}

/* The order of the plan is the plain one of bytes, so that lists can be merged by it. */
static void sort_by_path(struct plan_matches *matches)
{
	if (matches->count > 0)
		qsort(matches->items, matches->count, sizeof *matches->items, compare_plainly);
}

static int finish(struct scan *scan, struct error *err)
{
	struct plan *plan = scan->plan;
	follow_links(scan, &scan->denied_links, &scan->masked, GRANT_READ);
	follow_links(scan, &scan->protected_links, &scan->locked, GRANT_WRITE);
	finish_list(&scan->masked, &plan->masked);
	if (scan_hard_links(plan, err) < 0)
		return -1;
	drop_masked(&plan->masked, &scan->locked);
	finish_list(&scan->locked, &plan->locked);
	if (!scan_pin(plan, &(struct plan_matches){ scan->followed.items, scan->followed.count }))
		scan->has_too_many = true;
	sort_by_path(&plan->masked);
	sort_by_path(&plan->locked);
	plan->scanned_directories = scan->directories;
	plan->scanned_files = scan->files;
	if (scan->has_too_long) {
		error_set(err, "paths in the project are longer than 4096 bytes: what is hidden there cannot be found");
		return error_hint(err, "remove the deep directories, or leave them out with files.prune");
	}
	if (scan->has_too_many)
		return error_set(err, "more than %d files and directories are denied or protected here", SCAN_MATCHES_MAX);
	return 0;
}

int plan_scan(struct plan *plan, struct error *err)
{
	return plan_scan_again(plan, NULL, err);
}

int plan_scan_again(struct plan *plan, struct walk_memory *memory, struct error *err)
{
	struct scan scan = { .plan = plan, .memory = memory, .case_fold = plan_folds_case(plan) };
	int result;

	plan->masked = plan->locked = plan->pinned = (struct plan_matches){ 0 };
	plan->documents = (struct plan_documents){ 0 };
	pthread_mutex_init(&scan.lock, NULL);
	build_index(&scan);
	result = search_roots(&scan, err);
	if (result == 0)
		result = look_up_all(&scan, err);
	if (result == 0)
		result = hide_root_only(&scan, err);
	if (result == 0)
		result = finish(&scan, err);
	if (result == 0)
		plan_add_documents(plan);
	pthread_mutex_destroy(&scan.lock);
	return result;
}
