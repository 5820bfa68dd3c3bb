/* SPDX-License-Identifier: Apache-2.0 */
/* Which kind of copy a run would make, for `plan` and `doctor`. Tries an overlay of the project in
 * a child process with namespaces of its own, and counts the files of a full copy. Changes nothing:
 * that the state directory is on an overlay is found by its file system. */
#include "common/copies/copies.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/fs/path.h"
#include "linux/syscalls.h"
#include "linux/view/mount.h"
#include "linux/view/namespaces.h"
#include "linux/view/view.h"

enum { DEPTH_MAX = 200 };

/* In the child: an overlay of the project over an empty directory, read-only. Returns 0, or an
 * errno. */
static int try_overlay(const char *project)
{
	autoclose int lower = mount_open(AT_FDCWD, project);
	autoclose int empty = mount_new("tmpfs", "mode=755,size=1m", ATTR_NOSUID | ATTR_NODEV);
	autoclose int slash = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int fs = -1, tree = -1;
	char layers[64];

	if (lower < 0 || empty < 0 || slash < 0 || mount_attach(empty, slash) < 0)
		return errno;
	snprintf(layers, sizeof layers, "/proc/self/fd/%d:/proc/self/fd/%d", empty, lower);
	fs = sys_fsopen("overlay");
	if (fs < 0 || sys_fsconfig(fs, FS_SET_STRING, "lowerdir", layers) < 0 ||
	    sys_fsconfig(fs, FS_SET_FLAG, "userxattr", NULL) < 0 || sys_fsconfig(fs, FS_CREATE, NULL, NULL) < 0)
		return errno;
	tree = sys_fsmount(fs, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV);
	return tree < 0 ? errno : 0;
}

static int try_in_child(const char *project)
{
	const struct namespaces_options options = { .has_host_network = true };
	const uid_t uid = geteuid();
	const gid_t gid = getegid();
	struct error err = { 0 };
	autoclose int pidfd = -1;
	int status = 0;
	pid_t pid;

	fflush(NULL); /* the child must not write what is buffered */
	pid = namespaces_fork(&options, &pidfd, &err);
	if (pid == 0)
		_exit(namespaces_settle(&options, uid, gid, &err) < 0 ? EPERM : try_overlay(project));
	if (pid < 0 || child_wait(pid, &status) < 0 || !WIFEXITED(status))
		return EPERM;
	return WEXITSTATUS(status);
}

/* The state directory may not exist yet: the nearest directory above it counts. */
static bool is_on_overlay(struct arena *arena, const char *path)
{
	struct statfs info;
	while (statfs(path, &info) < 0) {
		const char *slash = strrchr(path, '/');
		if (errno != ENOENT || !slash || slash == path)
			return false;
		path = arena_copy_n(arena, path, (size_t)(slash - path));
	}
	return info.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* Counts until the bound of a full copy is passed. */
static void count_below(int directory, struct copy_outlook *outlook, unsigned depth)
{
	autoclosedir DIR *stream = fdopendir(directory);
	const struct dirent *entry;

	if (!stream)
		close(directory);
	while (stream && outlook->files <= COPY_FULL_FILES && (entry = readdir(stream))) {
		struct stat info;
		int inner;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    fstatat(dirfd(stream), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		outlook->files++;
		outlook->bytes += S_ISREG(info.st_mode) && info.st_size > 0 ? (uint64_t)info.st_size : 0;
		if (!S_ISDIR(info.st_mode) || depth > DEPTH_MAX)
			continue;
		inner = openat(dirfd(stream), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner >= 0)
			count_below(inner, outlook, depth + 1);
	}
}

/* Returns why no overlay can be mounted, or NULL. */
static const char *find_reason(struct arena *arena, const char *state_directory, const char *project)
{
	char point[PATH_MAX];
	int number;

	if (view_mount_below(project, point, sizeof point))
		return arena_printf(arena, "%s is a mount of its own", point);
	if (is_on_overlay(arena, state_directory))
		return "berm's state is on an overlay file system, as in a container";
	number = try_in_child(project);
	return number == 0 ? NULL : arena_printf(arena, "this host refuses an overlay: %s", strerror(number));
}

void copy_foresee(struct arena *arena, const char *state_directory, const char *project, struct copy_outlook *outlook)
{
	int fd;

	*outlook = (struct copy_outlook){ .reason = find_reason(arena, state_directory, project) };
	if (!outlook->reason)
		return;
	fd = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		count_below(fd, outlook, 0);
	outlook->is_too_large = outlook->files > COPY_FULL_FILES || outlook->bytes > COPY_FULL_BYTES;
}
