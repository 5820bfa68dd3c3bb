/* SPDX-License-Identifier: Apache-2.0 */
/* The copies of a project, with size, last use, and whether a run has them. Changes nothing. */
#include "linux/copies/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/state/state.h"

static int compare_entries(const void *left, const void *right)
{
	return strcmp(((const struct copy_entry *)left)->name, ((const struct copy_entry *)right)->name);
}

static void add_entry(struct arena *arena, int copies, const char *name, bool has_sizes, struct copy_entries *entries)
{
	struct copy_entry *entry = arena_push(arena, entries);
	struct error err = { 0 };
	struct stat info;
	autoclose int fd = state_enter(copies, name, name, false, &err);

	*entry = (struct copy_entry){ .name = arena_copy(arena, name) };
	if (fd < 0 || fstat(fd, &info) < 0) {
		entry->problem = fd < 0 ? arena_copy(arena, err.message) : "cannot be inspected";
		return;
	}
	entry->last_use = (int64_t)info.st_mtime;
	entry->is_in_use = state_is_in_use(fd);
	entry->is_full = fstatat(fd, COPY_MADE, &info, AT_SYMLINK_NOFOLLOW) == 0;
	if (has_sizes)
		state_measure(fd, entry->is_full ? COPY_TREE : COPY_UPPER, &entry->size);
}

int copies_list(struct arena *arena, const char *state_directory, const char *project_key, bool has_sizes,
		struct copy_entries *entries, struct error *err)
{
	autoclose int state = copies_open_project(arena, state_directory, project_key, false, err);
	int copies = state < 0 ? -1 : state_enter(state, state_copies, state_copies, false, err);
	autoclosedir DIR *stream = copies < 0 ? NULL : fdopendir(copies);
	const struct dirent *entry;

	*entries = (struct copy_entries){ 0 };
	if (copies < 0) {
		if (err->number != ENOENT)
			return -1;
		*err = (struct error){ 0 };
		return 0;
	}
	if (!stream) {
		close(copies);
		return error_errno(err, ENOMEM, "cannot list the copies");
	}
	while ((entry = readdir(stream)))
		if (copy_name_is_valid(entry->d_name))
			add_entry(arena, copies, entry->d_name, has_sizes, entries);
	if (entries->count > 0)
		qsort(entries->items, entries->count, sizeof *entries->items, compare_entries);
	return 0;
}
