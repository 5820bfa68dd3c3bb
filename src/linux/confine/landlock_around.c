/* SPDX-License-Identifier: Apache-2.0 */
/* Grants reading of a tree except for what the plan masks in it. A rule applies to everything below
 * its path and no rule can take a part back. So the directories above a masked path are granted
 * entry by entry. Files that the host creates in such a directory during the run are not granted.
 * Reads names only. */
#include "linux/confine/landlock_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/fs/filesystem.h"
#include "linux/syscalls.h"

struct around {
	const struct landlock_ruleset *ruleset;
	const struct plan *plan;
};

/* The masks at or below a path; has_directory: one of those below is a directory. */
struct hidden {
	bool is_itself, is_below, has_directory;
};

static struct hidden look(const struct plan *plan, const char *path)
{
	struct hidden hidden = { 0 };
	for (size_t i = 0; i < plan->scan->masked.count; i++) {
		const struct plan_match *match = &plan->scan->masked.items[i];
		if (path_is_within(path, match->path))
			hidden.is_itself = true;
		if (!path_is_within(match->path, path))
			continue;
		hidden.is_below = true;
		hidden.has_directory = hidden.has_directory || match->type == FILE_DIRECTORY;
	}
	return hidden;
}

static DIR *open_directory(const char *path)
{
	int fd = sys_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !directory)
		close(fd);
	return directory;
}

static int grant_tree(const struct around *around, const char *path, struct error *err);

static int grant_entries(const struct around *around, const char *path, struct error *err)
{
	autoclosedir DIR *directory = open_directory(path);
	const struct dirent *entry;

	if (!directory && (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP))
		return 0; /* granting less is always safe */
	if (!directory)
		return error_errno(err, errno, "cannot list %s for Landlock", path);
	while (errno = 0, (entry = readdir(directory))) {
		/* A symlink is skipped: a rule for its target depends on the target's own path. */
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || entry->d_type == DT_LNK)
			continue;
		if (grant_tree(around, path_join(around->plan->arena, path, entry->d_name), err) < 0)
			return -1;
	}
	return errno ? error_errno(err, errno, "cannot list %s for Landlock", path) : 0;
}

static int grant_tree(const struct around *around, const char *path, struct error *err)
{
	struct hidden hidden = look(around->plan, path);
	if (hidden.is_itself)
		return 0;
	if (!hidden.is_below)
		return landlock_grant(around->ruleset, path, RESOLVE_NO_SYMLINKS, READ_RIGHTS, err);
	/* The right to list applies to all below too, so it is granted only if no masked directory
	 * is there. */
	if (!hidden.has_directory && landlock_grant(around->ruleset, path, RESOLVE_NO_SYMLINKS, READ_DIR, err) < 0)
		return -1;
	return grant_entries(around, path, err);
}

int landlock_grant_around(const struct landlock_ruleset *ruleset, const struct plan *plan, const char *path, struct error *err)
{
	struct around around = { ruleset, plan };
	return grant_tree(&around, path, err);
}
