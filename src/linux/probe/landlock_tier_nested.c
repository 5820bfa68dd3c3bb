/* SPDX-License-Identifier: Apache-2.0 */
/* What a wall around berm holds already: inside another sandbox (berm's own, bubblewrap's) protected and hidden files are mounts that
 * nothing in here can change. Asks the kernel about the very files; an environment variable says nothing. */
#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/syscalls.h"
#include "linux/probe/landlock_tier.h"

#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x00002000
#endif

static bool is_mount_root(int fd)
{
	struct statx info;
	/* musl 1.2.3 has no function for it. */
	return syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_TYPE, &info) == 0 &&
	       (info.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) && (info.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static bool is_read_only(int fd)
{
	struct statvfs info;
	return fstatvfs(fd, &info) == 0 && (info.f_flag & ST_RDONLY);
}

/* A mount cannot be renamed or removed, but a directory above it can, with the mount in it. */
static bool is_pinned(const struct plan *plan, const char *path, const char *root)
{
	for (const char *at = path; strcmp(at, root) != 0 && strcmp(at, "/") != 0; at = path_parent(plan->arena, at)) {
		autoclose int fd = sys_openat2(AT_FDCWD, at, O_PATH, RESOLVE_NO_SYMLINKS);
		if (fd < 0 || !is_mount_root(fd))
			return false;
	}
	return true;
}

/* The outermost directory that is writable by the plan: below it names can change. */
static const char *writable_root(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE && path_is_within(path, plan->grants.items[i].path))
			return plan->grants.items[i].path;
	return NULL;
}

bool tier_is_held_outside(const struct plan *plan, const char *path, bool is_secret)
{
	const char *root = writable_root(plan, path);
	autoclose int fd = sys_openat2(AT_FDCWD, path, O_PATH, RESOLVE_NO_SYMLINKS);
	autoclose int content = -1;
	if (!root || fd < 0 || !is_read_only(fd) || !is_pinned(plan, path, root))
		return false;
	if (!is_secret)
		return true;
	/* Read-only, so whoever owns it cannot open it up. Root's capabilities would say nothing about a command that has none. */
	content = sys_openat2(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, RESOLVE_NO_SYMLINKS);
	return content < 0 && errno == EACCES;
}
