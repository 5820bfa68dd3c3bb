/* SPDX-License-Identifier: Apache-2.0 */
/* Small texts that berm puts into the view for programs inside, below /run/berm (without mounts: in a directory
 * of the state that is readable inside). Nothing of them comes from denied files but their
 * names and places, which the project's directories show anyway. */
#include "common/plan/build.h"

#include <string.h>

#include "common/base/text.h"

/* The root of the view has 4 MiB for all it holds. Names beyond are hidden all the same; `git add -A` then fails on them. */
enum { EXCLUDES_MAX = 1 << 20 };

/* What is said of it can be read inside. */
static bool has_git(const struct plan *plan, const char *directory)
{
	const struct filesystem *fs = plan->context.fs;
	struct file_info info;
	const char *path = path_join(plan->arena, directory, ".git");
	if (fs->is_there)
		return fs->is_there(fs, path);
	return fs->inspect(fs, path, &info) == 0 && info.type != FILE_ABSENT;
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

/* Repositories around the file at hand, and the file before it. */
struct around {
	const char **items;
	size_t count;
	const char *previous;
};

/* Of the directories above, those that are also above the file before were asked about then. */
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
		if (has_git(plan, directory))
			*(const char **)arena_push(plan->arena, around) = directory;
	}
	around->previous = path;
}

/* Patterns of core.excludesFile are relative to the repository that is being asked: one line for each repository around the file. */
static void add_match(const struct plan *plan, struct around *around, struct text *out, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	if (!grant || grant->kind != GRANT_WRITE || strchr(path, '\n'))
		return;
	find_around(plan, around, grant->path, path);
	for (size_t i = 0; i < around->count && out->length < EXCLUDES_MAX; i++)
		add_ignored(out, path + strlen(around->items[i]) + 1);
}

static void add_document(struct plan *plan, const char *name, struct text *out)
{
	struct plan_document *document = arena_push(plan->arena, &plan->documents);
	*document = (struct plan_document){ .path = path_join(plan->arena, plan->state.documents, name),
					    .text = arena_copy(plan->arena, out->data) };
	text_free(out);
}

/* A hidden file cannot be added: git is told that it is ignored, or `git add -A` would fail on it. Nothing is written into the
 * user's repository for that. The user's own patterns come first, because the last match decides. */
static void add_excludes(struct plan *plan)
{
	const char *own = plan->git_user.ignores;
	struct around around = { 0 };
	struct text out = { 0 };
	if (own)
		text_add(&out, "%s\n", own);
	text_add(&out, "# What berm hides in this project; git cannot read it here.\n");
	for (size_t i = 0; i < plan->masked.count && out.length < EXCLUDES_MAX; i++)
		add_match(plan, &around, &out, plan->masked.items[i].path);
	add_document(plan, DOCUMENT_GIT_EXCLUDES, &out);
}

bool plan_locks_git_config(const struct plan *plan)
{
	for (size_t i = 0; i < plan->locked.count; i++) {
		const char *path = plan->locked.items[i].path;
		if (strcmp(path_base_name(path), "config") == 0 && strstr(path, "/.git/"))
			return true;
	}
	return false;
}

/* Stands for the system's configuration, which it includes: who commits, unless the repository or the private home knows better; and
 * whom git tells what it does, so that berm can say why it was refused. */
static void add_git_config(struct plan *plan)
{
	struct text out = { 0 };
	text_add(&out, "[include]\n\tpath = /etc/gitconfig\n");
	if (plan->home != HOME_HOST && plan->git_user.config)
		text_add(&out, "%s", plan->git_user.config);
	if (plan_has_mounts(plan) && plan_locks_git_config(plan))
		text_add(&out, "[trace2]\n\tnormalTarget = af_unix:dgram:%s\n\tnormalBrief = true\n", PLAN_GIT_EVENTS);
	add_document(plan, DOCUMENT_GIT_CONFIG, &out);
	for (size_t i = 0; i < plan->git_user.files.count && plan->home != HOME_HOST; i++)
		*(struct plan_document *)arena_push(plan->arena, &plan->documents) = plan->git_user.files.items[i];
}

void plan_add_documents(struct plan *plan)
{
	if (plan->summary)
		*arena_push(plan->arena, &plan->documents) =
			(struct plan_document){ path_join(plan->arena, plan->state.documents, DOCUMENT_SUMMARY),
						plan->summary };
	for (size_t i = 0; i < plan->added.count; i++)
		*arena_push(plan->arena, &plan->documents) = plan->added.items[i];
	add_excludes(plan);
	add_git_config(plan);
}
