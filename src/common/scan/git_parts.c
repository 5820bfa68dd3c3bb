/* SPDX-License-Identifier: Apache-2.0 */
/* Notes which names that git obeys a search has seen in a directory called `.git`. The sweep then
 * inspects only those, not every name in every repository. The search keeps them in the tree index:
 * without a change of the directory they are known without a system call. A name that is not noted
 * is absent, so in doubt a name is noted. */
#include "common/scan/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/cleanup.h"

/* Directories in which names are noted, and the names; NULL: all of them. */
static const char *const names_of_git[] = { "hooks",	"config",	"config.worktree", "commondir",	   "info", "remotes",
					    "branches", "rebase-merge", "sequencer",	   "rebase-apply", NULL };
static const char *const names_of_info[] = { "attributes", NULL };
#define PLACE(end, names)                                                                                                      \
	{                                                                                                                      \
		end, sizeof end - 1, names                                                                                     \
	}
static const struct place {
	const char *end; /* of the directory's path */
	size_t length;
	const char *const *names;
} places[] = {
	PLACE("/.git", names_of_git),
	PLACE("/.git/info", names_of_info),
	PLACE("/.git/remotes", NULL),
	PLACE("/.git/branches", NULL),
};
#undef PLACE

static const struct place *place_of(const char *directory)
{
	size_t length = strlen(directory);
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		const struct place *place = &places[i];
		/* The last byte decides for nearly every directory of a tree. */
		if (length >= place->length && directory[length - 1] == place->end[place->length - 1] &&
		    memcmp(directory + length - place->length, place->end, place->length) == 0)
			return place;
	}
	return NULL;
}

/* A file system that ignores case may also take other letters for these, and ignore some
 * characters; all of those are outside of ASCII. */
static bool is_plain(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name >= 0x80)
			return false;
	return true;
}

/* Noted for an entry that may stand for any name. */
static const char any_name[] = "?";

/* Returns the spelling under which the entry is noted; NULL if it is not noted. */
static const char *noted_name(const struct place *place, const char *name)
{
	if (!place->names)
		return name;
	for (size_t i = 0; place->names[i]; i++)
		if (strcasecmp(name, place->names[i]) == 0)
			return place->names[i];
	return is_plain(name) ? NULL : any_name;
}

/* Too many are no failure: then the sweep inspects every name. */
static void note(struct scan *scan, struct scan_matches *list, const char *path, enum file_type type)
{
	pthread_mutex_lock(&scan->lock);
	if (list->count == SCAN_MATCHES_MAX)
		scan->has_too_many_parts = true;
	else
		*(struct plan_match *)arena_push(scan->plan->arena, list) =
			(struct plan_match){ .path = arena_copy(scan->plan->arena, path), .type = type, .rule = &rule_marker };
	pthread_mutex_unlock(&scan->lock);
}

bool scan_note_git_part(struct scan *scan, const char *directory, const char *name, enum file_type type)
{
	const struct place *place = scan->root->kind == GRANT_WRITE ? place_of(directory) : NULL;
	const char *noted = place ? noted_name(place, name) : NULL;
	uninitialised char path[SCAN_PATH_BYTES];
	if (!noted)
		return false;
	if (path_join_into(path, sizeof path, directory, noted))
		note(scan, &scan->git_parts, path, strcmp(name, noted) == 0 ? type : FILE_UNKNOWN);
	else
		scan->has_too_many_parts = true;
	return true;
}

void scan_note_git_search(struct scan *scan, const char *directory, const char *name)
{
	uninitialised char path[SCAN_PATH_BYTES];
	if (strcmp(name, ".git") != 0 && !place_of(directory))
		return;
	if (scan->root->kind == GRANT_WRITE && path_join_into(path, sizeof path, directory, name) && place_of(path))
		note(scan, &scan->git_searched, path, FILE_DIRECTORY);
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

/* scan_git has sorted them; a directory with a HEAD is FILE_ABSENT. */
void scan_list_git_entries(const struct scan *scan)
{
	struct scan_results *results = scan->results;
	for (size_t i = 0; i < scan->gits.count; i++)
		if (scan->gits.items[i].type != FILE_ABSENT)
			*(struct plan_match *)arena_push(scan->plan->arena, &results->git_entries) = scan->gits.items[i];
	for (size_t i = 0; i < scan->unsearched.count; i++)
		if (scan->unsearched.items[i].is_writable)
			*(struct plan_match *)arena_push(scan->plan->arena, &results->unsearched) = (struct plan_match){
				.path = scan->unsearched.items[i].path, .type = FILE_DIRECTORY, .rule = &rule_marker
			};
}

void scan_finish_git_parts(struct scan *scan, struct plan_git_seen *seen)
{
	*seen = (struct plan_git_seen){ 0 };
	if (scan->has_too_many_parts)
		return;
	seen->searched = sorted(&scan->git_searched);
	seen->parts = sorted(&scan->git_parts);
}

/* Returns the first match that is not before the path. */
static size_t lower_bound(const struct plan_matches *matches, const char *path)
{
	size_t low = 0, high = matches->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(matches->items[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has(const struct plan_matches *matches, const char *path)
{
	size_t at = lower_bound(matches, path);
	return at < matches->count && strcmp(matches->items[at].path, path) == 0;
}

bool scan_git_is_searched(const struct plan_git_seen *seen, const char *directory)
{
	return has(&seen->searched, directory);
}

/* True if the path was not in its directory, which was searched. */
static bool is_unseen(const struct plan_git_seen *seen, const char *directory, const char *path)
{
	uninitialised char any[SCAN_PATH_BYTES];
	return scan_git_is_searched(seen, directory) && !has(&seen->parts, path) &&
	       path_join_into(any, sizeof any, directory, any_name) && !has(&seen->parts, any);
}

bool scan_git_lacks(const struct plan_git_seen *seen, const char *git_directory, const char *part)
{
	uninitialised char path[SCAN_PATH_BYTES], inner[SCAN_PATH_BYTES];
	const char *slash = strchr(part, '/');
	size_t length;
	if (!path_join_into(path, sizeof path, git_directory, part))
		return false;
	if (!slash)
		return is_unseen(seen, git_directory, path);
	length = strlen(path) - strlen(slash);
	memcpy(inner, path, length);
	inner[length] = '\0';
	return is_unseen(seen, git_directory, inner) || (place_of(inner) && is_unseen(seen, inner, path));
}

bool scan_git_has(const struct plan_git_seen *seen, const char *git_directory, const char *part)
{
	uninitialised char path[SCAN_PATH_BYTES];
	if (!path_join_into(path, sizeof path, git_directory, part))
		return false;
	for (size_t at = lower_bound(&seen->parts, path);
	     at < seen->parts.count && strcmp(seen->parts.items[at].path, path) == 0; at++)
		if (seen->parts.items[at].type != FILE_UNKNOWN)
			return true;
	return false;
}

bool scan_git_is_empty(const struct plan_git_seen *seen, const char *directory)
{
	size_t at = lower_bound(&seen->parts, directory), length = strlen(directory);
	if (!scan_git_is_searched(seen, directory))
		return false;
	for (; at < seen->parts.count && strncmp(seen->parts.items[at].path, directory, length) == 0; at++)
		if (seen->parts.items[at].path[length] == '/')
			return false;
	return true;
}
