/* SPDX-License-Identifier: Apache-2.0 */
/* Small texts that berm puts into the view for programs inside, below /run/berm. Nothing of them comes from denied files but their
 * names and places, which the project's directories show anyway. */
#include "common/plan_build.h"

#include <string.h>

#include "common/text.h"

static bool has_git(const struct plan *plan, const char *directory)
{
	struct file_info info;
	const char *path = path_join(plan->arena, directory, ".git");
	return plan->context.fs->inspect(plan->context.fs, path, &info) == 0 && info.type != FILE_ABSENT;
}

/* A line of a gitignore file: anchored, with everything special quoted. */
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

/* Patterns of core.excludesFile are relative to the repository that is being asked: one line for each repository around the file. */
static void add_match(const struct plan *plan, struct text *out, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	const char *directory = path;
	if (!grant || grant->kind != GRANT_WRITE || strchr(path, '\n'))
		return;
	while (strcmp(directory, grant->path) != 0 && strcmp(directory, "/") != 0) {
		directory = path_parent(plan->arena, directory);
		if (has_git(plan, directory))
			add_ignored(out, path + strlen(directory) + 1);
	}
}

/* A hidden file cannot be added: git is told that it is ignored, or `git add -A` would fail on it. Nothing is written into the
 * user's repository for that. */
static void add_excludes(struct plan *plan)
{
	struct plan_document *document = arena_push(plan->arena, &plan->documents);
	struct text out = { 0 };
	text_add(&out, "# What berm hides in this project; git cannot read it here.\n");
	for (size_t i = 0; i < plan->masked.count; i++)
		add_match(plan, &out, plan->masked.items[i].path);
	*document = (struct plan_document){ .path = PLAN_GIT_EXCLUDES, .text = arena_copy(plan->arena, out.data) };
	text_free(&out);
}

void plan_add_documents(struct plan *plan)
{
	add_excludes(plan);
}
