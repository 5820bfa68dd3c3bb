/* SPDX-License-Identifier: Apache-2.0 */
/* The paths of this installation, which `berm setup` writes into the settings of other programs.
 * Found from the path of the running program, never by PATH, so that a moved tree or
 * a build that was never installed names itself and not another berm. */
#ifndef BERM_COMMON_CONTEXT_INSTALL_PATHS_H
#define BERM_COMMON_CONTEXT_INSTALL_PATHS_H

#include <stdbool.h>

#include "common/base/arena.h"
#include "common/fs/filesystem.h"

struct install_paths {
	const char *program; /* berm */
	const char *shell; /* berm-sh, beside it */
	const char *shims; /* the directory with bash, zsh, sh, dash and fish */
	const char *plugins; /* the directory with berm's plugins for other programs, beside the shims */
	/* False: a build directory, with its shims in `shims` beside the program. */
	bool is_installed;
};

/* Finds the paths for `executable`, berm's path in struct context. Does not check that the files
 * exist. */
void install_paths_find(struct arena *arena, const struct filesystem *fs, const char *executable, struct install_paths *paths);

#endif
