/* SPDX-License-Identifier: Apache-2.0 */
/* A fresh /proc of the new pid namespace. What changes the machine is read-only there, because the owner of those files is uid 0
 * and root without capabilities is still that owner; what shows the kernel's secrets is covered. */
#include "linux/view/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/syscalls.h"
#include "linux/view/mount.h"

/* Show the kernel's memory or other users' keys; most of them to root only, which without capabilities still owns the files. */
static const char *const hidden[] = { "keys",	  "key-users",	"kcore",	"kallsyms",    "vmallocinfo",
				      "slabinfo", "timer_list", "pagetypeinfo", "iomem",       "ioports",
				      "kmsg",	  "kpagecount", "kpageflags",	"kpagecgroup", "sched_debug" };
/* For others than root the permissions of the rest hold by themselves. */
enum { HIDDEN_FROM_ALL = 2 };

/* Everybody may write "pressure"; the rest belongs to uid 0, which is another's uid inside unless berm runs as root. */
static const char *const read_only[] = { "pressure", "sys", "sysrq-trigger", "irq", "bus", "fs" };
enum { READ_ONLY_FOR_ALL = 1 };

/* Names in a /proc that was mounted a moment ago, by the only process that there is in it: nobody else can have changed what they lead to. */
static int lock(int proc, const char *name, struct error *err)
{
	autoclose int tree = sys_open_tree(proc, name, TREE_CLONE | TREE_RECURSIVE | AT_SYMLINK_NOFOLLOW);
	if (tree < 0 && errno == ENOENT)
		return 0;
	if (tree < 0 || tree_set(tree, ATTR_RDONLY, true) < 0 || tree_attach_below(tree, proc, name) < 0)
		return error_errno(err, errno, "cannot make /proc/%s read-only", name);
	return 0;
}

static const char empty_name[] = ".empty";

/* An empty file lies over it: opened as before, with nothing in it. 1: it does, and may be copied. */
static int hide_first(int own, int proc, const char *name)
{
	autoclose int tree = sys_open_tree(own, empty_name, TREE_CLONE | AT_SYMLINK_NOFOLLOW);
	if (tree < 0 || tree_set(tree, ATTR_RDONLY, false) < 0)
		return -1;
	if (tree_attach_below(tree, proc, name) == 0)
		return 1;
	return errno == ENOENT ? 0 : -1;
}

/* The first that is there gets it; the others get what lies on the first. */
static int hide_each(int own, int proc, size_t count, struct error *err)
{
	const char *first = NULL;
	if (fchdir(proc) < 0)
		return error_errno(err, errno, "cannot enter /proc");
	for (size_t i = 0; i < count; i++) {
		int result = first ? mount(first, hidden[i], NULL, MS_BIND, NULL) : hide_first(own, proc, hidden[i]);
		if (result < 0 && errno != ENOENT)
			return error_errno(err, errno, "cannot hide /proc/%s", hidden[i]);
		if (result > 0)
			first = hidden[i];
	}
	return 0;
}

static int hide_all(int own, int proc, struct error *err)
{
	if (view_make_in(own, empty_name, false) < 0)
		return error_errno(err, errno, "cannot make an empty file");
	if (hide_each(own, proc, getuid() == 0 ? sizeof hidden / sizeof hidden[0] : HIDDEN_FROM_ALL, err) < 0)
		return -1;
	if (unlinkat(own, empty_name, 0) < 0) /* the mounts keep it */
		return error_errno(err, errno, "cannot put the empty file away");
	return 0;
}

int view_proc_attach(int root, int own, struct error *err)
{
	autoclose int tree = -1;
	int mounted = tree_mount_at(root, "/proc", "proc", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC);
	/* Where parts of the host's /proc are covered (containers), the kernel refuses a fresh one. */
	if (mounted < 0 && errno == EPERM)
		return 0;
	if (mounted == 0)
		tree = tree_open(root, "/proc");
	if (tree < 0)
		return error_errno(err, errno, "cannot mount /proc");
	for (size_t i = 0; i < (getuid() == 0 ? sizeof read_only / sizeof read_only[0] : READ_ONLY_FOR_ALL); i++)
		if (lock(tree, read_only[i], err) < 0)
			return -1;
	return hide_all(own, tree, err) < 0 ? -1 : 1;
}
