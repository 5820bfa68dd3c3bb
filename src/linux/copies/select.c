/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes an apply takes, and by which operations. Decides from the list alone: never opens a
 * file. */
#include "linux/copies/internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"

/* True if `path` is `directory` or below it. "." is everything. */
static bool is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);
	if (strcmp(directory, ".") == 0)
		return true;
	return strncmp(path, directory, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

static bool is_covered(const char *path, const char *const *paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_below(path, paths[i]))
			return true;
	return false;
}

/* True if the user asked for this change, or for an entry of this new directory. */
static bool is_asked_for(const struct copy_change *change, const struct copy_apply_options *options)
{
	const char *const *paths = (const char *const *)options->paths;
	if (options->path_count == 0 || is_covered(change->unit ? change->unit : change->path, paths, options->path_count))
		return true;
	if (change->unit)
		return false;
	if (is_covered(change->path, paths, options->path_count))
		return true;
	if (change->kind != COPY_ADDED || change->after.type != FILE_DIRECTORY)
		return false;
	for (size_t i = 0; i < options->path_count; i++)
		if (is_below(paths[i], change->path))
			return true;
	return false;
}

/* Refuses a path inside a git directory, and one that names no change. */
static int check_paths(struct arena *arena, const struct copy_changes *changes, const struct copy_apply_options *options,
		       struct error *err)
{
	for (size_t p = 0; p < options->path_count; p++) {
		const char *path = options->paths[p], *unit = NULL;
		bool is_found = changes->count == 0 || strcmp(path, ".") == 0;
		for (size_t i = 0; i < changes->count; i++) {
			const struct copy_change *change = &changes->items[i];
			is_found |= is_below(change->path, path);
			if (change->unit && !is_below(change->unit, path) && is_below(path, change->unit))
				unit = change->unit;
		}
		if (unit) {
			error_set(err, "%s cannot be applied alone", text_visible(arena, path));
			return error_hint(err, "a git directory is applied as a whole: %s", text_visible(arena, unit));
		}
		if (!is_found)
			return error_set(err, "the copy does not change %s", text_visible(arena, path));
	}
	return 0;
}

/* True if a conflict stops the apply. */
static bool is_blocking(const struct copy_change *change, const struct copy_apply_options *options)
{
	if (!change->conflict || change->refused)
		return false;
	if (is_covered(change->path, options->ours, options->ours_count))
		return false;
	return change->keeps_ours || !is_covered(change->path, options->theirs, options->theirs_count);
}

static bool is_taken(const struct copy_change *change, const struct copy_apply_options *options)
{
	bool is_ours = change->conflict && is_covered(change->path, options->ours, options->ours_count);
	return is_asked_for(change, options) && !change->refused && !is_ours;
}

/* Leaves out what lies below a directory that is left out, and the rest of a git directory of which
 * something is left out. */
static void spread(const struct copy_changes *changes, bool *is_chosen)
{
	for (size_t i = 0; i < changes->count; i++) {
		const struct copy_change *change = &changes->items[i];
		bool is_directory = change->kind != COPY_MODE &&
				    (change->after.type == FILE_DIRECTORY || change->before.type == FILE_DIRECTORY);
		if (is_chosen[i] || !is_directory)
			continue;
		for (size_t k = i + 1; k < changes->count && is_below(changes->items[k].path, change->path); k++)
			is_chosen[k] = false;
	}
	for (size_t start = 0, end; start < changes->count; start = end) {
		const char *unit = changes->items[start].unit;
		bool is_whole = true;
		for (end = start; end < changes->count && changes->items[end].unit == unit; end++)
			is_whole &= is_chosen[end];
		for (size_t k = start; unit && !is_whole && k < end; k++)
			is_chosen[k] = false;
	}
}

int select_changes(struct arena *arena, const struct copy_changes *changes, const struct copy_apply_options *options,
		   bool *is_chosen, struct copy_report *report, struct error *err)
{
	if (check_paths(arena, changes, options, err) < 0)
		return -1;
	for (size_t i = 0; i < changes->count; i++) {
		const struct copy_change *change = &changes->items[i];
		is_chosen[i] = is_taken(change, options);
		report->refused += is_asked_for(change, options) && change->refused;
		report->conflicts += is_asked_for(change, options) && is_blocking(change, options);
	}
	spread(changes, is_chosen);
	for (size_t i = 0; i < changes->count; i++) {
		report->applied += is_chosen[i];
		report->skipped += !is_chosen[i] && !changes->items[i].refused;
	}
	return 0;
}

/* An operation with what decides about its place. */
struct planned {
	struct journal_operation operation;
	const char *unit;
	unsigned rank;
	size_t index;
};
struct planned_list {
	struct planned *items;
	size_t count;
};

/* In a git directory: what is referred to comes before what refers to it, and goes after it. */
enum rank {
	RANK_OUTSIDE,
	RANK_OBJECTS,
	RANK_OTHER,
	RANK_REFS,
	RANK_HEAD,
	RANK_LOGS,
	RANK_INDEX,
	RANK_DELETED_REFS,
	RANK_DELETED,
	RANK_CLOSED, /* directories that the user cannot change any more */
};

static bool has_component(const char *path, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (strncmp(at, name, length) == 0 && (at[length] == '/' || at[length] == '\0'))
			return true;
	}
	return false;
}

static enum rank rank_of(const char *unit, const char *path, bool is_removal)
{
	const char *inside, *base;
	if (!unit)
		return RANK_OUTSIDE;
	inside = path + strlen(unit);
	base = strrchr(path, '/');
	base = base ? base + 1 : path;
	if (is_removal)
		return has_component(inside, "refs") ? RANK_DELETED_REFS : RANK_DELETED;
	if (has_component(inside, "logs"))
		return RANK_LOGS;
	if (has_component(inside, "objects"))
		return RANK_OBJECTS;
	if (has_component(inside, "refs") || strcmp(base, "packed-refs") == 0)
		return RANK_REFS;
	if (strcmp(base, "HEAD") == 0)
		return RANK_HEAD;
	return strcmp(base, "index") == 0 ? RANK_INDEX : RANK_OTHER;
}

static void add_operation(struct arena *arena, struct planned_list *list, const struct copy_change *change,
			  enum journal_kind kind, bool is_last)
{
	struct planned *planned = arena_push(arena, list);
	planned->unit = change->unit;
	planned->index = list->count;
	planned->rank = rank_of(change->unit, change->path, is_last);
	if (change->unit && (kind == JOURNAL_MAKE_DIRECTORY || (kind == JOURNAL_DELETE && !is_last)))
		planned->rank = RANK_OBJECTS;
	if (kind == JOURNAL_SET_MODE && change->after.type == FILE_DIRECTORY && (change->after.mode & 0700) != 0700)
		planned->rank = RANK_CLOSED;
	planned->operation = (struct journal_operation){
		.kind = kind,
		.path = change->path,
		.source = kind == JOURNAL_DELETE ? 0 : change->after.identity.inode,
		.parent = change->parent,
		.before_mode = change->before.mode,
		.after_mode = change->after.mode,
		.is_used_again = kind == JOURNAL_DELETE && !is_last,
		.is_directory = (kind == JOURNAL_DELETE ? change->before.type : change->after.type) == FILE_DIRECTORY,
	};
	if (kind != JOURNAL_ADD && kind != JOURNAL_MAKE_DIRECTORY)
		planned->operation.before = change->before.identity;
}

/* Returns the index behind the entries of a directory. `is_whole` tells whether all are chosen. */
static size_t find_end(const struct copy_changes *changes, const bool *is_chosen, size_t index, bool *is_whole)
{
	size_t end = index + 1;
	*is_whole = true;
	while (end < changes->count && is_below(changes->items[end].path, changes->items[index].path))
		*is_whole &= is_chosen[end++];
	return end;
}

/* Adds a directory as a whole if that is possible. Returns the index of the next change. */
static size_t add_directory(struct arena *arena, struct planned_list *list, const struct copy_changes *changes,
			    const bool *is_chosen, size_t index, bool is_copied)
{
	const struct copy_change *change = &changes->items[index];
	bool is_whole;
	size_t end = find_end(changes, is_chosen, index, &is_whole);

	if (is_whole && !is_copied) {
		add_operation(arena, list, change, JOURNAL_ADD, false);
		return end;
	}
	add_operation(arena, list, change, JOURNAL_MAKE_DIRECTORY, false);
	return index + 1;
}

/* Adds the operations of one change. Returns the index of the next one. */
static size_t add_change(struct arena *arena, struct planned_list *list, const struct copy_changes *changes,
			 const bool *is_chosen, size_t index, bool is_copied)
{
	const struct copy_change *change = &changes->items[index];
	bool is_directory = change->after.type == FILE_DIRECTORY, is_whole;

	switch (change->kind) {
	case COPY_ADDED:
		if (is_directory)
			return add_directory(arena, list, changes, is_chosen, index, is_copied);
		add_operation(arena, list, change, JOURNAL_ADD, false);
		return index + 1;
	case COPY_MODIFIED:
		add_operation(arena, list, change, JOURNAL_REPLACE, false);
		return index + 1;
	case COPY_MODE:
		add_operation(arena, list, change, JOURNAL_SET_MODE, false);
		return index + 1;
	case COPY_DELETED:
		add_operation(arena, list, change, JOURNAL_DELETE, true);
		return find_end(changes, is_chosen, index, &is_whole);
	case COPY_RETYPED:
		if (is_directory) {
			add_operation(arena, list, change, JOURNAL_DELETE, false);
			return add_directory(arena, list, changes, is_chosen, index, is_copied);
		}
		add_operation(arena, list, change, JOURNAL_REPLACE, false);
		return find_end(changes, is_chosen, index, &is_whole);
	}
	return index + 1;
}

/* Operations outside git directories first, in the order of the list. */
static int compare_planned(const void *left, const void *right)
{
	const struct planned *one = left, *two = right;
	if (one->rank != two->rank)
		return one->rank < two->rank ? -1 : 1;
	return one->index < two->index ? -1 : one->index > two->index;
}

void select_operations(struct arena *arena, const struct copy_changes *changes, const bool *is_chosen, struct journal *journal)
{
	struct planned_list list = { 0 };
	for (size_t i = 0; i < changes->count;)
		i = is_chosen[i] ? add_change(arena, &list, changes, is_chosen, i, journal->is_copied) : i + 1;
	if (list.count > 0)
		qsort(list.items, list.count, sizeof *list.items, compare_planned);
	for (size_t i = 0; i < list.count; i++)
		*(struct journal_operation *)arena_push(arena, journal) = list.items[i].operation;
	for (size_t i = 0; i < changes->count; i++)
		if (is_chosen[i] && changes->items[i].kind != COPY_ADDED)
			journal->bytes += changes->items[i].before.size;
}
