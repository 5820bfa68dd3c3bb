/* SPDX-License-Identifier: Apache-2.0 */
/* Files that lead git from one directory to another, and so to another configuration: a command
 * that can write them decides what the host's git executes. Locked are the pointers of submodules,
 * which `git status` of the outer repository enters by itself, and the pointers to and from linked
 * worktrees outside of writable trees. Worktrees in a writable tree are not locked, so that they
 * can be removed inside. Only reads. */
#include "common/scan/internal.h"

#include <string.h>

#include "common/git/directory.h"

/* Returns the path in the pointer, made absolute, or NULL if the file is not a pointer. */
static const char *read_pointer(const struct plan *plan, const char *directory, const char *name, const char *label)
{
	return git_directory_read_pointer(plan->context.fs, plan->arena, path_join(plan->arena, directory, name), label);
}

/* True for <any directory>/worktrees/<name>. */
static bool is_in_worktrees(const struct plan *plan, const char *path)
{
	return strcmp(path_base_name(path_parent(plan->arena, path)), "worktrees") == 0;
}

static bool leads_to_writable(const struct plan *plan, const char *path)
{
	const char *canonical;
	struct error ignored;
	if (path_resolve(plan->context.fs, plan->arena, path, &canonical, NULL, NULL, &ignored) < 0)
		return false;
	return plan_is_writable(plan, canonical);
}

bool scan_may_be_git_pointer(const char *name, enum file_type type)
{
	return type == FILE_REGULAR &&
	       (strcmp(name, ".git") == 0 || strcmp(name, "commondir") == 0 || strcmp(name, "gitdir") == 0);
}

bool scan_is_git_pointer(const struct plan *plan, const char *directory, const char *name)
{
	const char *target;
	if (strcmp(name, ".git") == 0) {
		target = read_pointer(plan, directory, name, "gitdir: ");
		return !target || !is_in_worktrees(plan, target) || !leads_to_writable(plan, target);
	}
	if (!is_in_worktrees(plan, directory))
		return false;
	target = read_pointer(plan, directory, "gitdir", "");
	return !target || !leads_to_writable(plan, target);
}
