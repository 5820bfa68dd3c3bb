/* SPDX-License-Identifier: Apache-2.0 */
/* A /dev of its own: a handful of harmless nodes, a private devpts, a sized /dev/shm, the terminal that berm was started on, and
 * what the policy names. Nothing else of the host's /dev is ever visible. */
#include "linux/view_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "linux/syscalls.h"
#include "linux/tree.h"

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

/* Read-only is about the nodes (chmod, chown, times), not about what is written to the devices. */
static const struct mount_attributes harmless = { .set = ATTR_RDONLY | ATTR_NOSUID | ATTR_NOEXEC };

/* All of the host's /dev at once, in this namespace: copies of it come out restricted. Where /dev is no mount, each copy is. */
static bool restrict_all(void)
{
	return sys_mount_setattr(AT_FDCWD, "/dev", TREE_RECURSIVE, &harmless) == 0;
}

/* The host's /dev is root's: no symlink there is anybody else's doing, and a final one is not followed. */
static int take(struct view_devices *devices, const char *inside, const char *host, struct error *err)
{
	int tree;
	if (devices->count == VIEW_DEVICE_MAX)
		return error_set(err, "more than %d device nodes", VIEW_DEVICE_MAX);
	tree = sys_open_tree(AT_FDCWD, host, TREE_CLONE | AT_SYMLINK_NOFOLLOW);
	if (tree < 0)
		return error_errno(err, errno, "cannot mount %s", host);
	if (!devices->is_restricted && tree_set(tree, harmless.set, false) < 0) {
		error_errno(err, errno, "cannot restrict %s", host);
		close(tree);
		return -1;
	}
	devices->nodes[devices->count++] = (struct view_device){ .path = inside, .tree = tree };
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
static int take_terminal(struct view_devices *devices, struct error *err)
{
	char name[64];
	return find_terminal(name) ? take(devices, console, name, err) : 0;
}

int view_devices_take(const struct plan *plan, bool has_terminal, struct view_devices *devices, struct error *err)
{
	devices->count = 0;
	devices->is_restricted = restrict_all();
	for (size_t i = 0; i < sizeof basic_nodes / sizeof basic_nodes[0]; i++)
		if (take(devices, basic_nodes[i], basic_nodes[i], err) < 0)
			return -1;
	if (has_terminal && take_terminal(devices, err) < 0)
		return -1;
	for (size_t i = 0; i < plan->devices.count; i++)
		if (take(devices, plan->devices.items[i].path, plan->devices.items[i].path, err) < 0)
			return -1;
	return 0;
}

int view_devices_attach(const struct plan *plan, int root, const struct view_devices *devices, struct error *err)
{
	char options[VIEW_OPTIONS_MAX];
	view_tmpfs_options(plan, "1777", false, options);
	for (size_t i = 0; i < devices->count; i++) {
		const struct view_device *node = &devices->nodes[i];
		if (tree_attach_at(node->tree, root, node->path) < 0)
			return error_errno(err, errno, "cannot mount %s", node->path);
		close(node->tree);
	}
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
