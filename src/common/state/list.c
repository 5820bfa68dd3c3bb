/* SPDX-License-Identifier: Apache-2.0 */
/* Walks <state>/projects/KEY/CLASS. A class is first renamed under an exclusive lock and then removed: a run either has it and keeps
 * it, or never sees it. */
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
#include "common/fs/filesystem.h"
#include "common/plan/plan.h"
#include "common/state/state.h"
#include "common/base/text.h"

enum { PATH_BYTES = 4096, RENAME_TRIES = 100 };

/* What an interrupted reset leaves behind starts with this; the next one removes it. */
static const char removed_prefix[] = ".removed-";

struct names {
	const char **items;
	size_t count;
};

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The entries of a directory, sorted; the descriptor stays the caller's. */
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

/* The project's path, believed only if the directory's name is made from it. */
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

/* Each project's directory in turn; with a key that one only. */
struct project {
	const char *key, *shown;
	int fd; /* -1 if it is refused */
	const char *problem;
};

struct walk {
	struct arena *arena;
	const char *state_directory;
	int projects;
	struct names keys;
	size_t next;
};

static void walk_end(struct walk *walk)
{
	cleanup_close(&walk->projects);
}

#define autowalk __attribute__((cleanup(walk_end)))

/* A state directory that is not there holds no projects. */
static int walk_start(struct walk *walk, const char *only, struct error *err)
{
	const char *shown = path_join(walk->arena, walk->state_directory, state_projects);
	autoclose int top = state_open(walk->arena, walk->state_directory, false, err);

	if (top >= 0)
		walk->projects = state_enter(top, state_projects, shown, false, err);
	if (walk->projects < 0)
		return err->number == ENOENT ? 0 : -1;
	if (!only)
		return list_names(walk->arena, walk->projects, shown, &walk->keys, err);
	*arena_push(walk->arena, &walk->keys) = only;
	return 0;
}

/* The caller closes project->fd. */
static bool walk_next(struct walk *walk, struct project *project)
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
	return strcmp(name, state_path_file) != 0;
}

static void add_class(struct arena *arena, const struct project *project, const char *path, const char *name, bool has_sizes,
		      struct state_entries *entries)
{
	struct state_entry *entry = arena_push(arena, entries);
	struct error err = { 0 };
	struct stat info;
	autoclose int fd = state_enter(project->fd, name, path_join(arena, project->shown, name), false, &err);

	*entry = (struct state_entry){ .project_key = project->key, .project = path, .grant_class = name };
	entry->is_leftover = text_starts_with(name, removed_prefix);
	if (fd < 0 || fstat(fd, &info) < 0) {
		entry->problem = fd < 0 ? arena_copy(arena, err.message) : "cannot be looked at";
		return;
	}
	entry->last_use = (int64_t)info.st_mtime;
	entry->is_in_use = state_is_in_use(fd);
	if (has_sizes) {
		state_measure(fd, "home", &entry->home);
		state_measure(fd, "tmp", &entry->tmp);
	}
}

static int list_project(struct arena *arena, const struct project *project, bool has_sizes, struct state_entries *entries,
			struct error *err)
{
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
			add_class(arena, project, path, classes.items[i], has_sizes, entries);
	return 0;
}

int state_list(struct arena *arena, const char *state_directory, const char *project_key, bool has_sizes,
	       struct state_entries *entries, struct error *err)
{
	autowalk struct walk walk = { .arena = arena, .state_directory = state_directory, .projects = -1 };
	struct project project;

	*entries = (struct state_entries){ 0 };
	if (walk_start(&walk, project_key, err) < 0)
		return -1;
	while (walk_next(&walk, &project)) {
		int status = list_project(arena, &project, has_sizes, entries, err);
		cleanup_close(&project.fd);
		if (status < 0)
			return -1;
	}
	return 0;
}

/* A name that is not taken, in the same directory. */
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

/* The lock is held to the end, so that two resets at once do not meet; a run that comes meanwhile finds the old name free. */
static void reset_class(struct arena *arena, const struct project *project, const char *name, struct state_reset *result)
{
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
	if (rename_away(project->fd, name, removed, sizeof removed) < 0)
		error_errno(&err, errno, "cannot remove %s", shown);
	else if (state_remove(project->fd, removed, shown, &err) == 0)
		result->removed++;
	if (error_is_set(&err))
		note_failure(result, &err);
}

/* The project's own directory goes when nothing is left in it. A run that is just making its class there wins. */
static void reset_project(struct arena *arena, const struct walk *walk, const struct project *project,
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
			reset_class(arena, project, classes.items[i], result);
	if (result->in_use > kept || error_is_set(&result->failure))
		return;
	unlinkat(project->fd, state_path_file, 0);
	unlinkat(walk->projects, project->key, AT_REMOVEDIR);
}

int state_reset(struct arena *arena, const char *state_directory, const char *project_key, struct state_reset *result,
		struct error *err)
{
	autowalk struct walk walk = { .arena = arena, .state_directory = state_directory, .projects = -1 };
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
