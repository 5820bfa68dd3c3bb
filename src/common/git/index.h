/* SPDX-License-Identifier: Apache-2.0 */
/* The submodules that an index names. git status runs in each of them, so their configuration is
 * obeyed, wherever they are. Never writes. */
#ifndef BERM_COMMON_GIT_INDEX_H
#define BERM_COMMON_GIT_INDEX_H

#include <stddef.h>

#include "common/base/arena.h"
#include "common/fs/filesystem.h"
#include "common/git/settings.h"

enum { GIT_INDEX_SHARED = 64 + 1 }; /* the longest hash in hexadecimal, and its end */

/* Adds the paths of the submodules, relative to the working tree, from the index of a git directory
 * and from the shared index that it names. A file that git could not read either adds those up to
 * its fault. */
void git_index_submodules(const struct filesystem *fs, struct arena *arena, const char *git_directory, struct git_paths *paths);
/* The same for the bytes of one file. Fills `shared` with the hash of its shared index, or "", as
 * it reads with hashes of 20 and of 32 bytes. */
void git_index_parse(struct arena *arena, const char *bytes, size_t length, struct git_paths *paths,
		     char shared[2][GIT_INDEX_SHARED]);

#endif
