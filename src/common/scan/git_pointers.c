/* SPDX-License-Identifier: Apache-2.0 */
/* Files by which git is led from one directory to another, and with that to another configuration: whoever can write them decides
 * what the host's git executes. Locked are the pointers of submodules, which `git status` of the repository around them enters by
 * itself, and those to and from linked worktrees that lie elsewhere. Worktrees in a writable tree stay free, so that they can be
 * removed inside. Only reads. */
#include "common/scan/scan.h"

#include <string.h>

#include "common/base/text.h"

enum { POINTER_BYTES = 4096 };

/* What stands in the pointer, made absolute; NULL if it cannot be read as one. */
static const char *read_pointer(const struct plan *plan, const char *directory, const char *name, const char *label)
{
	const struct filesystem *fs = plan->context.fs;
	char *text;
	size_t length;
	if (fs->read_small(fs, plan->arena, path_join(plan->arena, directory, name), POINTER_BYTES, &text, &length) < 0 ||
	    !text_starts_with(text, label))
		return NULL;
	text += strlen(label);
	text[strcspn(text, "\r\n")] = '\0';
	return text[0] ? path_absolute(plan->arena, directory, text) : NULL;
}

/* <somewhere>/worktrees/<name> */
static bool is_in_worktrees(const struct plan *plan, const char *path)
{
	return strcmp(path_base_name(path_parent(plan->arena, path)), "worktrees") == 0;
}

static bool is_writable(const struct plan *plan, const char *path)
{
	const struct plan_grant *grant;
	const char *canonical;
	struct error ignored;
	if (path_resolve(plan->context.fs, plan->arena, path, &canonical, NULL, NULL, &ignored) < 0)
		return false;
	grant = plan_grant_for(plan, canonical);
	return grant && grant->kind == GRANT_WRITE;
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
		return !target || !is_in_worktrees(plan, target) || !is_writable(plan, target);
	}
	if (!is_in_worktrees(plan, directory))
		return false;
	target = read_pointer(plan, directory, "gitdir", "");
	return !target || !is_writable(plan, target);
}
