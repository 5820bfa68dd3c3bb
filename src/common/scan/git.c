/* SPDX-License-Identifier: Apache-2.0 */
/* Locks what git would obey, wherever it is. The search notes every `.git` and every HEAD in a
 * writable tree. From these the git directories are resolved, and in each the same names are locked
 * that the policy protects in a `.git`, and the files and directories that its settings name. The
 * policy decides whether a name is protected, this file decides where it is.
 *
 * Everything is read anew at each scan: the tree index only saves listings, so a scan with it has
 * the same results. A git directory that was made inside is the sandbox's own: nothing of it is
 * locked. Only reads. */
#include "common/scan/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/cleanup.h"
#include "common/git/directory.h"
#include "common/git/settings.h"
#include "common/state/born.h"

/* Names in a git directory that git obeys. The last is a pointer of worktrees: git_pointers.c
 * judges it there. */
static const char *const obeyed_names[] = { "hooks", "config", "config.worktree", "info/attributes", "commondir" };
/* Entries of a git directory that was made inside, which are unlocked with everything in them. Not
 * the whole directory: the command may have made one around files of the host. */
static const char *const own_names[] = { "hooks",     "config", "config.worktree", "info",
					 "commondir", "gitdir", "modules",	   "worktrees" };

/* A git directory and how it was found. */
struct repository {
	struct git_directory directory;
	const char *dot_git; /* the path that the policy's patterns are compared with */
	const char *worktree; /* the directory in which git runs programs, or NULL */
	bool is_searched; /* a directory called .git: the search has locked its names */
	bool is_born;
};

/* The settings of one configuration. */
struct configuration {
	const char *common;
	struct git_settings settings;
};

struct resolver {
	struct scan *scan;
	struct born born;
	struct repositories {
		struct repository *items;
		size_t count;
	} repositories;
	struct configurations {
		struct configuration **items;
		size_t count;
	} configurations;
};

bool scan_is_git_entry(const struct scan *scan, const char *directory, const char *name, enum file_type type)
{
	size_t length;
	if (scan->root->kind != GRANT_WRITE)
		return false;
	if (name[0] == '.')
		return strcmp(name, ".git") == 0 && (type == FILE_DIRECTORY || type == FILE_REGULAR || type == FILE_SYMLINK);
	if (name[0] != 'H' || strcmp(name, "HEAD") != 0 || (type != FILE_REGULAR && type != FILE_SYMLINK))
		return false;
	/* The .git above it was noted, unless the search begins there. */
	length = strlen(directory);
	return length < 5 || strcmp(directory + length - 5, "/.git") != 0 || strcmp(directory, scan->root->path) == 0;
}

void scan_record_git(struct scan *scan, const char *directory, const char *name, enum file_type type)
{
	bool is_dot_git = name[0] == '.';
	uninitialised char path[SCAN_PATH_BYTES];
	if (is_dot_git && !path_join_into(path, sizeof path, directory, name))
		return; /* its directory is hidden */
	scan_record(scan, &scan->gits, is_dot_git ? path : directory, is_dot_git ? type : FILE_ABSENT, &rule_git_pointer);
}

/* Every repository has such a HEAD, of a log and of a remote's branches. */
static bool is_known_part(const char *directory)
{
	const char *at = strstr(directory, "/.git/");
	return at && (strncmp(at + 6, "refs/", 5) == 0 || strcmp(at + 6, "logs") == 0 || strncmp(at + 6, "logs/", 5) == 0);
}

static bool is_born(const struct resolver *resolver, const char *path)
{
	const struct filesystem *fs = resolver->scan->plan->context.fs;
	struct file_birth birth;
	return resolver->born.count > 0 && fs->find_birth && fs->find_birth(fs, path, &birth) &&
	       born_contains(&resolver->born, &birth);
}

static void add_repository(struct resolver *resolver, const struct git_directory *directory, const char *dot_git,
			   const char *worktree)
{
	const struct plan *plan = resolver->scan->plan;
	struct repository *repository;
	if (!plan_is_writable(plan, directory->path) && !plan_is_writable(plan, directory->common))
		return;
	repository = arena_push(plan->arena, &resolver->repositories);
	*repository = (struct repository){ .directory = *directory, .dot_git = dot_git, .worktree = worktree };
	repository->is_searched = strcmp(dot_git, directory->path) == 0;
	repository->is_born = is_born(resolver, directory->path);
}

/* Resolves what the search noted: `.git` by its type, or a directory with a HEAD. */
static void resolve(struct resolver *resolver, const struct plan_match *noted)
{
	const struct plan *plan = resolver->scan->plan;
	const struct filesystem *fs = plan->context.fs;
	struct git_directory directory;
	if (noted->type != FILE_ABSENT) {
		if (git_directory_follow(fs, plan->arena, noted->path, noted->type, &directory))
			add_repository(resolver, &directory, noted->path, path_parent(plan->arena, noted->path));
		return;
	}
	if (is_known_part(noted->path) || !git_directory_examine(fs, plan->arena, noted->path, &directory))
		return;
	if (strcmp(path_base_name(noted->path), ".git") == 0) {
		directory.kind = GIT_MAIN;
		add_repository(resolver, &directory, noted->path, path_parent(plan->arena, noted->path));
	} else {
		add_repository(resolver, &directory, path_join(plan->arena, noted->path, ".git"),
			       directory.kind == GIT_BARE ? noted->path : NULL);
	}
}

/* Returns the rule that protects this name in the repository, or NULL. */
static const struct rule *rule_for(struct resolver *resolver, const struct repository *repository, const char *name,
				   bool is_directory)
{
	struct scan *scan = resolver->scan;
	const char *path = path_join(scan->plan->arena, repository->dot_git, name);
	return scan_judge(scan, path, path_base_name(path), is_directory).protected_by;
}

/* True if the user's policy makes exactly this path writable. */
static bool is_lifted(const struct plan *plan, const char *path, const struct rule *rule)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	return grant && grant->kind == GRANT_WRITE && strcmp(grant->path, path) == 0 && plan_may_lift(grant->rule, rule) &&
	       !path_is_within(plan->context.project, path);
}

/* True for the project, an ancestor of it, and what holds another writable grant. */
static bool holds_writable(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE && path_is_within(plan->grants.items[i].path, path))
			return true;
	return path_is_within(plan->context.project, path);
}

/* Locks a canonical path, unless the policy opens it. */
static void lock(struct resolver *resolver, const char *path, enum file_type type, const struct rule *rule)
{
	const struct plan *plan = resolver->scan->plan;
	struct plan_pattern item = { .pattern = { .text = path, .is_literal = true }, .rule = rule };
	if (plan_is_writable(plan, path) && !is_lifted(plan, path, rule) &&
	    plan_protect_applies(plan, &item, path, type == FILE_DIRECTORY))
		scan_record(resolver->scan, &resolver->scan->locked, path, type, rule);
}

/* Notes a path that does not exist, for the comparison after the run: nothing can be locked. */
static void note_absent(struct resolver *resolver, const char *path, const struct rule *rule)
{
	struct scan *scan = resolver->scan;
	if (plan_is_writable(scan->plan, path) && !is_lifted(scan->plan, path, rule))
		*(struct plan_match *)arena_push(scan->plan->arena, &scan->results->git_absent) =
			(struct plan_match){ .path = path, .type = FILE_ABSENT, .rule = rule };
}

/* Locks an existing path and the symlinks on the way to it. Returns NULL, or the canonical path if
 * it must stay writable. */
static const char *lock_resolved(struct resolver *resolver, const char *path, const struct rule *rule,
				 bool (*is_wanted)(enum file_type type))
{
	const struct plan *plan = resolver->scan->plan;
	struct path_links links = { 0 };
	struct file_info info;
	struct error ignored;
	if (path_resolve(plan->context.fs, plan->arena, path, &path, &links, &info, &ignored) < 0)
		return NULL;
	if (info.type == FILE_ABSENT)
		note_absent(resolver, path, rule);
	if (info.type == FILE_ABSENT || !is_wanted(info.type))
		return NULL;
	for (size_t i = 0; i < links.count; i++)
		scan_record(resolver->scan, &resolver->scan->followed, links.items[i].path, FILE_SYMLINK, rule);
	if (!is_lifted(plan, path, rule) && holds_writable(plan, path))
		return path;
	lock(resolver, path, info.type, rule);
	return NULL;
}

static bool is_anything(enum file_type type)
{
	return type != FILE_UNKNOWN;
}

static bool is_file(enum file_type type)
{
	return type == FILE_REGULAR || type == FILE_FIFO;
}

/* Locks the obeyed names of a git directory that is not called .git. */
static void lock_names(struct resolver *resolver, const struct repository *repository)
{
	const struct plan *plan = resolver->scan->plan;
	const struct filesystem *fs = plan->context.fs;
	bool is_worktree = repository->directory.kind == GIT_WORKTREE;
	for (size_t i = 0; i < sizeof obeyed_names / sizeof obeyed_names[0]; i++) {
		const char *name = obeyed_names[i];
		const char *path = path_join(plan->arena, repository->directory.path, name);
		const struct rule *rule;
		struct file_info info;
		if (is_worktree && strcmp(name, "config.worktree") != 0)
			continue;
		if (fs->inspect(fs, path, &info) < 0 || info.type == FILE_ABSENT)
			continue;
		rule = rule_for(resolver, repository, name, info.type == FILE_DIRECTORY);
		if (!rule)
			continue;
		/* `info` may be a symlink itself. */
		if (info.type == FILE_SYMLINK || strchr(name, '/'))
			lock_resolved(resolver, path, rule, is_anything);
		else
			lock(resolver, path, info.type, rule);
	}
}

/* The first reason stays: the repositories are in order. */
static void note_unheld(struct resolver *resolver, const char *reason)
{
	if (!resolver->scan->results->unheld_setting)
		resolver->scan->results->unheld_setting = reason;
}

/* Locks what one setting names, with relative paths from `directory`. */
static void lock_named(struct resolver *resolver, const struct repository *repository, const struct git_setting *setting,
		       const char *directory)
{
	const struct plan *plan = resolver->scan->plan;
	bool is_path = setting->key->form == GIT_FORM_PATH;
	bool is_hooks = is_path && (setting->key->effects & GIT_EXECUTES);
	struct git_paths paths = { 0 };
	const struct rule *rule = rule_for(resolver, repository, is_hooks ? "hooks" : "config", is_hooks);

	if (!rule)
		return;
	git_setting_paths(plan->arena, setting, directory, plan->context.home, &paths);
	for (size_t i = 0; i < paths.count; i++) {
		const char *whole = lock_resolved(resolver, paths.items[i], rule, is_path ? is_anything : is_file);
		if (whole)
			note_unheld(resolver,
				    arena_printf(plan->arena, "%s in %s:%u names %s, which stays writable",
						 git_setting_name(plan->arena, setting), setting->file, setting->line, whole));
	}
}

/* Returns the settings that hold for a repository. Worktrees share those of the common
 * directory. */
static const struct git_settings *settings_of(struct resolver *resolver, const struct repository *repository)
{
	const struct plan *plan = resolver->scan->plan;
	const struct filesystem *fs = plan->context.fs;
	const char *common = repository->directory.common;
	struct configuration *configuration;

	for (size_t i = resolver->configurations.count; i-- > 0;)
		if (strcmp(resolver->configurations.items[i]->common, common) == 0)
			return &resolver->configurations.items[i]->settings;
	configuration = arena_alloc(plan->arena, sizeof *configuration);
	configuration->common = common;
	*(struct configuration **)arena_push(plan->arena, &resolver->configurations) = configuration;
	git_settings_read(fs, plan->arena, plan->context.home, path_join(plan->arena, common, "config"),
			  &configuration->settings);
	return &configuration->settings;
}

static void lock_settings(struct resolver *resolver, const struct repository *repository, const struct git_settings *settings)
{
	const struct plan *plan = resolver->scan->plan;
	if (settings->unread)
		note_unheld(resolver, arena_printf(plan->arena, "%s could not be read to its end", settings->unread));
	for (size_t i = 0; i < settings->count; i++) {
		const struct git_setting *setting = &settings->items[i];
		if (!(setting->key->effects & GIT_NAMES) || !setting->value[0])
			continue;
		lock_named(resolver, repository, setting,
			   repository->worktree ? repository->worktree : repository->directory.path);
		for (size_t k = 0; k < settings->count; k++)
			if (settings->items[k].key->effects == GIT_REDIRECTS &&
			    strcasecmp(settings->items[k].name, "worktree") == 0)
				lock_named(resolver, repository, setting,
					   path_absolute(plan->arena, repository->directory.path, settings->items[k].value));
	}
}

static void lock_repository(struct resolver *resolver, const struct repository *repository)
{
	struct scan *scan = resolver->scan;
	const struct plan *plan = scan->plan;
	const struct git_directory *directory = &repository->directory;
	const struct git_settings *settings;

	scan->root = plan_grant_for(plan, plan_is_writable(plan, directory->path) ? directory->path : directory->common);
	for (size_t i = 0; i < directory->links.count; i++)
		scan_record(scan, &scan->followed, directory->links.items[i].path, FILE_SYMLINK, &rule_git_pointer);
	if (!repository->is_searched)
		lock_names(resolver, repository);
	if (strcmp(directory->common, directory->path) != 0 && !is_born(resolver, directory->common)) {
		struct repository common = *repository;
		common.directory = (struct git_directory){ .path = directory->common, .common = directory->common };
		lock_names(resolver, &common);
	}
	settings = settings_of(resolver, repository);
	lock_settings(resolver, repository, settings);
	if (settings->has_worktree_config) {
		struct git_settings own = { 0 };
		git_settings_read(plan->context.fs, plan->arena, plan->context.home,
				  path_join(plan->arena, directory->path, "config.worktree"), &own);
		lock_settings(resolver, repository, &own);
	}
}

/* True if the path belongs to a repository that was made inside. */
static bool is_own(const struct resolver *resolver, const char *path)
{
	for (size_t i = 0; i < resolver->repositories.count; i++) {
		const struct repository *repository = &resolver->repositories.items[i];
		const char *directory = repository->directory.path, *rest;
		if (!repository->is_born)
			continue;
		if (strcmp(path, repository->dot_git) == 0)
			return true;
		if (!path_is_within(path, directory) || strcmp(path, directory) == 0)
			continue;
		rest = path + strlen(directory) + 1;
		for (size_t k = 0; k < sizeof own_names / sizeof own_names[0]; k++)
			if (path_is_within(rest, own_names[k]))
				return true;
	}
	return false;
}

/* Takes back the locks that the search made by name. */
static void unlock_own(const struct resolver *resolver, struct scan_matches *matches)
{
	size_t kept = 0;
	for (size_t i = 0; i < matches->count; i++)
		if (!is_own(resolver, matches->items[i].path))
			matches->items[kept++] = matches->items[i];
	matches->count = kept;
}

static int compare_repositories(const void *left, const void *right)
{
	const struct repository *a = left, *b = right;
	int order = strcmp(a->directory.path, b->directory.path);
	if (order == 0)
		order = a->directory.kind < b->directory.kind ? -1 : a->directory.kind > b->directory.kind;
	return order ? order : strcmp(a->dot_git, b->dot_git);
}

/* Lists each git directory once, as what it is to the working tree if there is one. */
static void list_directories(const struct resolver *resolver)
{
	const struct plan *plan = resolver->scan->plan;
	struct plan_git_directories *list = &resolver->scan->results->git_directories;
	for (size_t i = 0; i < resolver->repositories.count; i++) {
		const struct repository *repository = &resolver->repositories.items[i];
		const struct git_directory *directory = &repository->directory;
		if (!plan_is_writable(plan, directory->path) ||
		    (list->count > 0 && strcmp(list->items[list->count - 1].path, directory->path) == 0))
			continue;
		*(struct plan_git_directory *)arena_push(plan->arena, list) = (struct plan_git_directory){
			.path = directory->path,
			.common = directory->common,
			.kind = directory->kind,
			.is_born = repository->is_born,
		};
	}
}

/* Lists the symlinks in git directories, for the comparison after the run. */
static void list_links(const struct resolver *resolver)
{
	struct scan_results *results = resolver->scan->results;
	const struct scan_links *links = &resolver->scan->links;
	for (size_t i = 0; i < links->count; i++) {
		bool is_in_git = false;
		for (size_t k = 0; k < results->git_directories.count && !links->items[i]->outer && !is_in_git; k++)
			is_in_git = path_is_within(links->items[i]->path, results->git_directories.items[k].path) ||
				    path_is_within(links->items[i]->path, results->git_directories.items[k].common);
		if (is_in_git)
			*(struct plan_match *)arena_push(resolver->scan->plan->arena, &results->git_links) =
				(struct plan_match){ .path = links->items[i]->path,
						     .type = FILE_SYMLINK,
						     .rule = &rule_marker };
	}
}

static int compare_noted(const void *left, const void *right)
{
	const struct plan_match *a = left, *b = right;
	int order = strcmp(a->path, b->path);
	return order ? order : (a->type > b->type) - (a->type < b->type);
}

void scan_git(struct scan *scan)
{
	const struct plan *plan = scan->plan;
	struct resolver resolver = { .scan = scan };
	struct repositories *repositories = &resolver.repositories;
	bool has_born = false;

	if (scan->gits.count == 0)
		return;
	born_load(plan->context.fs, plan->arena, plan->context.state_directory, plan->state.project_key, plan->context.uid,
		  &resolver.born);
	qsort(scan->gits.items, scan->gits.count, sizeof *scan->gits.items, compare_noted);
	for (size_t i = 0; i < scan->gits.count; i++)
		if (i == 0 || compare_noted(&scan->gits.items[i], &scan->gits.items[i - 1]) != 0)
			resolve(&resolver, &scan->gits.items[i]);
	if (repositories->count > 0)
		qsort(repositories->items, repositories->count, sizeof *repositories->items, compare_repositories);
	for (size_t i = 0; i < repositories->count; i++)
		has_born |= repositories->items[i].is_born;
	if (has_born) {
		unlock_own(&resolver, &scan->locked);
		unlock_own(&resolver, &scan->protected_links);
	}
	for (size_t i = 0; i < repositories->count; i++)
		if (!repositories->items[i].is_born)
			lock_repository(&resolver, &repositories->items[i]);
	list_directories(&resolver);
	list_links(&resolver);
}
