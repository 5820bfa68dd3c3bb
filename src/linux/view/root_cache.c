/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the cached layout, or creates it under a temporary name and renames it. Leftovers of an
 * interrupted berm are removed by the next one that creates a layout. */
#include "linux/view/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/state/remove_tree.h"

static const char cached_prefix[] = "root-", new_prefix[] = ".root-";

/* Per class: a project whose policy changes often must not fill the disk. */
enum { CACHED_MAX = 16, NAME_BYTES = sizeof cached_prefix + VIEW_SHAPE_HEX + 4 };

/* Returns 1 if the directory exists and berm made it, 0 if there is none, -1 if something else is
 * there. */
static int look(int class_directory, const char *name, const char *shown, struct stat *info, struct error *err)
{
	if (fstatat(class_directory, name, info, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_errno(err, errno, "cannot inspect %s", shown);
	if (S_ISDIR(info->st_mode) && info->st_uid == geteuid() && (info->st_mode & 07777) == 0755)
		return 1;
	error_set(err, "%s is not the directory that berm made", shown);
	return error_hint(err, "inspect and remove it: berm creates a new one");
}

/* True if the process named in it has exited. If its pid was reused, the leftover stays until that
 * process exits. */
static bool is_abandoned(const char *name)
{
	long pid = strtol(name + sizeof new_prefix - 1, NULL, 10);
	return pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* Counts the cached layouts and removes leftovers of killed berms. */
static size_t count_and_clean(int class_directory)
{
	struct error ignored;
	int copy = openat(class_directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclosedir DIR *stream = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	size_t count = 0;
	while (stream && (entry = readdir(stream))) {
		if (strncmp(entry->d_name, cached_prefix, sizeof cached_prefix - 1) == 0)
			count++;
		else if (strncmp(entry->d_name, new_prefix, sizeof new_prefix - 1) == 0 && is_abandoned(entry->d_name))
			state_remove(class_directory, entry->d_name, entry->d_name, &ignored);
	}
	return stream ? count : CACHED_MAX;
}

static bool make(int class_directory, const char *temporary, const struct plan *plan, bool has_terminal)
{
	struct error ignored;
	autoclose int fd = -1;
	if (mkdirat(class_directory, temporary, 0700) < 0)
		return false;
	fd = openat(class_directory, temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && fchmod(fd, 0755) == 0 && root_layout_make(fd, plan, has_terminal, &ignored) == 0;
}

static void make_and_cache(int class_directory, const char *name, const struct plan *plan, bool has_terminal)
{
	struct error ignored;
	char temporary[64];
	mode_t mask;
	bool is_made;

	if (count_and_clean(class_directory) >= CACHED_MAX)
		return;
	snprintf(temporary, sizeof temporary, "%s%ld", new_prefix, (long)getpid());
	mask = umask(022);
	is_made = make(class_directory, temporary, plan, has_terminal);
	umask(mask);
	/* Another berm may have been faster: rename does not replace a directory that is not
	 * empty. */
	if (!is_made || renameat(class_directory, temporary, class_directory, name) < 0)
		state_remove(class_directory, temporary, temporary, &ignored);
}

int root_cache_find(const struct plan *plan, const char name[VIEW_SHAPE_HEX], bool has_terminal, int class_directory,
		    struct state_place *place, struct error *err)
{
	char full[NAME_BYTES];
	const char *shown;
	struct stat info;
	int found;

	*place = (struct state_place){ 0 };
	if (class_directory < 0)
		return 0;
	snprintf(full, sizeof full, "%s%.*s%s", cached_prefix, VIEW_SHAPE_HEX, name, has_terminal ? "-t" : "");
	shown = path_join(plan->arena, plan->state.directory, full);
	found = look(class_directory, full, shown, &info, err);
	if (found == 0) {
		make_and_cache(class_directory, full, plan, has_terminal);
		found = look(class_directory, full, shown, &info, err);
	}
	if (found > 0)
		*place = (struct state_place){ .path = shown, .device = info.st_dev, .inode = info.st_ino };
	return found < 0 ? -1 : 0;
}
