/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the user's git configuration that git inside can read: user.name, user.email and the
 * ignore patterns. The files themselves stay hidden: they may hold credentials and name programs.
 * Included files are read the same way and mirrored with git's own conditions, so that git decides.
 * Includes for directories elsewhere are left out, because they are about other work. Symlinks are
 * followed, because dotfiles are often linked. */
#include "common/plan/build.h"

#include <string.h>
#include <strings.h>

#include "common/format/git_config.h"
#include "common/base/text.h"

enum {
	FILE_BYTES = 65536,
	DEPTH_MAX = 10, /* as in git */
	READS_MAX = 32,
};

static const char *const user_files[] = { ".config/git/config", ".gitconfig" };

struct mirror {
	struct plan *plan;
	unsigned reads;
};

static const char *read_text(const struct plan *plan, const char *path)
{
	const struct filesystem *fs = plan->context.fs;
	struct error ignored;
	size_t length;
	char *text;
	if (path_resolve(fs, plan->arena, path_absolute(plan->arena, plan->context.home, path), &path, NULL, NULL, &ignored) <
	    0)
		return NULL;
	if (plan_denied_by(plan, path, false) || fs->read_small(fs, plan->arena, path, FILE_BYTES, &text, &length) < 0)
		return NULL;
	return strlen(text) == length ? text : NULL;
}

/* Adds a quoted value or subsection. */
static void add_quoted(struct text *out, const char *value)
{
	text_add(out, "\"");
	for (; *value; value++) {
		if (strchr("\"\\", *value))
			text_add(out, "\\");
		text_add_n(out, value, 1);
	}
	text_add(out, "\"");
}

/* Returns the path of an include: `~/x`, absolute, or relative to the including file. */
static const char *include_path(const struct mirror *mirror, const char *from, const char *value)
{
	const struct plan *plan = mirror->plan;
	if (text_starts_with(value, "~/"))
		return path_absolute(plan->arena, plan->context.home, value + 2);
	return path_absolute(plan->arena, path_parent(plan->arena, from), value);
}

static bool meets_grants(const struct plan *plan, const char *directory)
{
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		if (grant->kind == GRANT_WRITE &&
		    (path_is_within(grant->path, directory) || path_is_within(directory, grant->path)))
			return true;
	}
	return false;
}

/* True if the pattern may match a git directory that is writable inside. The text before the first
 * wildcard is its directory. */
static bool concerns_us(const struct plan *plan, const char *pattern)
{
	char *literal = arena_copy_n(plan->arena, pattern, strcspn(pattern, "*?[\\"));
	char *slash = strrchr(literal, '/');
	const char *directory, *canonical;
	struct error ignored;
	if (pattern[0] != '/')
		return true; /* matches anywhere */
	slash[slash == literal] = '\0';
	directory = path_absolute(plan->arena, "/", literal);
	if (meets_grants(plan, directory))
		return true;
	return path_resolve(plan->context.fs, plan->arena, directory, &canonical, NULL, NULL, &ignored) == 0 &&
	       meets_grants(plan, canonical);
}

/* Returns the condition as git inside must read it, or NULL if it does not concern the project. */
static const char *condition(const struct mirror *mirror, const char *from, const char *text)
{
	const struct plan *plan = mirror->plan;
	const char *pattern = strchr(text, ':');
	bool is_directory = text_starts_with(text, "gitdir:") || text_starts_with(text, "gitdir/i:");
	if (!is_directory)
		return text_starts_with(text, "onbranch:") || text_starts_with(text, "hasconfig:remote.*.url:") ? text : NULL;
	pattern++;
	if (text_starts_with(pattern, "~/"))
		pattern = arena_printf(plan->arena, "%s/%s", plan->context.home, pattern + 2);
	else if (text_starts_with(pattern, "./"))
		pattern = arena_printf(plan->arena, "%s/%s", path_parent(plan->arena, from), pattern + 2);
	if (!concerns_us(plan, pattern))
		return NULL;
	return arena_printf(plan->arena, "%.*s%s", (int)(strchr(text, ':') + 1 - text), text, pattern);
}

static void mirror_file(struct mirror *mirror, const char *path, unsigned depth, struct text *out);

static void mirror_include(struct mirror *mirror, const char *path, const char *only_if, unsigned depth, struct text *out)
{
	struct plan_git_files *files = &mirror->plan->git_user.files;
	struct plan_document *document;
	struct text own = { 0 };
	mirror_file(mirror, path, depth + 1, &own);
	if (own.length == 0)
		return; /* absent, or without user.name and user.email */
	document = arena_push(mirror->plan->arena, files);
	document->path = arena_printf(mirror->plan->arena, "%s/%s.%zu", mirror->plan->state.documents, DOCUMENT_GIT_CONFIG,
				      files->count);
	document->text = arena_copy(mirror->plan->arena, own.data);
	text_free(&own);
	text_add(out, only_if ? "[includeIf " : "[include");
	if (only_if)
		add_quoted(out, only_if);
	text_add(out, "]\n\tpath = %s\n", document->path);
}

static bool is_identity(const struct git_config_reader *entry)
{
	return entry->has_value && !entry->subsection && strcasecmp(entry->section, "user") == 0 &&
	       !strchr(entry->value, '\n') && (strcasecmp(entry->name, "name") == 0 || strcasecmp(entry->name, "email") == 0);
}

static bool is_include(const struct git_config_reader *entry)
{
	return strcasecmp(entry->section, entry->subsection ? "includeIf" : "include") == 0 &&
	       strcasecmp(entry->name, "path") == 0 && entry->value[0];
}

static void mirror_identity(const struct git_config_reader *entry, struct text *out)
{
	text_add(out, "[user]\n\t%s = ", entry->name);
	add_quoted(out, entry->value);
	text_add(out, "\n");
}

/* Keeps the order of the file, because git takes the last value. */
static void mirror_file(struct mirror *mirror, const char *path, unsigned depth, struct text *out)
{
	struct git_config_reader reader = { .arena = mirror->plan->arena };
	if (depth > DEPTH_MAX || ++mirror->reads > READS_MAX)
		return;
	reader.next = read_text(mirror->plan, path);
	while (reader.next && git_config_next(&reader)) {
		const char *only_if = reader.subsection;
		if (is_identity(&reader)) {
			mirror_identity(&reader, out);
		} else if (is_include(&reader)) {
			if (only_if && !(only_if = condition(mirror, path, only_if)))
				continue;
			mirror_include(mirror, include_path(mirror, path, reader.value), only_if, depth, out);
		}
	}
}

/* Returns core.excludesFile, or NULL. The later file wins, as in git. Includes are not read: the
 * one file for all repositories cannot depend on their conditions. */
static const char *ignore_file(const struct plan *plan)
{
	const char *found = NULL;
	for (size_t i = 0; i < sizeof user_files / sizeof user_files[0]; i++) {
		const char *text = read_text(plan, user_files[i]);
		const char *value = text ? git_config_value(plan->arena, text, "core", "excludesFile") : NULL;
		if (value)
			found = value;
	}
	return found;
}

static const char *user_ignores(const struct plan *plan)
{
	const char *path = ignore_file(plan);
	if (!path)
		path = ".config/git/ignore";
	else if (text_starts_with(path, "~/"))
		path += 2;
	return read_text(plan, path);
}

void build_git_user(struct builder *builder)
{
	struct plan *plan = builder->plan;
	struct mirror mirror = { .plan = plan };
	struct text out = { 0 };
	plan->git_user = (struct plan_git_user){ .ignores = user_ignores(plan) };
	for (size_t i = 0; i < sizeof user_files / sizeof user_files[0]; i++)
		mirror_file(&mirror, path_absolute(plan->arena, plan->context.home, user_files[i]), 0, &out);
	if (out.length > 0)
		plan->git_user.config = arena_copy(plan->arena, out.data);
	text_free(&out);
}
