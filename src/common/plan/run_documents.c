/* SPDX-License-Identifier: Apache-2.0 */
/* Small files for programs inside, below /run/berm; in the tier landlock in a directory of the
 * state that is readable inside. Of denied files they contain the names only, which the project's
 * directories show anyway. */
#include "common/plan/build.h"
#include "common/plan/held.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"

/* The root of the view has 4 MiB in total. Files whose names do not fit are hidden all the same;
 * `git add -A` then fails on them. */
enum { EXCLUDES_MAX = 1 << 20 };
/* With more skipped directories a look at the disk is cheaper than one at each of them. */
enum { UNSEARCHED_MAX = 64 };

/* True if the directory has a .git entry. */
static bool has_git(const struct plan *plan, const char *directory)
{
	const struct filesystem *fs = plan->context.fs;
	struct file_info info;
	const char *path = path_join(plan->arena, directory, ".git");
	if (fs->is_there)
		return fs->is_there(fs, path);
	return fs->inspect(fs, path, &info) == 0 && info.type != FILE_ABSENT;
}

static int compare_entry(const void *path, const void *entry)
{
	return strcmp(path, ((const struct plan_match *)entry)->path);
}

/* The same for a directory above a hidden file, by what the scan has seen. It has searched each
 * directory above a file that it found, unless that is in a skipped one. */
static bool has_known_git(const struct plan *plan, const char *directory)
{
	const struct plan_matches *entries = &plan->scan->git_entries, *unsearched = &plan->scan->unsearched;
	if (unsearched->count > UNSEARCHED_MAX)
		return has_git(plan, directory);
	for (size_t i = 0; i < unsearched->count; i++)
		if (path_is_within(directory, unsearched->items[i].path))
			return has_git(plan, directory);
	return entries->count > 0 && bsearch(path_join(plan->arena, directory, ".git"), entries->items, entries->count,
					     sizeof *entries->items, compare_entry);
}

/* Adds a line of a gitignore file: anchored, with special characters quoted. */
static void add_ignored(struct text *out, const char *relative)
{
	text_add(out, "/");
	for (; *relative; relative++) {
		if (strchr("\\*?[!# ", *relative))
			text_add(out, "\\");
		text_add_n(out, relative, 1);
	}
	text_add(out, "\n");
}

/* The repositories that contain the current file, and the previous file. */
struct around {
	const char **items;
	size_t count;
	const char *previous;
};

/* Skips the directories that contain the previous file too: they were checked for it. */
static void find_around(const struct plan *plan, struct around *around, const char *root, const char *path)
{
	const char *directory = path;
	size_t kept = 0;
	for (size_t i = 0; i < around->count; i++)
		if (path_is_within(path, around->items[i]))
			around->items[kept++] = around->items[i];
	around->count = kept;
	while (strcmp(directory, root) != 0 && strcmp(directory, "/") != 0) {
		directory = path_parent(plan->arena, directory);
		if (around->previous && path_is_within(around->previous, directory))
			break;
		if (has_known_git(plan, directory))
			*(const char **)arena_push(plan->arena, around) = directory;
	}
	around->previous = path;
}

/* Patterns of core.excludesFile are relative to the repository, so each repository that contains
 * the file gets a line. */
static void add_match(const struct plan *plan, struct around *around, struct text *out, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	if (!grant || grant->kind != GRANT_WRITE || strchr(path, '\n'))
		return;
	find_around(plan, around, grant->path, path);
	for (size_t i = 0; i < around->count && out->length < EXCLUDES_MAX; i++)
		add_ignored(out, path + strlen(around->items[i]) + 1);
}

static void add_document(const struct plan *plan, struct plan_documents *documents, const char *name, struct text *out)
{
	struct plan_document *document = arena_push(plan->arena, documents);
	*document = (struct plan_document){ .path = path_join(plan->arena, plan->state.documents, name),
					    .text = arena_copy(plan->arena, out->data) };
	text_free(out);
}

/* Lists hidden files as ignored, because `git add -A` would fail on them. Nothing is written to the
 * user's repository. The user's own patterns come first, because the last match decides. */
static void add_excludes(const struct plan *plan, struct plan_documents *documents)
{
	const char *own = plan->git_user.ignores;
	struct around around = { 0 };
	struct text out = { 0 };
	if (own)
		text_add(&out, "%s\n", own);
	text_add(&out, "# Files that berm hides in this project; git cannot read them here.\n");
	for (size_t i = 0; i < plan->scan->masked.count && out.length < EXCLUDES_MAX; i++)
		add_match(plan, &around, &out, plan->scan->masked.items[i].path);
	add_document(plan, documents, DOCUMENT_GIT_EXCLUDES, &out);
}

/* True if the file is in a git directory. */
static bool is_git_directory(const struct plan *plan, const char *file)
{
	const struct plan_git_directories *list = &plan->scan->git_directories;
	size_t length = strlen(file) - strlen(path_base_name(file)) - 1;
	for (size_t i = 0; i < list->count; i++)
		if (strncmp(list->items[i].common, file, length) == 0 && list->items[i].common[length] == '\0')
			return true;
	return false;
}

bool plan_locks_git_config(const struct plan *plan)
{
	for (size_t i = 0; i < plan->scan->locked.count; i++) {
		const char *path = plan->scan->locked.items[i].path;
		if (strcmp(path_base_name(path), "config") == 0 && (strstr(path, "/.git/") || is_git_directory(plan, path)))
			return true;
	}
	return false;
}

/* Replaces the system's configuration, which it includes. Sets user.name and user.email, which the
 * repository and the private home override, and the socket for git's trace messages, from which
 * berm learns that git was refused. */
static void add_git_config(const struct plan *plan, struct plan_documents *documents)
{
	struct text out = { 0 };
	text_add(&out, "[include]\n\tpath = /etc/gitconfig\n");
	if (plan->home != HOME_HOST && plan->git_user.config)
		text_add(&out, "%s", plan->git_user.config);
	if (plan_has_mounts(plan) && plan_locks_git_config(plan))
		text_add(&out, "[trace2]\n\tnormalTarget = af_unix:dgram:%s\n\tnormalBrief = true\n", PLAN_GIT_EVENTS);
	add_document(plan, documents, DOCUMENT_GIT_CONFIG, &out);
	for (size_t i = 0; i < plan->git_user.files.count && plan->home != HOME_HOST; i++)
		*(struct plan_document *)arena_push(plan->arena, documents) = plan->git_user.files.items[i];
}

void plan_run_documents(const struct plan *plan, struct plan_documents *documents)
{
	*documents = (struct plan_documents){ 0 };
	if (plan->summary)
		*arena_push(plan->arena, documents) =
			(struct plan_document){ path_join(plan->arena, plan->state.documents, DOCUMENT_SUMMARY),
						plan->summary };
	for (size_t i = 0; i < plan->added.count; i++)
		*arena_push(plan->arena, documents) = plan->added.items[i];
	if (plan_has_mounts(plan))
		*arena_push(plan->arena, documents) = (struct plan_document){ INSIDE_HELD, held_text(plan) };
	add_excludes(plan, documents);
	add_git_config(plan, documents);
}
