/* SPDX-License-Identifier: Apache-2.0 */
/* Matches of the patterns in the tree as it is now: files.deny becomes a list of hidden paths,
 * files.protect a list of read-only paths. This file completes the lists: links are followed, and
 * each path is listed once, in order. Reads names, and the content of
 * files that files.public names. The lists are the same for the same tree,
 * whatever the order of the threads. */
#include "common/scan/internal.h"

#include <stdlib.h>
#include <string.h>

void scan_note(struct scan *scan, const struct rule *rule, const char *text)
{
	struct plan_note *note = arena_push(scan->plan->arena, &scan->results->notes);
	*note = (struct plan_note){ .kind = NOTE_OTHER, .text = text, .rule = rule };
}

void scan_record(struct scan *scan, struct scan_matches *matches, const char *path, enum file_type type,
		 const struct rule *rule)
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

bool scan_holds_grant(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (path_is_within(plan->grants.items[i].path, path))
			return true;
	return false;
}

/* Records every link on the path to a hidden or locked file, dangling links too: the host uses
 * their names. */
static void record_followed(struct scan *scan, const struct plan_match *link, const struct path_links *passed)
{
	scan_record(scan, &scan->followed, link->path, FILE_SYMLINK, link->rule);
	for (size_t i = 0; i < passed->count; i++)
		scan_record(scan, &scan->followed, passed->items[i].path, FILE_SYMLINK, link->rule);
}

void scan_check_state(struct scan *scan, const char *link, const char *target)
{
	if (plan_has_mounts(scan->plan) && path_is_within(target, scan->plan->context.state_directory) &&
	    (!scan->state_link || strcmp(link, scan->state_link) < 0))
		scan->state_link = link;
}

/* A mask cannot be mounted on a symlink. Its target is hidden or locked instead, if it is visible
 * at all. */
static void follow_links(struct scan *scan, const struct scan_matches *links, struct scan_matches *matches,
			 enum grant_kind lowest)
{
	const struct plan *plan = scan->plan;
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
		if (resolved == 0)
			scan_check_state(scan, link->path, target);
		if (resolved < 0 || info.type == FILE_ABSENT)
			continue;
		grant = plan_grant_for(plan, target);
		if (!grant || grant->kind < lowest || (info.type == FILE_UNKNOWN && grant->kind != GRANT_WRITE))
			continue;
		if (scan_holds_grant(plan, target)) {
			scan_note(scan, link->rule,
				  arena_printf(plan->arena, "%s leads to %s, which is granted as a whole and stays visible",
					       link->path, target));
			continue;
		}
		scan_record(scan, matches, target, info.type, link->rule);
		scan_note(scan, link->rule,
			  arena_printf(plan->arena, "%s is a symlink: its target %s is %s", link->path, target, done));
	}
}

/* A rule of a policy file comes before a built-in one: its position helps the user more. */
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
	/* The choice between several rules must not depend on the threads. */
	return order ? order : compare_rules(a->rule, b->rule);
}

/* Sorts the list and drops paths that are below another. */
static void finish_list(struct scan_matches *matches, struct plan_matches *out)
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

static void drop_masked(const struct plan_matches *masked, struct scan_matches *locked)
{
	size_t kept = 0;
	for (size_t i = 0; i < locked->count; i++)
		if (!scan_find_above(masked, locked->items[i].path))
			locked->items[kept++] = locked->items[i];
	locked->count = kept;
}

/* A locked or opened path on the way from the root of a grant to the next one. */
struct layer_match {
	struct plan_match match;
	bool is_opened;
};

static int compare_layers(const void *left, const void *right)
{
	const struct layer_match *a = left, *b = right;
	int order = scan_compare_paths(a->match.path, b->match.path);
	if (order)
		return order;
	/* A path that is both is locked. */
	return a->is_opened != b->is_opened ? (int)b->is_opened - (int)a->is_opened
					    : compare_rules(a->match.rule, b->match.rule);
}

static struct layer_match *sort_layers(const struct scan *scan, size_t *count)
{
	struct layer_match *layers;
	*count = scan->locked.count + scan->opened.count;
	layers = arena_alloc(scan->plan->arena, (*count + 1) * sizeof *layers);
	for (size_t i = 0; i < *count; i++)
		layers[i] = i < scan->locked.count ? (struct layer_match){ scan->locked.items[i], false }
						   : (struct layer_match){ scan->opened.items[i - scan->locked.count], true };
	if (*count > 0)
		qsort(layers, *count, sizeof *layers, compare_layers);
	return layers;
}

/* An opening counts in a directory that is locked by its own name, not in the target of a protected
 * symlink. */
static bool may_open(struct scan *scan, const struct layer_match *around, const struct plan_match *opening)
{
	const struct plan *plan = scan->plan;
	if (!around || around->is_opened || !plan_protected_by(plan, around->match.path, around->match.type == FILE_DIRECTORY))
		return false;
	if (scan->results->opened.count < SCAN_OPENED_MAX)
		return true;
	if (!scan->has_too_many_opened)
		scan_note(scan, opening->rule,
			  arena_printf(plan->arena,
				       "more than %d paths would stay writable in protected directories: %s and "
				       "the following ones are read-only",
				       SCAN_OPENED_MAX, opening->path));
	scan->has_too_many_opened = true;
	return false;
}

/* Completes both lists: in each other's directories locked and opened paths alternate, and a path
 * that changes nothing is dropped. */
static void finish_locked(struct scan *scan)
{
	struct scan_results *results = scan->results;
	size_t count, depth = 0, *around;
	struct layer_match *layers = sort_layers(scan, &count);

	around = arena_alloc(scan->plan->arena, (count + 1) * sizeof *around);
	for (size_t i = 0; i < count; i++) {
		const struct layer_match *outer;
		bool is_kept;
		while (depth > 0 && !path_is_within(layers[i].match.path, layers[around[depth - 1]].match.path))
			depth--;
		outer = depth > 0 ? &layers[around[depth - 1]] : NULL;
		is_kept = layers[i].is_opened ? may_open(scan, outer, &layers[i].match) : !outer || outer->is_opened;
		if (!is_kept)
			continue;
		around[depth++] = i;
		*(struct plan_match *)arena_push(scan->plan->arena, layers[i].is_opened ? &results->opened : &results->locked) =
			layers[i].match;
	}
}

static int compare_plainly(const void *left, const void *right)
{
	return strcmp(((const struct plan_match *)left)->path, ((const struct plan_match *)right)->path);
}

/* The plan's lists are in byte order, so that they can be merged. */
static void sort_by_path(struct plan_matches *matches)
{
	if (matches->count > 0)
		qsort(matches->items, matches->count, sizeof *matches->items, compare_plainly);
}

/* Returns the outermost of those matches that lie below one of `around`, or of all without it. */
static struct plan_matches outermost(const struct scan *scan, const struct scan_matches *matches,
				     const struct plan_matches *around)
{
	struct scan_matches copy = { 0 };
	struct plan_matches found = { 0 };
	for (size_t i = 0; i < matches->count; i++)
		if (!around || scan_find_above(around, matches->items[i].path))
			*(struct plan_match *)arena_push(scan->plan->arena, &copy) = matches->items[i];
	finish_list(&copy, &found);
	return found;
}

/* A read-only mount does not stop a write to a FIFO: those that are protected, or below a protected
 * directory, are hidden. In a part of it that stays writable, only those below a further protected
 * directory. */
static void mask_fifos(struct scan *scan)
{
	struct plan_matches locked, opened, inner;
	if (scan->fifos.count == 0)
		return;
	locked = outermost(scan, &scan->locked, NULL);
	opened = outermost(scan, &scan->opened, NULL);
	inner = outermost(scan, &scan->locked, &opened);
	for (size_t i = 0; i < scan->fifos.count; i++) {
		const char *path = scan->fifos.items[i].path;
		if (scan_find_above(&inner, path) || (scan_find_above(&locked, path) && !scan_find_above(&opened, path)))
			scan_record(scan, &scan->masked, path, FILE_FIFO, &rule_host_fifo);
	}
}

/* FIFOs that were found through a protected symlink. */
static void mask_locked_fifos(struct scan *scan)
{
	for (size_t i = 0; i < scan->locked.count; i++)
		if (scan->locked.items[i].type == FILE_FIFO)
			scan_record(scan, &scan->masked, scan->locked.items[i].path, FILE_FIFO, &rule_host_fifo);
}

/* For the search after the run. */
static void keep_names(struct scan *scan)
{
	struct name_filter *names = arena_alloc(scan->plan->arena, sizeof *names);
	*names = scan->index;
	scan->results->names = names;
}

static int finish(struct scan *scan, struct error *err)
{
	const struct plan *plan = scan->plan;
	struct scan_results *results = scan->results;
	scan_judge_files(scan);
	follow_links(scan, &scan->denied_links, &scan->masked, GRANT_READ);
	follow_links(scan, &scan->protected_links, &scan->locked, GRANT_WRITE);
	mask_fifos(scan);
	mask_locked_fifos(scan);
	finish_list(&scan->masked, &results->masked);
	scan_snapshots(scan);
	finish_list(&scan->masked, &results->masked);
	if (scan_hard_links(plan, results, err) < 0)
		return -1;
	scan_finish_judged(scan);
	drop_masked(&results->masked, &scan->locked);
	drop_masked(&results->masked, &scan->opened);
	finish_locked(scan);
	if (!scan_pin(plan, results, &(struct plan_matches){ scan->followed.items, scan->followed.count }))
		scan->has_too_many = true;
	if (results->masked.count + results->locked.count + results->pinned.count > SCAN_MOUNTS_MAX)
		scan->has_too_many = true;
	sort_by_path(&results->masked);
	sort_by_path(&results->locked);
	sort_by_path(&results->opened);
	scan_list_places(scan);
	keep_names(scan);
	scan_finish_git_parts(scan, &results->git_seen);
	scan_list_git_entries(scan);
	results->directories = scan->directories;
	results->files = scan->files;
	if (scan->state_link) {
		error_set(err, "%s is a symlink into berm's state: commands could read there what the host writes through it",
			  scan->state_link);
		return error_hint(err, "remove it: rm %s", scan->state_link);
	}
	if (scan->has_too_long) {
		error_set(err, "a granted directory has a path of nearly %d bytes: what is hidden in it cannot be found",
			  SCAN_PATH_BYTES);
		return error_hint(err, "move it to a place with a shorter path");
	}
	if (scan->has_too_many)
		return scan_too_many(plan, results, err);
	return 0;
}

int plan_scan(struct plan *plan, struct error *err)
{
	struct scan_results *results = arena_alloc(plan->arena, sizeof *results);
	plan->scan = results;
	return scan_project(plan, NULL, results, err);
}

int scan_project(const struct plan *plan, struct tree_index *index, struct scan_results *results, struct error *err)
{
	struct scan scan = { .plan = plan, .results = results, .memory = index, .case_fold = plan_folds_case(plan) };
	int status;

	*results = plan_not_scanned;
	pthread_mutex_init(&scan.lock, NULL);
	status = scan_search(&scan, err);
	if (status == 0)
		status = scan_look_up(&scan, err);
	if (status == 0)
		status = scan_hide_root_only(&scan, err);
	if (status == 0) {
		scan_hide_sockets(&scan);
		scan_git(&scan);
		status = finish(&scan, err);
	}
	pthread_mutex_destroy(&scan.lock);
	return status;
}
