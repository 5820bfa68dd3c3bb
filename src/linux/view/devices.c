/* SPDX-License-Identifier: Apache-2.0 */
/* A /dev of its own: a handful of harmless nodes, a private devpts, a sized /dev/shm, the terminal that berm was started on, and
 * what the policy names. Nothing else of the host's /dev is ever visible. */
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

static const char *const basic_nodes[] = {
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
};

static const char pts[] = "/dev/pts", shm[] = "/dev/shm";

static const struct {
	const char *path, *target;
} links[] = {
	{ "dev/fd", "/proc/self/fd" },	     { "dev/stdin", "/proc/self/fd/0" }, { "dev/stdout", "/proc/self/fd/1" },
	{ "dev/stderr", "/proc/self/fd/2" }, { "dev/ptmx", "pts/ptmx" },
};

/* Read-only is about the nodes (chmod, chown, times), not about what is written to the devices. The host's tree is nodev by now, but by berm's own
 * doing, which can be undone. */
static const struct mount_attributes usable = { .set = ATTR_RDONLY | ATTR_NOSUID | ATTR_NOEXEC, .clear = ATTR_NODEV };
static const struct mount_attributes unusable = { .set = ATTR_NODEV };

/* The host's /dev is root's: no symlink there is anybody else's doing, and a final one is not followed. */
static int copy_node(int root, const char *inside, const char *host)
{
	autoclose int tree = sys_open_tree(AT_FDCWD, host, TREE_CLONE | AT_SYMLINK_NOFOLLOW);
	if (tree < 0 || sys_mount_setattr(tree, "", AT_EMPTY_PATH, &usable) < 0)
		return -1;
	return tree_attach_at(tree, root, inside);
}

static int attach_node(int root, const char *inside, const char *host, struct error *err)
{
	return copy_node(root, inside, host) < 0 ? error_errno(err, errno, "cannot mount %s", host) : 0;
}

/* Containers mount single nodes into their /dev, and flags of /dev are none of theirs. */
static bool is_mount(const char *path)
{
	struct statx info;
	return syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &info) < 0 ||
	       !(info.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) || (info.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* Copies of a mount are what it is, so that the host's /dev is made usable for a moment. Where it is no mount of its own, or a node is one, each
 * copy is. */
static int attach_basic(int root, struct error *err)
{
	bool is_usable = sys_mount_setattr(AT_FDCWD, "/dev", 0, &usable) == 0;
	for (size_t i = 0; i < sizeof basic_nodes / sizeof basic_nodes[0]; i++) {
		const char *node = basic_nodes[i];
		if ((is_usable && !is_mount(node) ? tree_bind_at(root, node, node, false) : copy_node(root, node, node)) < 0)
			return error_errno(err, errno, "cannot mount %s", node);
	}
	if (is_usable && sys_mount_setattr(AT_FDCWD, "/dev", 0, &unusable) < 0)
		return error_errno(err, errno, "cannot lock the host's /dev");
	return 0;
}

static const char console[] = "/dev/console";

static bool find_terminal(char name[64])
{
	for (int fd = 0; fd <= 2; fd++)
		if (isatty(fd) && ttyname_r(fd, name, 64) == 0 && strncmp(name, "/dev/", 5) == 0)
			return true;
	return false;
}

bool view_has_terminal(void)
{
	char name[64];
	return find_terminal(name);
}

/* The command keeps berm's terminal through its descriptors; the name is for ttyname(3), which looks below /dev. The host's own
 * /dev/pts/N must not be named /dev/pts/N inside, where another devpts counts its own numbers. */
static int attach_terminal(int root, struct error *err)
{
	char name[64];
	return find_terminal(name) ? attach_node(root, console, name, err) : 0;
}

int view_devices_attach(const struct plan *plan, int root, bool has_terminal, struct error *err)
{
	char options[VIEW_OPTIONS_MAX];
	view_tmpfs_options(plan, "1777", false, options);
	if (attach_basic(root, err) < 0 || (has_terminal && attach_terminal(root, err) < 0))
		return -1;
	for (size_t i = 0; i < plan->devices.count; i++)
		if (attach_node(root, plan->devices.items[i].path, plan->devices.items[i].path, err) < 0)
			return -1;
	if (tree_mount_at(root, pts, "devpts", "newinstance,ptmxmode=0666,mode=620", MS_NOSUID | MS_NOEXEC) < 0)
		return error_errno(err, errno, "cannot mount %s", pts);
	if (tree_mount_at(root, shm, "tmpfs", options, MS_NOSUID | MS_NODEV) < 0)
		return error_errno(err, errno, "cannot mount %s", shm);
	return 0;
}

int view_devices_make(int root, const struct plan *plan, bool has_terminal, struct error *err)
{
	int result = 0;
	for (size_t i = 0; i < sizeof basic_nodes / sizeof basic_nodes[0]; i++)
		result |= view_make(root, basic_nodes[i], false);
	for (size_t i = 0; i < plan->devices.count; i++)
		result |= view_make(root, plan->devices.items[i].path, false);
	if (has_terminal)
		result |= view_make(root, console, false);
	result |= view_make(root, pts, true) | view_make(root, shm, true);
	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
		if (symlinkat(links[i].target, root, links[i].path) < 0)
			result = -1;
	return result < 0 ? error_errno(err, errno, "cannot make the places of the new root's /dev") : 0;
}
