/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of a submodule, as git inside reads it: without core.worktree. `git submodule update` writes that setting anew each
 * time, with the value it has, and fails where it cannot; where it is not set, nothing is written, and git takes the directory in
 * which it found the pointer for the worktree. The file of the host is not touched. */
#include "linux/view/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/format/git_config.h"
#include "linux/syscalls.h"

enum { CONFIG_BYTES = 65536 };

static bool is_submodule_config(const char *path)
{
	return strstr(path, "/modules/") && strcmp(path_base_name(path), "config") == 0;
}

/* The whole of a small text file, or NULL. */
static char *read_text(int root, struct arena *arena, const char *path)
{
	autoclose int fd = sys_openat2(root, path + 1, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, RESOLVE_NO_SYMLINKS);
	struct stat info;
	size_t used = 0;
	char *text;
	if (fd < 0 || fstat(fd, &info) < 0 || !S_ISREG(info.st_mode) || info.st_size > CONFIG_BYTES)
		return NULL;
	text = arena_alloc(arena, CONFIG_BYTES + 1);
	while (used < CONFIG_BYTES) {
		ssize_t got = read(fd, text + used, CONFIG_BYTES - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return NULL;
		if (got == 0)
			break;
		used += (size_t)got;
	}
	text[used] = '\0';
	return used < CONFIG_BYTES && strlen(text) == used ? text : NULL;
}

const char *masks_submodule_config(int root, struct arena *arena, const char *path)
{
	char *text = is_submodule_config(path) ? read_text(root, arena, path) : NULL;
	return text ? git_config_without(arena, text, "core", "worktree") : NULL;
}
