/* SPDX-License-Identifier: Apache-2.0 */
/* Symlinks in git directories. The host's git writes through one: the message of a commit through
 * COMMIT_EDITMSG, a line of the reflog through logs/HEAD, every branch through packed-refs. The
 * command chooses the target and, by SQUASH_MSG or the name of a branch, the text. git makes no
 * such link itself. */
#include "common/sweep/internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/fs/path.h"
#include "common/fs/posix.h"

static const char reason[] = "git would write through this link, which was not there at launch";

static const char *target_of(struct arena *arena, const char *path)
{
	char target[PATH_MAX];
	ssize_t size = readlink(path, target, sizeof target);
	return size < 0 || (size_t)size == sizeof target ? NULL : arena_copy_n(arena, target, (size_t)size);
}

void links_note(struct arena *arena, struct sweep_facts *facts, const struct plan_matches *links)
{
	for (size_t i = 0; i < links->count; i++) {
		const char *target = target_of(arena, links->items[i].path);
		if (target)
			facts_add(arena, facts, FACT_LINK, links->items[i].path, target);
	}
}

/* The oldest form of a HEAD: a link to its branch, in the same directory. */
static bool is_old_head(const char *rest, const char *target)
{
	return strcmp(rest, "HEAD") == 0 && text_starts_with(target, "refs/heads/") && !strstr(target, "..");
}

/* Objects are written under temporary names and never over an existing file. */
static bool is_object(const char *rest)
{
	return text_starts_with(rest, "objects/") && strcmp(rest, "objects/info") != 0 &&
	       !text_starts_with(rest, "objects/info/");
}

static bool is_fine(struct look *look, const char *directory, const char *path)
{
	const char *rest = path + strlen(directory) + 1, *target = target_of(look->arena, path);
	return facts_was_present(look->arena, look->baseline, path) || is_object(rest) ||
	       (target && (is_old_head(rest, target) || facts_have(look->arena, look->baseline, FACT_LINK, path, target)));
}

/* Returns the innermost git directory around the path, or NULL. */
static const char *directory_of(const struct look *look, const char *path)
{
	const char *best = NULL;
	for (size_t i = 0; i < look->directories.count; i++) {
		const char *directory = look->directories.items[i].git.path;
		if (path_is_within(path, directory) && strcmp(path, directory) != 0 &&
		    (!best || strlen(directory) > strlen(best)))
			best = directory;
	}
	return best;
}

static void look_at(struct look *look, const char *path)
{
	const char *directory = directory_of(look, path);
	struct sweep_question question = { .kind = SWEEP_GIT_PART };
	if (!directory)
		return;
	question.was_there = is_fine(look, directory, path);
	if (sweep_judge(&question) == SWEEP_QUARANTINE)
		act_move(look, path, reason);
}

/* Calls act for each match below the directory. The matches are in the order of their paths: those
 * below a directory follow each other. */
static void for_each_below(struct look *look, const struct plan_matches *matches, const char *directory,
			   void (*act)(struct look *look, const char *path))
{
	const char *start = arena_printf(look->arena, "%s/", directory);
	size_t low = 0, high = matches->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(matches->items[middle].path, start) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < matches->count && text_starts_with(matches->items[low].path, start); low++)
		act(look, matches->items[low].path);
}

static int compare_mark(const void *path, const void *mark)
{
	return strcmp(path, ((const struct plan_match *)mark)->path);
}

/* True if the search after the run has listed this directory, or has its entries from the index. */
static bool is_searched(const struct look *look, const char *directory)
{
	const struct plan_matches *marks = &look->found.marks;
	return scan_git_is_searched(&look->found.git_seen, directory) ||
	       (marks->count > 0 && bsearch(path_join(look->arena, directory, "HEAD"), marks->items, marks->count,
					    sizeof *marks->items, compare_mark));
}

static enum walk_step visit(void *self, const char *directory, const char *name, enum file_type type)
{
	struct look *look = self;
	if (type == FILE_SYMLINK)
		*(const char **)arena_push(look->arena, &look->unsearched_links) = path_join(look->arena, directory, name);
	return type == FILE_DIRECTORY && !text_ends_with(directory, "/objects") ? WALK_DESCEND : WALK_SKIP;
}

/* A directory where names are not searched. */
static void look_through(struct look *look, const char *directory)
{
	struct error ignored = { 0 };
	look->unsearched_links.count = 0;
	(void)filesystem_posix_walk(look->plan->context.fs, directory, visit, look, &ignored);
	for (size_t i = 0; i < look->unsearched_links.count; i++)
		look_at(look, look->unsearched_links.items[i]);
}

/* A directory below `.git` that the search skips. Of the objects only `info` is written in
 * place. */
static void look_at_pruned(struct look *look, const char *path)
{
	struct stat info;
	if (text_ends_with(path, "/.git/objects"))
		path = path_join(look->arena, path, "info");
	if (lstat(path, &info) < 0)
		return;
	if (S_ISLNK(info.st_mode))
		look_at(look, path);
	else if (S_ISDIR(info.st_mode))
		look_through(look, path);
}

static void look_at_searched(struct look *look, const char *directory)
{
	for_each_below(look, &look->found.links, directory, look_at);
	for_each_below(look, &look->found.pruned, directory, look_at_pruned);
}

void links_look(struct look *look)
{
	for (size_t i = 0; i < look->directories.count; i++) {
		const char *directory = look->directories.items[i].git.path;
		if (look->found.has_all_links && is_searched(look, directory))
			look_at_searched(look, directory);
		else
			look_through(look, directory);
	}
}
