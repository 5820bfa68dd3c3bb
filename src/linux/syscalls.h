/* SPDX-License-Identifier: Apache-2.0 */
/* System calls and constants that the C library's headers may lack. Thin wrappers: errno is the
 * kernel's. */
#ifndef BERM_LINUX_SYSCALLS_H
#define BERM_LINUX_SYSCALLS_H

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* System call numbers since Linux 5.0 are the same on every architecture that berm supports. */
enum {
	NR_OPEN_TREE = 428,
	NR_MOVE_MOUNT = 429,
	NR_FSOPEN = 430,
	NR_FSCONFIG = 431,
	NR_FSMOUNT = 432,
	NR_PIDFD_OPEN = 434,
	NR_CLONE3 = 435,
	NR_OPENAT2 = 437,
	NR_MOUNT_SETATTR = 442,
};

enum {
	TREE_CLONE = 1, /* OPEN_TREE_CLONE */
	TREE_RECURSIVE = 0x8000, /* AT_RECURSIVE */
	MOVE_FROM_EMPTY = 0x04, /* MOVE_MOUNT_F_EMPTY_PATH */
	MOVE_TO_EMPTY = 0x40, /* MOVE_MOUNT_T_EMPTY_PATH */
	FS_CLOEXEC = 1, /* FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC */
	FS_SET_FLAG = 0, /* FSCONFIG_SET_FLAG */
	FS_SET_STRING = 1, /* FSCONFIG_SET_STRING */
	FS_CREATE = 6, /* FSCONFIG_CMD_CREATE */
};

enum {
	ATTR_RDONLY = 0x01, /* MOUNT_ATTR_* */
	ATTR_NOSUID = 0x02,
	ATTR_NODEV = 0x04,
	ATTR_NOEXEC = 0x08,
};

enum { PIDFD_GET_MOUNT_NAMESPACE = 0xff03 }; /* PIDFD_GET_MNT_NAMESPACE */

struct mount_attributes { /* struct mount_attr */
	uint64_t set, clear, propagation, userns_fd;
};

static inline int sys_open_tree(int directory, const char *path, unsigned flags)
{
	return (int)syscall(NR_OPEN_TREE, directory, path, flags | O_CLOEXEC);
}

static inline int sys_move_mount(int from, const char *from_path, int to, const char *to_path, unsigned flags)
{
	return (int)syscall(NR_MOVE_MOUNT, from, from_path, to, to_path, flags);
}

static inline int sys_fsopen(const char *name)
{
	return (int)syscall(NR_FSOPEN, name, FS_CLOEXEC);
}

static inline int sys_fsconfig(int fd, unsigned command, const char *key, const char *value)
{
	return (int)syscall(NR_FSCONFIG, fd, command, key, value, 0);
}

static inline int sys_fsmount(int fd, unsigned attributes)
{
	return (int)syscall(NR_FSMOUNT, fd, FS_CLOEXEC, attributes);
}

static inline int sys_mount_setattr(int directory, const char *path, unsigned flags, const struct mount_attributes *attributes)
{
	return (int)syscall(NR_MOUNT_SETATTR, directory, path, flags, attributes, sizeof *attributes);
}

static inline int sys_openat2(int directory, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = resolve };
	return (int)syscall(NR_OPENAT2, directory, path, &how, sizeof how);
}

#endif
