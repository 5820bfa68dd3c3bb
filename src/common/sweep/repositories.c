/* SPDX-License-Identifier: Apache-2.0 */
/* Finds every git directory in the writable trees, whatever it is called, and records those that
 * were made inside. */
#include "common/sweep/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/file_time.h"
#include "common/fs/path.h"
#include "common/git/index.h"

static void add_directory(struct look *look, const struct git_directory *found, const char *worktree)
{
	struct look_directory *directory;
	for (size_t i = 0; i < look->directories.count; i++) {
		directory = &look->directories.items[i];
		if (strcmp(directory->git.path, found->path) == 0) {
			directory->worktree = directory->worktree ? directory->worktree : worktree;
			return;
		}
	}
	if (!plan_is_writable(look->plan, found->path))
		return;
	directory = arena_push(look->arena, &look->directories);
	directory->git = *found;
	directory->worktree = worktree;
	directory->is_born = !facts_have(look->arena, look->baseline, FACT_GIT, found->path, NULL);
	directory->is_new = directory->is_born && !facts_have(look->arena, look->baseline, FACT_BORN, found->path, NULL);
}

/* Every repository has such a HEAD, of a log and of a remote's branches. */
static bool is_known_part(const char *head)
{
	const char *at = strstr(head, "/.git/");
	return at && (strncmp(at + 6, "refs/", 5) == 0 || strncmp(at + 6, "logs/", 5) == 0);
}

void repositories_add(struct look *look, const struct plan_match *mark)
{
	const struct filesystem *fs = look->plan->context.fs;
	struct git_directory found;
	const char *worktree = NULL;
	bool is_git = false;
	if (strcmp(path_base_name(mark->path), ".git") == 0) {
		worktree = path_parent(look->arena, mark->path);
		is_git = git_directory_follow(fs, look->arena, mark->path, mark->type, &found);
	} else if (strcmp(path_base_name(mark->path), "HEAD") == 0 && !is_known_part(mark->path)) {
		is_git = git_directory_examine(fs, look->arena, path_parent(look->arena, mark->path), &found);
	}
	if (is_git)
		add_directory(look, &found, worktree);
}

static int compare_mark(const void *path, const void *mark)
{
	return strcmp(path, ((const struct plan_match *)mark)->path);
}

static bool is_marked(const struct look *look, const char *path)
{
	const struct plan_matches *marks = &look->found.marks;
	return marks->count > 0 && bsearch(path, marks->items, marks->count, sizeof *marks->items, compare_mark);
}

/* Adds a submodule that the search did not see: git status would run in it. A path through a
 * symlink is none to git. */
static void add_submodule(struct look *look, const char *path)
{
	const struct plan *plan = look->plan;
	struct plan_match mark = { .path = path_join(look->arena, path, ".git"), .rule = &rule_marker };
	struct file_info info;
	struct error ignored;
	const char *resolved;
	if (is_marked(look, mark.path) ||
	    path_resolve(plan->context.fs, look->arena, path, &resolved, NULL, &info, &ignored) < 0 ||
	    strcmp(resolved, path) != 0 || !plan_is_writable(plan, path) ||
	    plan->context.fs->inspect(plan->context.fs, mark.path, &info) < 0 || info.type == FILE_ABSENT)
		return;
	mark.type = info.type;
	*(struct plan_match *)arena_push(look->arena, &look->submodules) = mark;
	repositories_add(look, &mark);
}

/* The list grows: a submodule may have some of its own. */
static void add_submodules(struct look *look)
{
	for (size_t i = 0; i < look->directories.count; i++) {
		const char *worktree = look->directories.items[i].worktree;
		struct git_paths paths = { 0 };
		if (worktree)
			git_index_submodules(look->plan->context.fs, look->arena, look->directories.items[i].git.path, &paths);
		for (size_t k = 0; k < paths.count; k++)
			add_submodule(look, path_join(look->arena, worktree, paths.items[k]));
	}
}

void repositories_find(struct look *look)
{
	const struct plan_matches *marks = &look->found.marks;
	for (size_t i = 0; i < marks->count; i++)
		repositories_add(look, &marks->items[i]);
	crowded_repositories(look);
	add_submodules(look);
}

/* True for a time during the run. The kernel's time of a file may be a tick older than the
 * clock. */
static bool is_of_run(const struct look *look, int64_t seconds, int64_t nanoseconds)
{
	const int64_t tick_ns = 100000000, ns_per_s = 1000000000;
	int64_t age = seconds - (int64_t)look->started.tv_sec;
	if (age < -1 || age > 1)
		return age > 0;
	return age * ns_per_s + nanoseconds - (int64_t)look->started.tv_nsec >= -tick_ns;
}

bool look_is_of_run(const struct look *look, const char *path)
{
	struct stat info;
	return lstat(path, &info) == 0 && is_of_run(look, (int64_t)info.st_ctim.tv_sec, (int64_t)info.st_ctim.tv_nsec);
}

/* Records what was made inside, so that the next launch leaves it writable. */
static void record_born(struct look *look)
{
	const struct plan *plan = look->plan;
	const struct filesystem *fs = plan->context.fs;
	struct {
		struct file_birth *items;
		size_t count;
	} births = { 0 };
	struct file_birth birth;
	struct error err = { 0 };

	for (size_t i = 0; i < look->directories.count && fs->find_birth; i++) {
		const struct look_directory *directory = &look->directories.items[i];
		if (directory->is_new && directory->git.kind != GIT_WORKTREE &&
		    fs->find_birth(fs, directory->git.path, &birth) && is_of_run(look, birth.seconds, birth.nanoseconds))
			*(struct file_birth *)arena_push(look->arena, &births) = birth;
	}
	/* Without the record a repository is locked at the next launch, as the host's are. */
	if (births.count > 0)
		(void)born_add(look->arena, plan->context.state_directory, plan->state.project_key, births.items, births.count,
			       &err);
}

void repositories_look(struct look *look)
{
	for (size_t i = 0; i < look->directories.count; i++)
		parts_look(look, &look->directories.items[i]);
	if (!look->is_preview)
		record_born(look);
}

void repositories_note(const struct plan *plan, struct sweep_facts *facts, const char *path, bool is_born)
{
	facts_add(plan->arena, facts, is_born ? FACT_BORN : FACT_GIT, path, NULL);
	parts_note(plan, facts, path, is_born);
	pointers_note(plan, facts, path);
	todo_note(plan, facts, path);
	operations_note(plan, facts, path);
}
