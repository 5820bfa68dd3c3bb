/* SPDX-License-Identifier: Apache-2.0 */
/* Grants reading of a tree without what the plan hides in it. A rule holds for all that lies below its path and nothing takes a part
 * back, so the directories on the way to something hidden are granted entry by entry. What the host creates in such a directory during
 * the run is not granted. Reads names only. */
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

/* What is hidden at or below a directory. */
struct hidden {
	bool is_itself, is_below, has_directory;
};

static struct hidden look(const struct plan *plan, const char *path)
{
	struct hidden hidden = { 0 };
	for (size_t i = 0; i < plan->masked.count; i++) {
		const struct plan_match *match = &plan->masked.items[i];
		if (path_is_within(path, match->path))
			hidden.is_itself = true;
		if (!path_is_within(match->path, path))
			continue;
		hidden.is_below = true;
		hidden.has_directory = hidden.has_directory || match->type == FILE_DIRECTORY;
	}
	return hidden;
}

static void close_directory(DIR **directory)
{
	if (*directory)
		closedir(*directory);
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
	__attribute__((cleanup(close_directory))) DIR *directory = open_directory(path);
	const struct dirent *entry;

	if (!directory && (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP))
		return 0; /* to grant less is always safe */
	if (!directory)
		return error_errno(err, errno, "cannot list %s for Landlock", path);
	while (errno = 0, (entry = readdir(directory))) {
		/* A link grants nothing: what it leads to is judged where it lies. */
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
	/* Listing is granted for all below too: only where no hidden directory could be listed by it. */
	if (!hidden.has_directory && landlock_grant(around->ruleset, path, RESOLVE_NO_SYMLINKS, READ_DIR, err) < 0)
		return -1;
	return grant_entries(around, path, err);
}

int landlock_grant_around(const struct landlock_ruleset *ruleset, const struct plan *plan, const char *path, struct error *err)
{
	struct around around = { ruleset, plan };
	return grant_tree(&around, path, err);
}
