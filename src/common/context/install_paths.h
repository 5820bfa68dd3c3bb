/* SPDX-License-Identifier: Apache-2.0 */
/* Where the programs of this berm lie: what `berm setup` writes into other programs' settings. Found from the running program's own
 * path, never by PATH, so that a tree that was moved, or a build that was never installed, names itself and not another berm. */
#ifndef BERM_COMMON_CONTEXT_INSTALL_PATHS_H
#define BERM_COMMON_CONTEXT_INSTALL_PATHS_H

#include <stdbool.h>

#include "common/base/arena.h"
#include "common/fs/filesystem.h"

struct install_paths {
	const char *program; /* berm */
	const char *shell; /* berm-sh, beside it */
	const char *shims; /* the directory with bash, zsh, sh, dash and fish */
	bool is_installed; /* false: a build directory, with its shims in `shims` beside the program */
};

/* `executable` is berm's own path (struct context). Absent files are named all the same: the caller looks, if it matters. */
void install_paths_find(struct arena *arena, const struct filesystem *fs, const char *executable, struct install_paths *paths);

#endif
