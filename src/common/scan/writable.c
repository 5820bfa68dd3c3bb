/* SPDX-License-Identifier: Apache-2.0 */
/* The search after a run: the writable trees alone, and only the names that matter to the host.
 * With the index of the launch's scan, a directory in which no name changed is not listed. */
#include "common/scan/internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"

struct finder {
	struct scan scan;
	struct scan_matches marks, links, closed, pruned;
	bool has_too_many_links; /* or pruned directories */
};

/* Every walk visits these and symlinks: the scan keeps them in the index. */
static bool is_mark(const char *name)
{
	return strcmp(name, ".git") == 0 || strcmp(name, "HEAD") == 0 || strcmp(name, "commondir") == 0;
}

/* Symlinks are many, and only few of them matter: too many do not fail the search. */
static void record_link(struct finder *finder, struct scan_matches *list, const char *path, enum file_type type)
{
	struct arena *arena = finder->scan.plan->arena;
	pthread_mutex_lock(&finder->scan.lock);
	if (list->count == SCAN_MATCHES_MAX)
		finder->has_too_many_links = true;
	else
		*(struct plan_match *)arena_push(arena, list) =
			(struct plan_match){ .path = arena_copy(arena, path), .type = type, .rule = &rule_marker };
	pthread_mutex_unlock(&finder->scan.lock);
}

/* True for an entry that needs no closer look. */
static bool is_plain(const struct scan *scan, const char *name, enum file_type type)
{
	return !is_mark(name) && type != FILE_SYMLINK && type != FILE_UNKNOWN && !scan_has_candidate(scan, name) &&
	       !(type == FILE_DIRECTORY && scan->has_inner_grants);
}

/* Notes whether the walk enters a directory of a repository. */
static enum walk_step leave(struct finder *finder, const struct scan_finding *finding, const char *directory, const char *name,
			    const char *path, enum walk_step step)
{
	if (finding->is_pruned && strstr(path, "/.git/"))
		record_link(finder, &finder->pruned, path, FILE_DIRECTORY);
	if (finding->denied_by || finding->is_pruned)
		return WALK_SKIP;
	if (step == WALK_DESCEND)
		scan_note_git_search(&finder->scan, directory, name);
	return step;
}

static enum walk_step visit(void *self, const char *directory, const char *name, enum file_type type, bool *is_kept)
{
	struct finder *finder = self;
	struct scan *scan = &finder->scan;
	bool is_directory = type == FILE_DIRECTORY;
	enum walk_step step = is_directory ? WALK_DESCEND : WALK_SKIP;
	struct scan_finding finding = { 0 };
	uninitialised char path[SCAN_PATH_BYTES];

	*is_kept = false;
	(void)scan_note_git_part(scan, directory, name, type);
	/* A longer path fails the walk, and the host's programs cannot name it either. */
	if (is_directory && strlen(directory) + strlen(name) + 1 >= PATH_MAX)
		return WALK_SKIP;
	if (is_plain(scan, name, type)) {
		if (is_directory)
			scan_note_git_search(scan, directory, name);
		return step;
	}
	if (!path_join_into(path, sizeof path, directory, name))
		return WALK_SKIP; /* the host's programs cannot name it either */
	/* A grant in this one is searched, or not, by its own kind; it was there at launch. */
	if (scan->has_inner_grants && scan_is_grant(scan->plan, path))
		return WALK_SKIP;
	if (type == FILE_UNKNOWN)
		scan_record(scan, &finder->closed, path, FILE_DIRECTORY, &rule_unsearchable);
	if (is_mark(name))
		scan_record(scan, &finder->marks, path, type, &rule_marker);
	if (type == FILE_SYMLINK)
		record_link(finder, &finder->links, path, type);
	if (scan_has_candidate(scan, name))
		finding = scan_judge(scan, path, name, is_directory);
	if (finding.protected_by)
		scan_record(scan, &scan->locked, path, type, finding.protected_by);
	return leave(finder, &finding, directory, name, path, step);
}

static enum walk_step visit_plainly(void *self, const char *directory, const char *name, enum file_type type)
{
	bool ignored;
	return visit(self, directory, name, type, &ignored);
}

static void count(void *self, uint64_t directories, uint64_t files)
{
	(void)self;
	(void)directories;
	(void)files;
}

static int search(struct finder *finder, const char *root, struct error *err)
{
	struct scan *scan = &finder->scan;
	const struct filesystem *fs = scan->plan->context.fs;
	const struct walk_visitor visitor = { .visit = visit, .count = count, .self = finder };
	if (scan->memory && fs->walk_indexed)
		return fs->walk_indexed(fs, root, &visitor, scan->memory, err);
	return fs->walk(fs, root, visit_plainly, finder, err);
}

static int compare_paths(const void *left, const void *right)
{
	return strcmp(((const struct plan_match *)left)->path, ((const struct plan_match *)right)->path);
}

static struct plan_matches sorted(const struct scan_matches *matches)
{
	if (matches->count > 0)
		qsort(matches->items, matches->count, sizeof *matches->items, compare_paths);
	return (struct plan_matches){ matches->items, matches->count };
}

int scan_writable(const struct plan *plan, struct tree_index *index, struct scan_found *found, struct error *err)
{
	struct scan_results unused = plan_not_scanned;
	/* A denied directory is not entered; a denied file is no concern of the host. */
	struct finder finder = { .scan = { .plan = plan, .results = &unused, .memory = index, .ignores_deny = true } };
	struct scan *scan = &finder.scan;
	int status = 0;

	*found = (struct scan_found){ 0 };
	scan->case_fold = plan_folds_case(plan);
	pthread_mutex_init(&scan->lock, NULL);
	if (plan->scan->names)
		scan->index = *plan->scan->names;
	else
		scan_prepare_names(scan);
	for (size_t i = 0; i < plan->grants.count && status == 0; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		if (grant->type != FILE_DIRECTORY || grant->kind != GRANT_WRITE)
			continue;
		scan->root = grant;
		scan->has_inner_grants = scan_has_inner_grants(plan, grant->path);
		status = search(&finder, grant->path, err);
	}
	found->protected = sorted(&scan->locked);
	found->marks = sorted(&finder.marks);
	found->links = sorted(&finder.links);
	found->closed = sorted(&finder.closed);
	found->pruned = sorted(&finder.pruned);
	scan_finish_git_parts(scan, &found->git_seen);
	found->has_all_links = !finder.has_too_many_links;
	found->is_incomplete = scan->has_too_many;
	pthread_mutex_destroy(&scan->lock);
	return status;
}
