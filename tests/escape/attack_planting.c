/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks that leave something for the host to run later: git's hooks and configuration, start-up
 * files, berm's own files. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long write_text(const char *path, int flags)
{
	static const char text[] = "PLANTED\n";
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0755);
	if (fd < 0)
		return -errno;
	long result = result_of(write(fd, text, sizeof text - 1));
	close(fd);
	return result;
}

static long make_parents(const char *path)
{
	char copy[4200];
	snprintf(copy, sizeof copy, "%s", path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0755) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

/* With its directories, as an installer would; never over something that is there: a wall with a
 * hole must not cost a file. PATH... */
static void run_plant(char **paths)
{
	for (; *paths; paths++) {
		long result = make_parents(*paths);
		report(labelled("plant", *paths), result < 0 ? result : write_text(*paths, O_CREAT | O_EXCL));
	}
}

/* git config's way: a lock file beside it, renamed over. PATH... */
static void run_lock_rename(char **paths)
{
	for (; *paths; paths++) {
		char lock[4200];
		snprintf(lock, sizeof lock, "%s.lock", *paths);
		long result = write_text(lock, O_CREAT | O_EXCL);
		report(labelled("lock-rename", *paths), result < 0 ? result : result_of(rename(lock, *paths)));
		unlink(lock);
	}
}

/* Moves a directory away and puts a new one with a new file in its place. DIRECTORY FILE */
static void run_swap_directory(char **arguments)
{
	char aside[4200], file[4400];
	snprintf(aside, sizeof aside, "%s.moved", arguments[0]);
	snprintf(file, sizeof file, "%s/%s", arguments[0], arguments[1]);
	report("move-directory", result_of(rename(arguments[0], aside)));
	report("new-directory", result_of(mkdir(arguments[0], 0755)));
	report("new-file", write_text(file, O_CREAT));
}

/* The same name a hundred times: removed, made, written. One success is enough. FILE... */
static void run_churn(char **paths)
{
	for (; *paths; paths++) {
		long result = -EPERM;
		for (int i = 0; i < 100; i++) {
			char link_name[4200];
			snprintf(link_name, sizeof link_name, "%s.%d", *paths, i);
			if (unlink(*paths) == 0 || write_text(*paths, O_CREAT) >= 0 || rename(*paths, link_name) == 0)
				result = 0;
		}
		report(labelled("churn", *paths), result);
	}
}

/* Replaces a file by a symbolic link or by an unnamed file linked into place. PATH TARGET */
static void run_replace_by_link(char **arguments)
{
	char aside[4200];
	snprintf(aside, sizeof aside, "%s.link", arguments[0]);
	report("symlink-over", symlink(arguments[1], aside) ? -errno : result_of(rename(aside, arguments[0])));
	unlink(aside);
}

/* An unnamed file gets the protected name. DIRECTORY PATH */
static void run_unnamed(char **arguments)
{
	char name[64];
	int fd = open(arguments[0], O_TMPFILE | O_WRONLY | O_CLOEXEC, 0755);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	report("link-unnamed", fd < 0 ? -errno : result_of(linkat(AT_FDCWD, name, AT_FDCWD, arguments[1], AT_SYMLINK_FOLLOW)));
}

const struct attack attacks_planting[] = {
	{ "plant", run_plant, "PATH...: with parent directories" },
	{ "lock-rename", run_lock_rename, "PATH...: as git config writes" },
	{ "swap-directory", run_swap_directory, "DIRECTORY FILE: move away, make anew" },
	{ "churn", run_churn, "PATH...: remove and recreate a hundred times" },
	{ "replace-by-link", run_replace_by_link, "PATH TARGET" },
	{ "link-unnamed", run_unnamed, "DIRECTORY PATH" },
	{ NULL, NULL, NULL },
};
