/* SPDX-License-Identifier: Apache-2.0 */
/* Walks <state>/projects/KEY/CLASS. A class is renamed under an exclusive lock and then removed: a
 * run either has it locked and keeps it, or never sees it. */
#include "common/state/list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/fs/path.h"
#include "common/plan/plan.h"
#include "common/state/ports.h"
#include "common/state/state.h"
#include "common/base/text.h"

enum { PATH_BYTES = 4096, RENAME_TRIES = 100 };

/* Prefix of classes that are being removed. The next reset removes those of an interrupted one. */
static const char removed_prefix[] = ".removed-";

struct names {
	const char **items;
	size_t count;
};

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Lists the entries of a directory, sorted. Does not close `directory`. */
static int list_names(struct arena *arena, int directory, const char *shown, struct names *names, struct error *err)
{
	autoclosedir DIR *stream = NULL;
	const struct dirent *entry;
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && !(stream = fdopendir(fd)))
		close(fd);
	if (!stream)
		return error_errno(err, errno, "cannot read %s", shown);
	while ((entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			*arena_push(arena, names) = arena_copy(arena, entry->d_name);
	if (names->count > 0)
		qsort(names->items, names->count, sizeof *names->items, compare_names);
	return 0;
}

/* Returns the project's path, or NULL unless the directory's name is derived from it. */
static const char *read_project(struct arena *arena, int directory, const char *key)
{
	autoclose int fd = openat(directory, state_path_file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	char path[PATH_BYTES + 1];
	ssize_t length = fd < 0 ? -1 : read(fd, path, PATH_BYTES);

	if (length <= 0 || memchr(path, '\0', (size_t)length))
		return NULL;
	path[length] = '\0';
	return strcmp(plan_project_key(arena, path), key) == 0 ? arena_copy(arena, path) : NULL;
}

/* One project's directory during a walk. */
struct project {
	const char *key, *shown;
	int fd; /* -1: refused, see problem */
	const char *problem;
};

struct state_listing {
	struct arena *arena;
	const char *state_directory;
	int projects;
	int short_tmp; /* temporary directories under short names; -1: there are none */
	struct names keys;
	size_t next;
};

static void walk_end(struct state_listing *walk)
{
	cleanup_close(&walk->projects);
	cleanup_close(&walk->short_tmp);
}

#define autowalk __attribute__((cleanup(walk_end)))

/* Lists all keys, or only `only`. A missing state directory has no projects. */
static int walk_start(struct state_listing *walk, const char *only, struct error *err)
{
	const char *shown = path_join(walk->arena, walk->state_directory, state_projects);
	autoclose int top = state_open(walk->arena, walk->state_directory, false, err);

	if (top >= 0)
		walk->projects = state_enter(top, state_projects, shown, false, err);
	if (top >= 0) {
		struct error absent = { 0 };
		walk->short_tmp = state_enter(top, PLAN_SHORT_TMP, walk->state_directory, false, &absent);
	}
	if (walk->projects < 0)
		return err->number == ENOENT ? 0 : -1;
	if (!only)
		return list_names(walk->arena, walk->projects, shown, &walk->keys, err);
	*arena_push(walk->arena, &walk->keys) = only;
	return 0;
}

/* The caller closes project->fd. */
static bool walk_next(struct state_listing *walk, struct project *project)
{
	while (walk->projects >= 0 && walk->next < walk->keys.count) {
		struct error err = { 0 };
		*project = (struct project){ .key = walk->keys.items[walk->next++] };
		project->shown = arena_printf(walk->arena, "%s/%s/%s", walk->state_directory, state_projects, project->key);
		project->fd = state_enter(walk->projects, project->key, project->shown, false, &err);
		if (project->fd >= 0 || err.number != ENOENT) {
			project->problem = project->fd < 0 ? arena_copy(walk->arena, err.message) : NULL;
			return true;
		}
	}
	return false;
}

static bool is_class(const char *name)
{
	return strcmp(name, state_path_file) != 0 && strcmp(name, state_copies) != 0 && strcmp(name, state_ports) != 0;
}

/* Opens the directory of all copies as if it were a project. The caller closes copies->fd. False if
 * there is none. */
static bool open_copies(struct arena *arena, const struct project *project, struct project *copies)
{
	struct error err = { 0 };
	*copies = (struct project){ .key = project->key, .shown = path_join(arena, project->shown, state_copies) };
	copies->fd = state_enter(project->fd, state_copies, copies->shown, false, &err);
	return copies->fd >= 0;
}

static void measure_tmp(const struct state_listing *walk, const struct project *project, const char *name, int class,
			struct state_size *size)
{
	const char *short_name = plan_short_name(walk->arena, project->key, name);
	struct stat info;
	if (walk->short_tmp >= 0 && fstatat(walk->short_tmp, short_name, &info, AT_SYMLINK_NOFOLLOW) == 0)
		state_measure(walk->short_tmp, short_name, size);
	else
		state_measure(class, "tmp", size);
}

/* A path that cannot be looked at may still lead to the project, on a disk that comes back. */
static const char *orphan_reason(const char *project, const char *class)
{
	struct stat info;
	if (project && lstat(project, &info) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return "its project is gone";
	return text_starts_with(class, PLAN_OLD_CLASS) ? "of an earlier version" : NULL;
}

static void add_class(const struct state_listing *walk, const struct project *project, const char *path, const char *name,
		      bool has_sizes, struct state_entries *entries)
{
	struct arena *arena = walk->arena;
	struct state_entry *entry = arena_push(arena, entries);
	struct error err = { 0 };
	struct stat info;
	autoclose int fd = state_enter(project->fd, name, path_join(arena, project->shown, name), false, &err);

	*entry = (struct state_entry){ .project_key = project->key, .project = path, .name = name, .grant_class = name };
	if (strcmp(name, state_undo) == 0)
		entry->kind = STATE_UNDO;
	entry->is_leftover = text_starts_with(name, removed_prefix);
	entry->orphan = orphan_reason(path, name);
	if (fd < 0 || fstat(fd, &info) < 0) {
		entry->problem = fd < 0 ? arena_copy(arena, err.message) : "cannot be inspected";
		return;
	}
	entry->last_use = (int64_t)info.st_mtime;
	entry->is_in_use = state_is_in_use(fd);
	if (has_sizes && entry->kind == STATE_UNDO)
		state_measure(project->fd, name, &entry->home);
	else if (has_sizes) {
		state_measure(fd, "home", &entry->home);
		measure_tmp(walk, project, name, fd, &entry->tmp);
	}
}

static void add_copy(const struct state_listing *walk, const struct project *copies, const char *path, const char *name,
		     bool has_sizes, struct state_entries *entries)
{
	struct state_entry *entry;
	add_class(walk, copies, path, name, false, entries);
	entry = &entries->items[entries->count - 1];
	entry->kind = STATE_COPY;
	entry->orphan = orphan_reason(path, ""); /* the user chose its name */
	entry->name = name;
	entry->grant_class = arena_printf(walk->arena, "copy %s", name);
	if (has_sizes && !entry->problem)
		state_measure(copies->fd, name, &entry->home);
}

static int list_copies(const struct state_listing *walk, const struct project *project, const char *path, bool has_sizes,
		       struct state_entries *entries, struct error *err)
{
	struct names names = { 0 };
	struct project copies;
	int status;

	if (!open_copies(walk->arena, project, &copies))
		return 0;
	status = list_names(walk->arena, copies.fd, copies.shown, &names, err);
	for (size_t i = 0; status == 0 && i < names.count; i++)
		add_copy(walk, &copies, path, names.items[i], has_sizes, entries);
	cleanup_close(&copies.fd);
	return status;
}

static int list_project(const struct state_listing *walk, const struct project *project, bool has_sizes,
			struct state_entries *entries, struct error *err)
{
	struct arena *arena = walk->arena;
	struct names classes = { 0 };
	const char *path;

	if (project->fd < 0) {
		*arena_push(arena, entries) = (struct state_entry){ .project_key = project->key, .problem = project->problem };
		return 0;
	}
	path = read_project(arena, project->fd, project->key);
	if (list_names(arena, project->fd, project->shown, &classes, err) < 0)
		return -1;
	for (size_t i = 0; i < classes.count; i++)
		if (is_class(classes.items[i]))
			add_class(walk, project, path, classes.items[i], has_sizes, entries);
	return list_copies(walk, project, path, has_sizes, entries, err);
}

int state_list(struct arena *arena, const char *state_directory, const char *project_key, bool has_sizes,
	       struct state_entries *entries, struct error *err)
{
	autowalk struct state_listing walk = {
		.arena = arena, .state_directory = state_directory, .projects = -1, .short_tmp = -1
	};
	struct project project;

	*entries = (struct state_entries){ 0 };
	if (walk_start(&walk, project_key, err) < 0)
		return -1;
	while (walk_next(&walk, &project)) {
		int status = list_project(&walk, &project, has_sizes, entries, err);
		cleanup_close(&project.fd);
		if (status < 0)
			return -1;
	}
	return 0;
}

/* Renames to an unused name in the same directory. */
static int rename_away(int directory, const char *name, char *removed, size_t size)
{
	for (int i = 0; i < RENAME_TRIES; i++) {
		struct stat taken;
		snprintf(removed, size, "%s%ld-%d", removed_prefix, (long)getpid(), i);
		if (fstatat(directory, removed, &taken, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		return renameat(directory, name, directory, removed);
	}
	errno = EEXIST;
	return -1;
}

static void note_failure(struct state_reset *result, const struct error *err)
{
	if (!error_is_set(&result->failure))
		result->failure = *err;
}

/* Removes the temporary directory under its short name, while the class is locked in its place: no
 * run can use it. */
static void remove_tmp(const struct state_listing *walk, const struct project *project, const char *name,
		       struct state_reset *result)
{
	const char *short_name = plan_short_name(walk->arena, project->key, name);
	struct error err = { 0 };
	struct stat info;
	if (walk->short_tmp < 0 || fstatat(walk->short_tmp, short_name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (state_remove(walk->short_tmp, short_name, short_name, &err) < 0)
		note_failure(result, &err);
}

/* Holds the lock to the end, so that concurrent resets do not interfere. A run that starts
 * meanwhile finds the name unused. A copy has no temporary directory, but perhaps the name of a
 * class that has one. */
static void reset_class(const struct state_listing *walk, const struct project *project, const char *name, bool is_copy,
			struct state_reset *result)
{
	struct arena *arena = walk->arena;
	const char *shown = path_join(arena, project->shown, name);
	struct error err = { 0 };
	autoclose int fd = state_enter(project->fd, name, shown, false, &err);
	char removed[64];
	int locked = fd < 0 ? -1 : state_lock(fd, false);

	if (fd < 0) {
		if (err.number != ENOENT)
			note_failure(result, &err);
		return;
	}
	if (locked == 1) {
		result->in_use++;
		return;
	}
	if (locked < 0) {
		error_errno(&err, errno, "cannot tell whether a run is using %s", shown);
		note_failure(result, &err);
		return;
	}
	if (!is_copy)
		remove_tmp(walk, project, name, result);
	if (rename_away(project->fd, name, removed, sizeof removed) < 0)
		error_errno(&err, errno, "cannot remove %s", shown);
	else if (state_remove(project->fd, removed, shown, &err) == 0)
		result->removed++;
	if (error_is_set(&err))
		note_failure(result, &err);
}

static void reset_copies(const struct state_listing *walk, const struct project *project, struct state_reset *result)
{
	struct names names = { 0 };
	struct error err = { 0 };
	struct project copies;

	if (!open_copies(walk->arena, project, &copies))
		return;
	if (list_names(walk->arena, copies.fd, copies.shown, &names, &err) < 0)
		note_failure(result, &err);
	for (size_t i = 0; i < names.count; i++)
		reset_class(walk, &copies, names.items[i], true, result);
	cleanup_close(&copies.fd);
	unlinkat(project->fd, state_copies, AT_REMOVEDIR);
}

/* Removes the project's directory if nothing but its own files is left. rmdir fails if a run
 * creates its class there meanwhile. */
static void remove_empty(const struct state_listing *walk, const struct project *project)
{
	struct names names = { 0 };
	struct error ignored = { 0 };
	if (list_names(walk->arena, project->fd, project->shown, &names, &ignored) < 0)
		return;
	for (size_t i = 0; i < names.count; i++)
		if (is_class(names.items[i]) || strcmp(names.items[i], state_copies) == 0)
			return;
	state_forget_ports(project->fd);
	unlinkat(project->fd, state_path_file, 0);
	unlinkat(walk->projects, project->key, AT_REMOVEDIR);
}

static void reset_project(struct arena *arena, const struct state_listing *walk, const struct project *project,
			  struct state_reset *result)
{
	struct names classes = { 0 };
	struct error err = { 0 };
	size_t kept = result->in_use;

	if (project->fd < 0) {
		error_set(&err, "%s", project->problem);
		note_failure(result, &err);
		return;
	}
	if (list_names(arena, project->fd, project->shown, &classes, &err) < 0) {
		note_failure(result, &err);
		return;
	}
	for (size_t i = 0; i < classes.count; i++)
		if (is_class(classes.items[i]))
			reset_class(walk, project, classes.items[i], false, result);
	reset_copies(walk, project, result);
	if (result->in_use == kept && !error_is_set(&result->failure))
		remove_empty(walk, project);
}

int state_reset(struct arena *arena, const char *state_directory, const char *project_key, struct state_reset *result,
		struct error *err)
{
	autowalk struct state_listing walk = {
		.arena = arena, .state_directory = state_directory, .projects = -1, .short_tmp = -1
	};
	struct project project;

	*result = (struct state_reset){ 0 };
	if (walk_start(&walk, project_key, err) < 0)
		return -1;
	while (walk_next(&walk, &project)) {
		reset_project(arena, &walk, &project, result);
		cleanup_close(&project.fd);
	}
	return 0;
}

int state_remove_entry(struct arena *arena, const char *state_directory, const struct state_entry *entry,
		       struct state_reset *result, struct error *err)
{
	autowalk struct state_listing walk = {
		.arena = arena, .state_directory = state_directory, .projects = -1, .short_tmp = -1
	};
	struct project project, copies;

	if (walk_start(&walk, entry->project_key, err) < 0)
		return -1;
	if (!walk_next(&walk, &project))
		return 0;
	if (project.fd >= 0 && entry->kind != STATE_COPY) {
		reset_class(&walk, &project, entry->name, false, result);
	} else if (project.fd >= 0 && open_copies(arena, &project, &copies)) {
		reset_class(&walk, &copies, entry->name, true, result);
		cleanup_close(&copies.fd);
		unlinkat(project.fd, state_copies, AT_REMOVEDIR);
	}
	if (project.fd >= 0)
		remove_empty(&walk, &project);
	cleanup_close(&project.fd);
	return 0;
}
