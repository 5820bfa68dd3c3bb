/* SPDX-License-Identifier: Apache-2.0 */
/* The search: every entry below a directory that is readable or writable by a rule is held against the patterns, from several threads. What
 * files.prune names is left out and written down for scan_lookup.c; with a memory, directories that have not changed are not listed
 * again. */
#include "common/scan/internal.h"

#include <string.h>

static void record_unsearched(struct scan *scan, const char *path, bool is_writable)
{
	pthread_mutex_lock(&scan->lock);
	struct scan_tree *tree = arena_push(scan->plan->arena, &scan->unsearched);
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
		scan_record(scan, type == FILE_SYMLINK ? &scan->denied_links : &scan->masked, path, type, finding.denied_by);
		return WALK_SKIP;
	}
	/* A grant inside this one is searched, or not, by its own kind. */
	if ((is_directory || finding.protected_by) && scan->has_inner_grants && is_grant(scan->plan, path))
		return WALK_SKIP;
	if (finding.protected_by)
		scan_record(scan, type == FILE_SYMLINK ? &scan->protected_links : &scan->locked, path, type,
			    finding.protected_by);
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
		scan_record(scan, &scan->masked, path, type, &rule_host_socket);
	} else if (type == FILE_UNKNOWN && scan->root->kind == GRANT_WRITE) {
		if (strcmp(path, scan->root->path) == 0)
			scan->has_closed_root = true;
		scan_record(scan, &scan->masked, path, FILE_DIRECTORY, &rule_unsearchable);
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

int scan_search(struct scan *scan, struct error *err)
{
	const struct plan *plan = scan->plan;

	build_index(scan);
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
