/* SPDX-License-Identifier: Apache-2.0 */
/* A thin layer over the descriptor-based mount calls. Reports by errno only: messages are the
 * caller's. */
#include "linux/view/mount.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/syscalls.h"

int mount_open(int root, const char *path)
{
	/* A leading slash would leave `root`. openat2 refuses "" and calls `root` itself ".". */
	while (*path == '/' && root != AT_FDCWD)
		path++;
	/* Without O_NOFOLLOW, which together with O_PATH would open a final symlink itself. */
	return sys_openat2(root, *path ? path : ".", O_PATH, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

int mount_clone(int fd, bool is_recursive)
{
	return sys_open_tree(fd, "", TREE_CLONE | AT_EMPTY_PATH | (is_recursive ? TREE_RECURSIVE : 0u));
}

int mount_set(int tree, uint64_t attributes, bool is_recursive)
{
	struct mount_attributes change = { .set = attributes };
	return sys_mount_setattr(tree, "", AT_EMPTY_PATH | (is_recursive ? TREE_RECURSIVE : 0u), &change);
}

int mount_attach(int tree, int target)
{
	return sys_move_mount(tree, "", target, "", MOVE_FROM_EMPTY | MOVE_TO_EMPTY);
}

int mount_attach_below(int tree, int directory, const char *name)
{
	return sys_move_mount(tree, "", directory, name, MOVE_FROM_EMPTY);
}

int mount_attach_at(int tree, int root, const char *path)
{
	return mount_attach_below(tree, root, path + 1);
}

int mount_bind_at(int root, const char *source, const char *path, bool is_recursive)
{
	return fchdir(root) < 0 ? -1 : mount(source, path + 1, NULL, MS_BIND | (is_recursive ? MS_REC : 0), NULL);
}

static int set_option(int fs, char *option)
{
	char *value = strchr(option, '=');
	if (!value)
		return sys_fsconfig(fs, FS_SET_FLAG, option, NULL);
	*value++ = '\0';
	return sys_fsconfig(fs, FS_SET_STRING, option, value);
}

int mount_new(const char *type, const char *options, uint64_t attributes)
{
	autoclose int fs = sys_fsopen(type);
	char copy[256];
	char *rest = copy, *option;

	if (fs < 0)
		return -1;
	if (strlen(options) >= sizeof copy) {
		errno = E2BIG;
		return -1;
	}
	strcpy(copy, options);
	while ((option = strsep(&rest, ",")))
		if (*option && set_option(fs, option) < 0)
			return -1;
	if (sys_fsconfig(fs, FS_CREATE, NULL, NULL) < 0)
		return -1;
	return sys_fsmount(fs, (unsigned)attributes);
}

int mount_new_at(int root, const char *path, const char *type, const char *options, unsigned long flags)
{
	return fchdir(root) < 0 ? -1 : mount(type, path + 1, type, flags, options);
}
