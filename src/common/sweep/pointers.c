/* SPDX-License-Identifier: Apache-2.0 */
/* Files that lead git to another directory. One is fine if it leads to a git directory that is
 * judged itself: in a writable tree. A worktree's commondir must lead to its own repository. */
#include "common/sweep/internal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs/path.h"

static const char reason[] = "git would leave this project through it, to a configuration that berm does not judge";

/* Returns the text of a pointer, or of a link with a mark that no pointer has; NULL if it is
 * neither or too long. */
static const char *text_of(struct arena *arena, const char *path, enum file_type type)
{
	char link[PATH_MAX], *text;
	size_t length;
	ssize_t size;
	if (type == FILE_SYMLINK) {
		size = readlink(path, link, sizeof link - 1);
		return size < 0 ? NULL : arena_printf(arena, "-> %.*s", (int)size, link);
	}
	if (type != FILE_REGULAR || act_read(arena, path, &text, &length) != 0 || strlen(text) != length)
		return NULL;
	return text;
}

static const char *canonical(const struct plan *plan, const char *path)
{
	const char *result;
	struct error ignored;
	return path && path_resolve(plan->context.fs, plan->arena, path, &result, NULL, NULL, &ignored) == 0 ? result : NULL;
}

/* Returns where a `.git` leads, whether or not there is a repository; NULL: nowhere. */
static const char *target_of(const struct plan *plan, const char *path, enum file_type type)
{
	const struct filesystem *fs = plan->context.fs;
	struct git_directory found;
	if (git_directory_follow(fs, plan->arena, path, type, &found))
		return found.path;
	if (type == FILE_SYMLINK)
		return canonical(plan, path);
	return canonical(plan, git_directory_read_pointer(fs, plan->arena, path, "gitdir: "));
}

static bool leads_out(const struct plan *plan, const char *path, enum file_type type)
{
	const char *directory = path_parent(plan->arena, path), *target;
	if (strcmp(path_base_name(path), "commondir") == 0) {
		const char *own = path_parent(plan->arena, path_parent(plan->arena, directory));
		target = canonical(plan, git_directory_read_pointer(plan->context.fs, plan->arena, path, ""));
		return !target || strcmp(target, own) != 0;
	}
	target = target_of(plan, path, type);
	return target && !plan_is_writable(plan, target);
}

static void look_at(struct look *look, const struct plan_match *mark)
{
	struct sweep_question question = { .kind = SWEEP_GIT_POINTER };
	const char *text = text_of(look->arena, mark->path, mark->type);
	const char *original = facts_find(look->arena, look->baseline, FACT_POINTER, mark->path);

	question.was_there =
		facts_was_present(look->arena, look->baseline, mark->path) || (text && original && strcmp(text, original) == 0);
	question.is_readable = text != NULL;
	question.leads_out = text && leads_out(look->plan, mark->path, mark->type);
	question.has_original =
		original && original[0] && strncmp(original, "-> ", 3) != 0 && mark->type == FILE_REGULAR && text;
	switch (sweep_judge(&question)) {
	case SWEEP_QUARANTINE:
		act_move(look, mark->path, reason);
		break;
	case SWEEP_UNDO:
		if (text && original)
			act_replace(look, SWEEP_UNDO, mark->path, text, strlen(text), original, strlen(original), reason);
		break;
	case SWEEP_FINE:
	case SWEEP_STAYS:
	case SWEEP_REPORT:
	case SWEEP_OPENED:
	case SWEEP_LEFT:
	case SWEEP_EDIT:
		break;
	}
}

/* True for an entry that parts.c does not judge. */
static bool is_pointer(struct arena *arena, const struct plan_match *mark)
{
	const char *name = path_base_name(mark->path);
	if (strcmp(name, ".git") == 0)
		return mark->type != FILE_DIRECTORY;
	return strcmp(name, "commondir") == 0 &&
	       strcmp(path_base_name(path_parent(arena, path_parent(arena, mark->path))), "worktrees") == 0;
}

/* `git worktree remove` has removed a worktree, but not the protected names in it, which were
 * read-only. git does not know the directory any more and cannot complete it. */
static void look_at_removed(struct look *look, const char *fact)
{
	const char *end = strchr(fact, FACT_SEPARATOR), *path, *worktree;
	struct stat info;
	if (fact[0] != FACT_POINTER || !end)
		return;
	path = arena_copy_n(look->arena, fact + 1, (size_t)(end - fact) - 1);
	worktree = path_parent(look->arena, path);
	if (strcmp(path_base_name(path), ".git") == 0 && lstat(path, &info) < 0 && errno == ENOENT &&
	    lstat(worktree, &info) == 0 && S_ISDIR(info.st_mode))
		act_note(look, SWEEP_LEFT, worktree, "git removed this worktree, except for protected files in it");
}

void pointers_look(struct look *look)
{
	const struct plan_matches *marks = &look->found.marks;
	for (size_t i = 0; i < marks->count; i++)
		if (is_pointer(look->arena, &marks->items[i]))
			look_at(look, &marks->items[i]);
	for (size_t i = 0; i < look->baseline->count; i++)
		look_at_removed(look, look->baseline->items[i]);
	for (size_t i = 0; i < look->submodules.count; i++)
		if (look->submodules.items[i].type != FILE_DIRECTORY)
			look_at(look, &look->submodules.items[i]);
}

static void note(struct arena *arena, struct sweep_facts *facts, const char *path)
{
	const char *text = text_of(arena, path, FILE_REGULAR);
	if (text)
		facts_add(arena, facts, FACT_POINTER, path, text);
}

/* A linked worktree: the way to its repository, and the way to its working tree and back. */
void pointers_note(const struct plan *plan, struct sweep_facts *facts, const char *git_directory)
{
	struct arena *arena = plan->arena;
	const char *back;
	if (strcmp(path_base_name(path_parent(arena, git_directory)), "worktrees") != 0)
		return;
	note(arena, facts, path_join(arena, git_directory, "commondir"));
	back = canonical(plan,
			 git_directory_read_pointer(plan->context.fs, arena, path_join(arena, git_directory, "gitdir"), ""));
	if (back && plan_is_writable(plan, back))
		note(arena, facts, back);
}
