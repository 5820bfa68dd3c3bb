/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/probe/outer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/context/inside.h"
#include "linux/guard/guard.h"
#include "linux/syscalls.h"

#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x00002000
#endif

enum { DOCUMENT_BYTES = 1 << 20 };

static bool is_mount_root(int fd)
{
	struct statx info;
	/* musl 1.2.3 has no statx(). */
	return syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_TYPE, &info) == 0 &&
	       (info.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) && (info.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static bool is_read_only(int fd)
{
	struct statvfs info;
	return fstatvfs(fd, &info) == 0 && (info.f_flag & ST_RDONLY);
}

/* True if every directory from the writable root down to the path is a mount point. A mount point
 * cannot be renamed or removed, but a directory above it can, together with the mount. */
static bool is_pinned(const struct plan *plan, const char *path, const char *root)
{
	for (const char *at = path; strcmp(at, root) != 0 && strcmp(at, "/") != 0; at = path_parent(plan->arena, at)) {
		autoclose int fd = sys_openat2(AT_FDCWD, at, O_PATH, RESOLVE_NO_SYMLINKS);
		if (fd < 0 || !is_mount_root(fd))
			return false;
	}
	return true;
}

/* Returns the outermost writable directory of the plan around the path, or NULL. */
static const char *writable_root(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE && path_is_within(path, plan->grants.items[i].path))
			return plan->grants.items[i].path;
	return NULL;
}

bool outer_holds(const struct plan *plan, const char *path, bool is_secret)
{
	const char *root = writable_root(plan, path);
	autoclose int fd = sys_openat2(AT_FDCWD, path, O_PATH, RESOLVE_NO_SYMLINKS);
	autoclose int content = -1;
	if (!root || fd < 0 || !is_read_only(fd) || !is_pinned(plan, path, root))
		return false;
	if (!is_secret)
		return true;
	/* Its owner cannot change the mode of a read-only file. For root the open succeeds by its
	 * capabilities, and the file counts as not held. */
	content = sys_openat2(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, RESOLVE_NO_SYMLINKS);
	return content < 0 && errno == EACCES;
}

/* The directory must be the root of a read-only mount: commands of a sandbox cannot mount, and /run
 * of a host belongs to root. */
int outer_document(struct arena *arena, const char *name, int *directory, const char **text)
{
	autoclose int place = sys_openat2(AT_FDCWD, INSIDE_DIRECTORY, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	autoclose int file = -1;
	struct private_file content;
	if (place < 0 || !is_mount_root(place) || !is_read_only(place))
		return 0;
	file = sys_openat2(place, name, O_RDONLY | O_NONBLOCK, RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
	if (file < 0)
		return errno == ENOENT ? 0 : -1;
	if (private_file_read_fd(arena, file, DOCUMENT_BYTES, &content) < 0)
		return -1;
	if (strlen(content.bytes) != content.length) {
		errno = EINVAL;
		return -1;
	}
	*text = content.bytes;
	if (directory)
		*directory = steal_fd(&place);
	return 1;
}

void outer_read(const struct plan *plan, struct held *held)
{
	const char *text;
	*held = (struct held){ .planting = LEVEL_LAUNCH, .secrets = LEVEL_LAUNCH };
	if (outer_document(plan->arena, path_base_name(INSIDE_HELD), NULL, &text) == 1)
		held_compare(plan, text, guard_is_around(), held);
}
