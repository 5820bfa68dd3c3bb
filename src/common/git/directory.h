/* SPDX-License-Identifier: Apache-2.0 */
/* The directories that git would use, whatever they are called: behind a `.git` that is a
 * directory, a file or a symlink, behind a commondir, and bare repositories. Follows as git does.
 * Never runs git, never writes. */
#ifndef BERM_COMMON_GIT_DIRECTORY_H
#define BERM_COMMON_GIT_DIRECTORY_H

#include <stdbool.h>

#include "common/base/arena.h"
#include "common/fs/filesystem.h"

enum git_kind {
	GIT_MAIN, /* of a working tree, by a `.git` of any type */
	GIT_WORKTREE, /* REPOSITORY/worktrees/NAME, with a commondir */
	GIT_MODULE, /* REPOSITORY/modules/PATH */
	GIT_BARE,
};

struct git_directory {
	const char *path; /* canonical */
	const char *common; /* canonical; holds the configuration, hooks and objects; usually `path` */
	enum git_kind kind;
	struct path_links links; /* symlinks on the way from `.git` to the path */
};

/* Follows a `.git` of that type. False if it leads to no git directory. A directory that is called
 * `.git` itself is believed to be one. */
bool git_directory_follow(const struct filesystem *fs, struct arena *arena, const char *dot_git, enum file_type type,
			  struct git_directory *found);
/* Examines a canonical directory that has an entry HEAD. False if git would not accept it. */
bool git_directory_examine(const struct filesystem *fs, struct arena *arena, const char *path, struct git_directory *found);
/* Returns the path in a file of one line, made absolute against the file's directory. `label` comes
 * before it: "gitdir: " in a `.git`, "" in commondir and gitdir. NULL if the file has another form.
 * The path is not canonical and may not exist. */
const char *git_directory_read_pointer(const struct filesystem *fs, struct arena *arena, const char *file, const char *label);

#endif
