/* SPDX-License-Identifier: Apache-2.0 */
/* Prefers the paths chosen at build time if they lead to this program: /usr/local/bin/berm survives
 * an update, but a resolved path, such as a versioned directory behind a symlink, may not. */
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
		*paths = (struct install_paths){ BERM_BINDIR "/berm", BERM_BINDIR "/berm-sh", BERM_SHIMS_DIR,
						 path_join(arena, path_parent(arena, BERM_SHIMS_DIR), "plugins"), true };
		return;
	}
	directory = path_parent(arena, executable);
	paths->program = executable;
	paths->shell = path_join(arena, directory, "berm-sh");
	/* The directory may be a symlink, as /bin often is, so a textual `..` would be wrong. */
	if (path_resolve(fs, arena, path_absolute(arena, directory, BERM_SHIMS_FROM_BINDIR), &shims, NULL, NULL, &ignored) < 0)
		shims = NULL;
	paths->is_installed = shims && is_directory(shims);
	paths->shims = paths->is_installed ? shims : path_join(arena, directory, "shims");
	paths->plugins = path_join(arena, path_parent(arena, paths->shims), "plugins");
}
