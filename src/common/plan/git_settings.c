/* SPDX-License-Identifier: Apache-2.0 */
/* The user's and the machine's git configuration hold in every repository. What they name below a
 * writable grant is protected as the configuration of a repository is: a linked ~/.gitconfig of a
 * project with dot files, a directory of hooks, an included file. A relative name counts in every
 * working tree. The scan reads the configurations of the repositories themselves. */
#include "common/plan/build.h"

#include <string.h>

#include "common/base/text.h"
#include "common/git/settings.h"

/* The prefix of names that are relative to a working tree. */
static const char worktree[] = "/ worktree";

static const struct rule *rule_of(struct arena *arena, const char *text, const char *file, unsigned line)
{
	struct rule *rule = arena_alloc(arena, sizeof *rule);
	*rule = (struct rule){ .key = "files.protect", .text = text, .origin = { file, line, 1 }, .layer = LAYER_BASE };
	return rule;
}

/* Protects the path and what its symlinks lead to, if a command could write there. */
static void protect_path(struct builder *builder, const char *path, const struct rule *rule)
{
	struct plan *plan = builder->plan;
	struct path_links links = { 0 };
	struct error ignored;
	const char *canonical;
	if (path_resolve(plan->context.fs, plan->arena, path, &canonical, &links, NULL, &ignored) < 0)
		return;
	for (size_t i = 0; i < links.count; i++)
		if (plan_is_below_writable(plan, links.items[i].path))
			build_literal(builder, &plan->protect, links.items[i].path, rule);
	if (!plan_is_below_writable(plan, canonical))
		return;
	for (size_t i = 0; i < plan->grants.count; i++)
		if (path_is_within(plan->grants.items[i].path, canonical)) {
			build_note(builder, NOTE_GIT, rule, "%s names %s, which stays writable", rule->text, canonical);
			return;
		}
	build_literal(builder, &plan->protect, canonical, rule);
}

/* A program without a directory in its name would be any file of that name: it is left out. */
static void protect_relative(struct builder *builder, const struct git_setting *setting, const char *path,
			     const struct rule *rule)
{
	struct plan *plan = builder->plan;
	if (strstr(path, "..") || !path[0] || (setting->key->form != GIT_FORM_PATH && !strchr(path, '/')))
		return;
	build_pattern(builder, &plan->protect, arena_printf(plan->arena, "/**/%s", pattern_quote(plan->arena, path)), rule);
}

static void protect_setting(struct builder *builder, const struct git_setting *setting)
{
	struct arena *arena = builder->plan->arena;
	struct git_paths paths = { 0 };
	const struct rule *rule = rule_of(arena, git_setting_name(arena, setting), setting->file, setting->line);

	git_setting_paths(arena, setting, worktree, builder->plan->context.home, &paths);
	for (size_t i = 0; i < paths.count; i++)
		if (path_is_within(paths.items[i], worktree))
			protect_relative(builder, setting, paths.items[i] + strlen(worktree) + 1, rule);
		else
			protect_path(builder, paths.items[i], rule);
}

void build_git_settings(struct builder *builder)
{
	static const char *const files[] = { "/etc/gitconfig", ".config/git/config", ".gitconfig" };
	struct plan *plan = builder->plan;
	struct git_settings settings = { 0 };
	const char *config = path_join(plan->arena, plan->context.project, ".git/config");

	if (!plan_protected_by(plan, config, false))
		return;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		const char *file = path_absolute(plan->arena, plan->context.home, files[i]);
		protect_path(builder, file, rule_of(plan->arena, "the user's git configuration", file, 0));
		git_settings_read(plan->context.fs, plan->arena, plan->context.home, file, &settings);
	}
	for (size_t i = 0; i < settings.count; i++)
		if ((settings.items[i].key->effects & GIT_NAMES) && settings.items[i].value[0])
			protect_setting(builder, &settings.items[i]);
}
