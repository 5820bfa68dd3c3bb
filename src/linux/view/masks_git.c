/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of a submodule as git inside reads it: without core.worktree. `git submodule
 * update` rewrites that setting each time, with the same value, and fails if it cannot. If it is
 * not set, git writes nothing and uses the directory with the .git file as the worktree. The host's
 * file is not changed. */
#include "linux/view/internal.h"

#include <fcntl.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/format/git_config.h"
#include "linux/syscalls.h"

enum { CONFIG_BYTES = 65536 };

static bool is_submodule_config(const char *path)
{
	return strstr(path, "/modules/") && strcmp(path_base_name(path), "config") == 0;
}

/* Returns a small text file, in the arena; NULL if it cannot be read or is no text. */
static char *read_text(int root, struct arena *arena, const char *path)
{
	autoclose int fd = sys_openat2(root, path + 1, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, RESOLVE_NO_SYMLINKS);
	struct private_file file;
	if (fd < 0 || private_file_read_fd(arena, fd, CONFIG_BYTES, &file) < 0)
		return NULL;
	return strlen(file.bytes) == file.length ? file.bytes : NULL;
}

const char *masks_submodule_config(int root, struct arena *arena, const char *path)
{
	char *text = is_submodule_config(path) ? read_text(root, arena, path) : NULL;
	return text ? git_config_without(arena, text, "core", "worktree") : NULL;
}
