/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and opens the private state directories. Never removes anything, never follows a symlink below the state directory. */
#include "common/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/filesystem.h"

enum { PRIVATE_MODE = 0700, TMP_MODE = 01777 };

static int refuse(const char *path, const char *what, struct error *err)
{
	error_set(err, "state directory %s: %s", path, what);
	return error_hint(err, "berm keeps private homes there and trusts only a directory of your own that no other user can "
			       "write; remove it, or have its owner repaired");
}

static int judge(int fd, const char *path, struct stat *info, struct error *err)
{
	if (fstat(fd, info) < 0)
		return error_errno(err, errno, "cannot look at %s", path);
	if (info->st_uid != geteuid())
		return refuse(path, "belongs to another user", err);
	return 0;
}

/* A command may have taken its own home's read permission away; only root could open that. Nobody but the user reaches the
 * directory it lies in, so that nothing can be swapped here. */
static int open_leaf(int parent, const char *name, mode_t mode)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	struct stat info;
	int fd = openat(parent, name, flags);
	if (fd >= 0 || errno != EACCES)
		return fd;
	if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(info.st_mode) ||
	    fchmodat(parent, name, mode, 0) < 0) {
		errno = EACCES;
		return -1;
	}
	return openat(parent, name, flags);
}

/* One component: made if it is not there, then opened and judged. The leaves (home, tmp) are the command's to chmod and are set
 * right again; they lie in directories that are closed to others. */
static int enter(int parent, const char *name, const char *shown, mode_t mode, bool is_leaf, struct stat *info,
		 struct error *err)
{
	autoclose int fd = -1;
	bool is_new = mkdirat(parent, name, mode & 0777) == 0;
	if (!is_new && errno != EEXIST)
		return error_errno(err, errno, "cannot create %s", shown);
	fd = is_leaf ? open_leaf(parent, name, mode) : openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return refuse(shown, "is a symbolic link or not a directory", err);
	if (fd < 0)
		return error_errno(err, errno, "cannot open %s", shown);
	if (judge(fd, shown, info, err) < 0)
		return -1;
	if (!is_new && !is_leaf && (info->st_mode & 022))
		return refuse(shown, "other users can write it", err);
	if ((is_new || is_leaf) && (info->st_mode & 07777) != mode && fchmod(fd, mode) < 0)
		return error_errno(err, errno, "cannot set the mode of %s", shown);
	return steal_fd(&fd);
}

/* The state directory itself: its ancestors are the user's business and may be symlinks, it may not. */
static int open_top(struct arena *arena, const char *path, struct error *err)
{
	struct stat info;
	char *copy = arena_copy(arena, path);
	char *slash = strrchr(copy, '/');
	autoclose int parent = -1;

	if (!slash || slash == copy)
		return error_set(err, "state directory %s: not usable", path);
	for (char *end = strchr(copy + 1, '/'); end && end <= slash; end = strchr(end + 1, '/')) {
		*end = '\0';
		if (mkdir(copy, PRIVATE_MODE) < 0 && errno != EEXIST)
			return error_errno(err, errno, "cannot create %s", copy);
		*end = '/';
	}
	*slash = '\0';
	parent = open(copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return error_errno(err, errno, "cannot open %s", copy);
	return enter(parent, slash + 1, path, PRIVATE_MODE, false, &info, err);
}

/* `path` lies below the state directory by construction (plan.c made it so); walk the difference. */
static int place(const struct plan *plan, int top, const char *path, mode_t mode, struct state_place *result, struct error *err)
{
	const char *root = plan->context.state_directory;
	char *rest;
	autoclose int current = fcntl(top, F_DUPFD_CLOEXEC, 3);
	struct stat info = { 0 };

	if (current < 0)
		return error_errno(err, errno, "cannot open %s", root);
	if (!path_is_within(path, root) || strcmp(path, root) == 0)
		return error_set(err, "state path %s is not below %s", path, root);
	rest = arena_copy(plan->arena, path + strlen(root) + 1);
	while (rest) {
		char *name = strsep(&rest, "/");
		int next = enter(current, name, path, rest ? PRIVATE_MODE : mode, !rest, &info, err);
		if (next < 0)
			return -1;
		close(current);
		current = next;
	}
	*result = (struct state_place){ .path = path, .device = info.st_dev, .inode = info.st_ino };
	return 0;
}

int state_prepare(const struct plan *plan, struct state *state, struct error *err)
{
	autoclose int top = -1;
	*state = (struct state){ 0 };
	if (plan->home != HOME_PRIVATE && plan->tmp != TMP_PRIVATE)
		return 0;
	top = open_top(plan->arena, plan->context.state_directory, err);
	if (top < 0)
		return -1;
	if (plan->home == HOME_PRIVATE && place(plan, top, plan->state.home, PRIVATE_MODE, &state->home, err) < 0)
		return -1;
	if (plan->tmp == TMP_PRIVATE && place(plan, top, plan->state.tmp, TMP_MODE, &state->tmp, err) < 0)
		return -1;
	return 0;
}
