/* SPDX-License-Identifier: Apache-2.0 */
/* A new /dev: a few harmless nodes, a private devpts, a /dev/shm with a size limit, the terminal
 * that berm was started on, and the devices that the policy names. Nothing else of the host's /dev
 * is ever visible. */
#include "linux/view/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h> /* musl 1.2.3 has no statx */
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/syscalls.h"
#include "linux/view/mount.h"

static const char pts[] = "/dev/pts", shm[] = "/dev/shm";

static const struct {
	const char *path, *target;
} links[] = {
	{ "dev/fd", "/proc/self/fd" },	     { "dev/stdin", "/proc/self/fd/0" }, { "dev/stdout", "/proc/self/fd/1" },
	{ "dev/stderr", "/proc/self/fd/2" }, { "dev/ptmx", "pts/ptmx" },
};

/* Read-only protects the nodes (chmod, chown, times); devices can still be written. The host's tree
 * is nodev by now, but berm set that itself and can clear it. */
static const struct mount_attributes usable = { .set = ATTR_RDONLY | ATTR_NOSUID | ATTR_NOEXEC, .clear = ATTR_NODEV };
static const struct mount_attributes unusable = { .set = ATTR_NODEV };

/* The host's /dev belongs to root, so no other user can put a symlink there. A final one is not
 * followed. */
static int copy_node(int root, const char *inside, const char *host)
{
	autoclose int tree = sys_open_tree(AT_FDCWD, host, TREE_CLONE | AT_SYMLINK_NOFOLLOW);
	if (tree < 0 || sys_mount_setattr(tree, "", AT_EMPTY_PATH, &usable) < 0)
		return -1;
	return mount_attach_at(tree, root, inside);
}

static int attach_node(int root, const char *inside, const char *host, struct error *err)
{
	return copy_node(root, inside, host) < 0 ? error_errno(err, errno, "cannot mount %s", host) : 0;
}

/* True if the node is a mount point, or if that is unknown. Containers mount single nodes into
 * their /dev, and changing the flags of /dev does not change theirs. */
static bool is_mount(const char *path)
{
	struct statx info;
	return syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &info) < 0 ||
	       !(info.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) || (info.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* A copy inherits the flags of its mount, so the host's /dev is made usable for a moment: one call
 * instead of one per node. If /dev is not a mount, or the node is one, the copy itself is
 * changed. */
static int attach_basic(int root, struct error *err)
{
	bool is_usable = sys_mount_setattr(AT_FDCWD, "/dev", 0, &usable) == 0;
	const char *node;
	for (size_t i = 0; (node = device_node_at(i)); i++) {
		if ((is_usable && !is_mount(node) ? mount_bind_at(root, node, node, false) : copy_node(root, node, node)) < 0)
			return error_errno(err, errno, "cannot mount %s", node);
	}
	if (is_usable && sys_mount_setattr(AT_FDCWD, "/dev", 0, &unusable) < 0)
		return error_errno(err, errno, "cannot lock the host's /dev");
	return 0;
}

static const char console[] = "/dev/console";

bool view_terminal_name(char name[VIEW_TERMINAL_MAX])
{
	for (int fd = 0; fd <= 2; fd++)
		if (isatty(fd) && ttyname_r(fd, name, VIEW_TERMINAL_MAX) == 0 && strncmp(name, "/dev/", 5) == 0)
			return true;
	return false;
}

bool view_has_terminal(void)
{
	char name[VIEW_TERMINAL_MAX];
	return view_terminal_name(name);
}

/* The command inherits berm's terminal as descriptors; the name serves ttyname(3), which searches
 * /dev. The host's /dev/pts/N cannot have that name inside, because the private devpts there has
 * its own numbers. */
static int attach_terminal(int root, struct error *err)
{
	char name[VIEW_TERMINAL_MAX];
	return view_terminal_name(name) ? attach_node(root, console, name, err) : 0;
}

int view_devices_attach(const struct plan *plan, int root, bool has_terminal, struct error *err)
{
	char options[VIEW_OPTIONS_MAX];
	view_tmpfs_options(plan, "1777", false, options);
	if (attach_basic(root, err) < 0 || (has_terminal && attach_terminal(root, err) < 0))
		return -1;
	for (size_t i = 0; i < plan->devices.count; i++)
		if (attach_node(root, plan->devices.items[i].value, plan->devices.items[i].value, err) < 0)
			return -1;
	if (mount_new_at(root, pts, "devpts", "newinstance,ptmxmode=0666,mode=620", MS_NOSUID | MS_NOEXEC) < 0)
		return error_errno(err, errno, "cannot mount %s", pts);
	if (mount_new_at(root, shm, "tmpfs", options, MS_NOSUID | MS_NODEV) < 0)
		return error_errno(err, errno, "cannot mount %s", shm);
	return 0;
}

int view_devices_make(int root, const struct plan *plan, bool has_terminal, struct error *err)
{
	const char *node;
	int result = 0;
	for (size_t i = 0; (node = device_node_at(i)); i++)
		result |= view_make(root, node, false);
	for (size_t i = 0; i < plan->devices.count; i++)
		result |= view_make(root, plan->devices.items[i].value, false);
	if (has_terminal)
		result |= view_make(root, console, false);
	result |= view_make(root, pts, true) | view_make(root, shm, true);
	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
		if (symlinkat(links[i].target, root, links[i].path) < 0)
			result = -1;
	return result < 0 ? error_errno(err, errno, "cannot create the mount points of the new /dev") : 0;
}
