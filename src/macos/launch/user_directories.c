/* SPDX-License-Identifier: Apache-2.0 */
/* mktemp, Java and Foundation take their temporary directory from confstr(), not from TMPDIR. With
 * a suffix in the environment confstr() leads them to a directory that only this run uses. If the
 * user's directories cannot be found, the run does without. */
#include "macos/launch/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/state/remove_tree.h"

enum { SUFFIX_BYTES = 13 }; /* of the tag: paths of sockets are short */

/* Returns the user's directory as the kernel names it, or NULL. */
static const char *find_directory(struct arena *arena, int name)
{
	char path[1024], real[PATH_MAX];
	size_t length = confstr(name, path, sizeof path);
	struct stat info;
	if (length == 0 || length > sizeof path || !realpath(path, real))
		return NULL;
	if (stat(real, &info) < 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid() || strcmp(real, "/") == 0)
		return NULL;
	return arena_copy(arena, real);
}

static void remove_directory(const char *path)
{
	struct error ignored = { 0 };
	autoclose int parent = -1;
	char copy[PATH_MAX], *slash;
	if (!path || strlen(path) >= sizeof copy)
		return;
	memcpy(copy, path, strlen(path) + 1);
	slash = strrchr(copy, '/');
	*slash = '\0';
	parent = open(copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent >= 0)
		(void)state_remove(parent, slash + 1, path, &ignored);
}

int mac_user_directories_make(const struct plan *plan, const char *tag, struct mac_user_directories *directories,
			      struct error *err)
{
	const char *temporary = find_directory(plan->arena, _CS_DARWIN_USER_TEMP_DIR);
	const char *cache = find_directory(plan->arena, _CS_DARWIN_USER_CACHE_DIR);

	*directories = (struct mac_user_directories){ 0 };
	if (!temporary || !cache)
		return 0;
	directories->suffix = arena_copy_n(plan->arena, tag, SUFFIX_BYTES);
	directories->temporary = path_join(plan->arena, temporary, directories->suffix);
	directories->cache = path_join(plan->arena, cache, directories->suffix);
	if (mkdir(directories->temporary, 0700) < 0) {
		error_errno(err, errno, "cannot create %s", directories->temporary);
		*directories = (struct mac_user_directories){ 0 };
		return -1;
	}
	if (mkdir(directories->cache, 0700) < 0) {
		error_errno(err, errno, "cannot create %s", directories->cache);
		remove_directory(directories->temporary);
		*directories = (struct mac_user_directories){ 0 };
		return -1;
	}
	return 0;
}

void mac_user_directories_remove(const struct mac_user_directories *directories)
{
	remove_directory(directories->temporary);
	remove_directory(directories->cache);
}
