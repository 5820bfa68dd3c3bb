/* SPDX-License-Identifier: Apache-2.0 */
/* What of the user's own git configuration git inside gets to know: who commits, and the patterns of files that the user never wants to
 * commit. The files themselves stay out of the view: they may hold credentials and name programs. Files that they include
 * are read the same way and shown as files of their own, with git's own conditions, so that it is git that decides; those whose
 * condition names directories elsewhere are left out, because they tell of other work. Symlinks are followed (dotfiles are
 * often linked). */
#include "common/plan/build.h"

#include <string.h>
#include <strings.h>

#include "common/format/git_config.h"
#include "common/base/text.h"

enum {
	FILE_BYTES = 65536,
	DEPTH_MAX = 10, /* git's own */
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

/* Quoted, for a value or a subsection. */
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

/* `~/x`, or relative to the file that says it. */
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

/* Could a git directory that can be written inside match? What precedes the first wildcard is the directory that is meant. */
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

/* The condition as git inside has to read it, or NULL if it is none of ours. */
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
		return; /* absent, or nothing in it about who commits */
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

/* In the order of the file, because the last one wins. */
static void mirror_file(struct mirror *mirror, const char *path, unsigned depth, struct text *out)
{
	struct git_config_reader reader = { .arena = mirror->plan->arena };
	if (depth > DEPTH_MAX || ++mirror->reads > READS_MAX)
		return;
	reader.next = read_text(mirror->plan, path);
	while (reader.next && git_config_next(&reader)) {
		bool is_path = strcasecmp(reader.name, "path") == 0 && reader.value[0];
		const char *only_if = NULL;
		if (!reader.subsection && strcasecmp(reader.section, "user") == 0 && !strchr(reader.value, '\n') &&
		    (strcasecmp(reader.name, "name") == 0 || strcasecmp(reader.name, "email") == 0)) {
			text_add(out, "[user]\n\t%s = ", reader.name);
			add_quoted(out, reader.value);
			text_add(out, "\n");
		} else if (is_path && !reader.subsection && strcasecmp(reader.section, "include") == 0) {
			mirror_include(mirror, include_path(mirror, path, reader.value), NULL, depth, out);
		} else if (is_path && reader.subsection && strcasecmp(reader.section, "includeIf") == 0) {
			only_if = condition(mirror, path, reader.subsection);
			if (only_if)
				mirror_include(mirror, include_path(mirror, path, reader.value), only_if, depth, out);
		}
	}
}

/* The later file wins, as with git. Of includes nothing is taken: the one name of a file for all repositories cannot depend on them. */
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
