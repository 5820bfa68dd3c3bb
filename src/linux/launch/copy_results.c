/* SPDX-License-Identifier: Apache-2.0 */
/* The scan sees the project; the command sees it through the copy's upper layer. What that layer
 * hides (removed or replaced in an earlier run of the copy) has no path to mount on, and needs
 * none. In a full copy this is everything that it lacks. Nothing else changes the layer meanwhile:
 * the copy is locked. */
#include "linux/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/syscalls.h"

enum layer_entry {
	LAYER_NONE, /* the project's entry shows */
	LAYER_MERGED, /* a directory: entries that it lacks are the project's */
	LAYER_OTHER, /* a file, a symlink or a directory that hides the project's */
	LAYER_WHITEOUT,
};

static bool is_opaque(int directory)
{
	char value[2], path[32];
	snprintf(path, sizeof path, "/proc/self/fd/%d", directory);
	return getxattr(path, "user.overlay.opaque", value, sizeof value) == 1 && value[0] == 'y';
}

/* Looks up one path below `upper`. An error other than absence counts as no entry: then the mount
 * itself decides. */
static enum layer_entry look_up(int upper, const char *path, mode_t *type)
{
	autoclose int fd = sys_openat2(upper, path, O_PATH | O_NOFOLLOW, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	struct stat info;
	if (fd < 0 || fstat(fd, &info) < 0)
		return LAYER_NONE;
	*type = info.st_mode & S_IFMT;
	if (S_ISCHR(info.st_mode) && info.st_rdev == makedev(0, 0))
		return LAYER_WHITEOUT;
	return S_ISDIR(info.st_mode) && !is_opaque(fd) ? LAYER_MERGED : LAYER_OTHER;
}

/* True if the project's file at this path, relative to it, cannot be seen through the layer. */
static bool is_hidden(const struct run_copy *copy, const char *path, enum file_type type)
{
	char prefix[PATH_MAX];
	size_t at = 0;
	if (strlen(path) >= sizeof prefix)
		return false;
	while (path[at]) {
		enum layer_entry entry;
		mode_t mode = 0;
		at += strcspn(path + at, "/");
		memcpy(prefix, path, at);
		prefix[at] = '\0';
		entry = look_up(copy->upper, prefix, &mode);
		if (entry == LAYER_NONE)
			return copy->is_full;
		/* A file of the copy in the file's own place is covered like the project's; a pin
		 * needs the symlink that it was made for. */
		if (path[at] == '\0')
			return entry == LAYER_WHITEOUT || (type == FILE_SYMLINK && mode != S_IFLNK) ||
			       (type != FILE_SYMLINK && mode == S_IFLNK);
		if (copy->is_full ? mode != S_IFDIR : entry != LAYER_MERGED)
			return true;
		at++;
	}
	return false;
}

static void keep_visible(const struct launch *launch, struct plan_matches *matches)
{
	const char *project = launch->plan->context.project;
	size_t count = 0;
	for (size_t i = 0; i < matches->count; i++) {
		const struct plan_match *match = &matches->items[i];
		bool is_in_project = path_is_within(match->path, project) && strcmp(match->path, project) != 0;
		if (!is_in_project || !is_hidden(launch->copy, match->path + strlen(project) + 1, match->type))
			matches->items[count++] = *match;
	}
	matches->count = count;
}

void launch_keep_visible(const struct launch *launch, struct scan_results *results)
{
	keep_visible(launch, &results->masked);
	keep_visible(launch, &results->locked);
	keep_visible(launch, &results->opened);
	keep_visible(launch, &results->pinned);
}
