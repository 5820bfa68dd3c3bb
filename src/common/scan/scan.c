/* SPDX-License-Identifier: Apache-2.0 */
/* What the patterns match now: files.deny becomes a list of what is hidden, files.protect a list of what is read-only. Here the lists are
 * put together: links are followed, each path stands once and in order. Reads names, nothing else; the lists come out the same for
 * the same tree, whatever the threads do. */
#include "common/scan/internal.h"

#include <stdlib.h>
#include <string.h>

static void add_note(struct scan *scan, enum note_kind kind, const struct rule *rule, const char *text)
{
	struct plan_note *note = arena_push(scan->plan->arena, &scan->plan->notes);
	*note = (struct plan_note){ .kind = kind, .text = text, .rule = rule };
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
	scan_record(scan, &scan->followed, link->path, FILE_SYMLINK, link->rule);
	for (size_t i = 0; i < passed->count; i++)
		scan_record(scan, &scan->followed, passed->items[i].path, FILE_SYMLINK, link->rule);
}

/* A mask or lock cannot lie on a link. What it leads to is hidden or locked instead, if it is visible at all. */
static void follow_links(struct scan *scan, const struct scan_matches *links, struct scan_matches *matches,
			 enum grant_kind lowest)
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
		scan_record(scan, matches, target, info.type, link->rule);
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
	if (plan_scan_again(plan, NULL, err) < 0)
		return -1;
	plan_add_documents(plan);
	return 0;
}

int plan_scan_again(struct plan *plan, struct walk_memory *memory, struct error *err)
{
	struct scan scan = { .plan = plan, .memory = memory, .case_fold = plan_folds_case(plan) };
	int result;

	plan->masked = plan->locked = plan->pinned = (struct plan_matches){ 0 };
	plan->documents = (struct plan_documents){ 0 };
	pthread_mutex_init(&scan.lock, NULL);
	result = scan_search(&scan, err);
	if (result == 0)
		result = scan_look_up(&scan, err);
	if (result == 0)
		result = scan_hide_root_only(&scan, err);
	if (result == 0)
		result = finish(&scan, err);
	pthread_mutex_destroy(&scan.lock);
	return result;
}
