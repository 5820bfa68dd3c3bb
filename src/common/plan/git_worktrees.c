/* SPDX-License-Identifier: Apache-2.0 */
/* Linked worktrees and submodules have a `.git` file that points to their git directory. The
 * pointer is trusted only if that directory points back to this checkout and belongs to the same
 * user, because the command may have written the file in an earlier run. No symlink is followed.
 * Files from which the host's git would execute something are protected. */
#include "common/plan/build.h"

#include <string.h>

#include "common/format/git_config.h"
#include "common/base/text.h"

enum { POINTER_BYTES = 4096, CONFIG_BYTES = 65536 };

/* Files that can make the host's git run a program, or read other such files. */
static const char *const protected_names[] = {
	"hooks",
	"config",
	"config.worktree",
	"info/attributes",
	"commondir",
	"modules/*/hooks",
	"modules/*/config",
	"modules/*/config.worktree",
	"modules/*/info/attributes",
	"modules/*/commondir",
	"modules/*/*/hooks",
	"modules/*/*/config",
	"modules/*/modules/*/hooks",
	"modules/*/modules/*/config",
	"worktrees/*/config.worktree",
	"worktrees/*/gitdir",
	"worktrees/*/commondir",
};

struct checkout {
	struct builder *builder;
	const char *root; /* of the working tree */
	const char *pointer; /* root/.git */
	const char *git_directory; /* that the pointer names */
	const struct rule *rule;
};

static const struct rule *pointer_rule(struct arena *arena, const char *pointer)
{
	struct rule *rule = arena_alloc(arena, sizeof *rule);
	*rule = rule_git_worktree;
	rule->origin = (struct origin){ .source = pointer, .line = 1, .column = 1 };
	return rule;
}

/* Returns the only line of a small file, without its line end. Returns NULL if the file has another
 * form. */
static const char *read_line(const struct checkout *checkout, const char *path)
{
	const struct plan *plan = checkout->builder->plan;
	char *text;
	size_t length;
	if (plan->context.fs->read_small(plan->context.fs, plan->arena, path, POINTER_BYTES, &text, &length) < 0 ||
	    strlen(text) != length)
		return NULL;
	if (length > 0 && text[length - 1] == '\n')
		text[--length] = '\0';
	if (length > 0 && text[length - 1] == '\r')
		text[--length] = '\0';
	return length == 0 || strchr(text, '\n') ? NULL : text;
}

/* Returns the canonical path if it exists, has this type and leads through no symlink; otherwise
 * NULL. */
static const char *resolve_plain(const struct checkout *checkout, const char *base, const char *path, enum file_type type,
				 uid_t *owner)
{
	const struct plan *plan = checkout->builder->plan;
	struct path_links links = { 0 };
	struct file_info info;
	struct error ignored;
	const char *canonical;

	path = path_absolute(plan->arena, base, path);
	if (path_resolve(plan->context.fs, plan->arena, path, &canonical, &links, &info, &ignored) < 0 || links.count > 0 ||
	    info.type != type)
		return NULL;
	*owner = info.uid;
	return canonical;
}

static bool is_own_directory(const struct checkout *checkout, const char *base, const char *path, const char **canonical)
{
	uid_t owner;
	*canonical = resolve_plain(checkout, base, path, FILE_DIRECTORY, &owner);
	return *canonical && owner == checkout->builder->plan->context.uid;
}

static bool has_file(const struct checkout *checkout, const char *directory, const char *name, enum file_type type)
{
	uid_t owner;
	return resolve_plain(checkout, directory, name, type, &owner) != NULL;
}

/* Returns the repository if the git directory is <repository>/worktrees/<name> and its `gitdir`
 * file names this pointer; otherwise NULL. */
static const char *worktree_common(const struct checkout *checkout)
{
	struct arena *arena = checkout->builder->plan->arena;
	const char *common_line = read_line(checkout, path_join(arena, checkout->git_directory, "commondir"));
	const char *back_line = read_line(checkout, path_join(arena, checkout->git_directory, "gitdir"));
	const char *common, *back;
	uid_t owner;

	if (!common_line || !back_line || !is_own_directory(checkout, checkout->git_directory, common_line, &common))
		return NULL;
	if (strcmp(path_parent(arena, checkout->git_directory), path_join(arena, common, "worktrees")) != 0)
		return NULL;
	back = resolve_plain(checkout, checkout->git_directory, back_line, FILE_REGULAR, &owner);
	if (!back || strcmp(back, checkout->pointer) != 0)
		return NULL;
	return common;
}

/* Returns the git directory if its core.worktree is this checkout, as in a submodule; otherwise
 * NULL. */
static const char *submodule_directory(const struct checkout *checkout)
{
	const struct plan *plan = checkout->builder->plan;
	const char *worktree, *back;
	char *text;
	size_t length;
	uid_t owner;

	if (plan->context.fs->read_small(plan->context.fs, plan->arena,
					 path_join(plan->arena, checkout->git_directory, "config"), CONFIG_BYTES, &text,
					 &length) < 0)
		return NULL;
	worktree = strlen(text) == length ? git_config_value(plan->arena, text, "core", "worktree") : NULL;
	if (!worktree || !worktree[0])
		return NULL;
	back = resolve_plain(checkout, checkout->git_directory, worktree, FILE_DIRECTORY, &owner);
	return back && strcmp(back, checkout->root) == 0 ? checkout->git_directory : NULL;
}

static bool looks_like_repository(const struct checkout *checkout, const char *directory)
{
	return has_file(checkout, directory, "HEAD", FILE_REGULAR) &&
	       has_file(checkout, directory, "objects", FILE_DIRECTORY) &&
	       has_file(checkout, directory, "refs", FILE_DIRECTORY);
}

static void protect_repository(struct builder *builder, const char *directory, const struct rule *rule)
{
	struct plan *plan = builder->plan;
	const char *quoted = pattern_quote(plan->arena, directory);
	for (size_t i = 0; i < sizeof protected_names / sizeof protected_names[0]; i++)
		build_pattern(builder, &plan->protect, path_join(plan->arena, quoted, protected_names[i]), rule);
}

static void refuse(const struct checkout *checkout, const char *why)
{
	build_note(checkout->builder, NOTE_GIT, checkout->rule, "%s is not followed: %s", checkout->pointer, why);
}

static void grant_repository(const struct checkout *checkout)
{
	struct builder *builder = checkout->builder;
	const char *directory = worktree_common(checkout);

	if (!directory)
		directory = submodule_directory(checkout);
	if (!directory || !looks_like_repository(checkout, directory)) {
		refuse(checkout, "the git directory it names does not point back to this checkout");
		return;
	}
	if (plan_is_below_writable(builder->plan, directory))
		return;
	if (!build_judged_grant(builder, directory, FILE_DIRECTORY, GRANT_WRITE, checkout->rule))
		return;
	protect_repository(builder, directory, checkout->rule);
	build_note(builder, NOTE_GIT, checkout->rule, "%s is writable too: the git directory of %s", directory, checkout->root);
}

/* The pointer itself is protected: with another one the host's git would use a repository that the
 * command made. */
static void follow_pointer(struct checkout *checkout)
{
	struct plan *plan = checkout->builder->plan;
	const char *line = read_line(checkout, checkout->pointer);

	checkout->rule = pointer_rule(plan->arena, checkout->pointer);
	build_literal(checkout->builder, &plan->protect, checkout->pointer, checkout->rule);
	if (!line || !text_starts_with(line, "gitdir: ")) {
		refuse(checkout, "it is not a git pointer");
		return;
	}
	if (!is_own_directory(checkout, checkout->root, line + strlen("gitdir: "), &checkout->git_directory)) {
		refuse(checkout, "the git directory it names does not exist, is behind a symlink, or belongs to another user");
		return;
	}
	grant_repository(checkout);
}

static bool has_git(const struct plan *plan, const char *directory, enum file_type *type)
{
	struct file_info info;
	const char *path = path_join(plan->arena, directory, ".git");
	if (plan->context.fs->inspect(plan->context.fs, path, &info) < 0 || info.type == FILE_ABSENT)
		return false;
	*type = info.type;
	return true;
}

/* Adds a note if the project is inside a repository that is not visible, because git will not find
 * it. */
static void note_enclosing(struct builder *builder)
{
	struct plan *plan = builder->plan;
	const char *directory = plan->context.project;
	enum file_type type;

	while (strcmp(directory, "/") != 0) {
		directory = path_parent(plan->arena, directory);
		if (path_is_within(plan->context.home, directory))
			return;
		if (!has_git(plan, directory, &type))
			continue;
		if (!plan_is_below_writable(plan, directory))
			build_note(builder, NOTE_GIT, NULL,
				   "the repository %s around the project is not visible; --project=%s includes it", directory,
				   directory);
		return;
	}
}

void build_git(struct builder *builder)
{
	struct plan *plan = builder->plan;
	size_t count = plan->grants.count;
	enum file_type type;

	for (size_t i = 0; i < count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		struct checkout checkout = { .builder = builder, .root = grant->path };
		if (grant->kind != GRANT_WRITE || grant->type != FILE_DIRECTORY || !has_git(plan, grant->path, &type))
			continue;
		checkout.pointer = path_join(plan->arena, grant->path, ".git");
		if (type == FILE_REGULAR)
			follow_pointer(&checkout);
		else if (type != FILE_DIRECTORY)
			refuse(&checkout, "it is a symlink");
	}
	if (!has_git(plan, plan->context.project, &type))
		note_enclosing(builder);
}
