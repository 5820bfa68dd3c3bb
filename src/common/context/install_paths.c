/* SPDX-License-Identifier: Apache-2.0 */
/* The paths of this installation. The names chosen at build time are preferred while they lead to this very program: a path such as
 * /usr/local/bin/berm survives an update, the resolved one (a versioned directory behind a symlink) may not. Changes nothing. */
#include "common/context/install_paths.h"

#include <sys/stat.h>

#include "install_dirs.h"

static bool is_same_file(const char *a, const char *b)
{
	struct stat first, second;
	return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static bool is_directory(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

void install_paths_find(struct arena *arena, const struct filesystem *fs, const char *executable, struct install_paths *paths)
{
	const char *directory, *shims = NULL;
	struct error ignored = { 0 };

	if (!executable || is_same_file(BERM_BINDIR "/berm", executable)) {
		*paths = (struct install_paths){ BERM_BINDIR "/berm", BERM_BINDIR "/berm-sh", BERM_SHIMS_DIR, true };
		return;
	}
	directory = path_parent(arena, executable);
	paths->program = executable;
	paths->shell = path_join(arena, directory, "berm-sh");
	/* The directory may be reached through a symlink (/bin is one in many places), where a textual `..` would go wrong. */
	if (path_resolve(fs, arena, path_absolute(arena, directory, BERM_SHIMS_FROM_BINDIR), &shims, NULL, NULL, &ignored) < 0)
		shims = NULL;
	paths->is_installed = shims && is_directory(shims);
	paths->shims = paths->is_installed ? shims : path_join(arena, directory, "shims");
}
