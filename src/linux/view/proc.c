/* SPDX-License-Identifier: Apache-2.0 */
/* A new /proc for the new pid namespace. Files that change the machine are read-only there: they
 * belong to uid 0, and root without capabilities is still their owner. Files that show the kernel's
 * secrets are masked. */
#include "linux/view/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/syscalls.h"
#include "linux/view/mount.h"

/* Files that show the kernel's memory or other users' keys. Most are readable by root only, which
 * without capabilities is still their owner. */
static const char *const hidden[] = { "keys",	  "key-users",	"kcore",	"kallsyms",    "vmallocinfo",
				      "slabinfo", "timer_list", "pagetypeinfo", "iomem",       "ioports",
				      "kmsg",	  "kpagecount", "kpageflags",	"kpagecgroup", "sched_debug" };
/* For other users the permissions suffice for the rest. */
enum { HIDDEN_FROM_ALL = 2 };

/* These change the machine and belong to uid 0. They are locked only if berm runs as root: another
 * user's uid is not 0 inside. "pressure" is not here: a write there subscribes the writer's own
 * descriptor to events and changes nothing else. */
static const char *const read_only[] = { "sys", "sysrq-trigger", "irq", "bus", "fs" };

/* The names are safe to follow: this /proc has just been mounted, and its only process is this
 * one. */
static int lock(int proc, const char *name, struct error *err)
{
	autoclose int tree = sys_open_tree(proc, name, TREE_CLONE | TREE_RECURSIVE | AT_SYMLINK_NOFOLLOW);
	if (tree < 0 && errno == ENOENT)
		return 0;
	if (tree < 0 || mount_set(tree, ATTR_RDONLY, true) < 0 || mount_attach_below(tree, proc, name) < 0)
		return error_errno(err, errno, "cannot make /proc/%s read-only", name);
	return 0;
}

static const char empty_name[] = ".empty";

/* Mounts an empty file over it, so that it can be opened and holds nothing. Returns 1 if it is
 * mounted and may be copied, 0 if there is no such file, -1 with errno. */
static int hide_first(int run_files, int proc, const char *name)
{
	autoclose int tree = sys_open_tree(run_files, empty_name, TREE_CLONE | AT_SYMLINK_NOFOLLOW);
	if (tree < 0 || mount_set(tree, ATTR_RDONLY, false) < 0)
		return -1;
	if (mount_attach_below(tree, proc, name) == 0)
		return 1;
	return errno == ENOENT ? 0 : -1;
}

/* The first existing name gets the empty file; the others get a copy of that mount, which is one
 * call. */
static int hide_each(int run_files, int proc, size_t count, struct error *err)
{
	const char *first = NULL;
	if (fchdir(proc) < 0)
		return error_errno(err, errno, "cannot enter /proc");
	for (size_t i = 0; i < count; i++) {
		int result = first ? mount(first, hidden[i], NULL, MS_BIND, NULL) : hide_first(run_files, proc, hidden[i]);
		if (result < 0 && errno != ENOENT)
			return error_errno(err, errno, "cannot hide /proc/%s", hidden[i]);
		if (result > 0)
			first = hidden[i];
	}
	return 0;
}

static int hide_all(int run_files, int proc, struct error *err)
{
	if (view_make_in(run_files, empty_name, false) < 0)
		return error_errno(err, errno, "cannot create an empty file");
	if (hide_each(run_files, proc, getuid() == 0 ? sizeof hidden / sizeof hidden[0] : HIDDEN_FROM_ALL, err) < 0)
		return -1;
	if (unlinkat(run_files, empty_name, 0) < 0) /* the mounts keep the file */
		return error_errno(err, errno, "cannot remove the empty file");
	return 0;
}

int view_proc_attach(int root, int run_files, struct error *err)
{
	autoclose int tree = -1;
	int mounted = mount_new_at(root, "/proc", "proc", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC);
	/* The kernel refuses a new procfs if parts of the host's /proc are masked (containers). */
	if (mounted < 0 && errno == EPERM)
		return 0;
	if (mounted == 0)
		tree = mount_open(root, "/proc");
	if (tree < 0)
		return error_errno(err, errno, "cannot mount /proc");
	for (size_t i = 0; getuid() == 0 && i < sizeof read_only / sizeof read_only[0]; i++)
		if (lock(tree, read_only[i], err) < 0)
			return -1;
	return hide_all(run_files, tree, err) < 0 ? -1 : 1;
}
