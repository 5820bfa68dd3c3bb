/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts by file descriptor. Sources and targets are opened first, without following any symlink,
 * and attached by descriptor: the file that was checked is the one that is mounted, however the
 * tree is renamed meanwhile. Each function returns -1 with errno. */
#ifndef BERM_LINUX_VIEW_MOUNT_H
#define BERM_LINUX_VIEW_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"

/* Opens a clean absolute path below `root` (AT_FDCWD: the process's root) with O_PATH. ENOENT if it
 * is absent, ELOOP if any component is a symlink. */
int mount_open(int root, const char *path);
/* Returns a detached copy of the mount at `fd`, with its submounts if is_recursive. */
int mount_clone(int fd, bool is_recursive);
/* Sets attributes (ATTR_*) on a mount. */
int mount_set(int tree, uint64_t attributes, bool is_recursive);
/* Attaches a detached mount to the target descriptor. */
int mount_attach(int tree, int target);
/* The same at a clean absolute path below `root`. Follows symlinks, so only for a file system that
 * berm alone has written. */
int mount_attach_at(int tree, int root, const char *path);
/* The same for a name in a directory. */
int mount_attach_below(int tree, int directory, const char *name);
/* Bind-mounts `source` of the process's root there, in one call. Only for sources in which no other
 * user than root can put a symlink. `root` becomes the working directory. */
int mount_bind_at(int root, const char *source, const char *path, bool is_recursive);
/* Returns a new detached file system, for example "tmpfs" with "mode=755,size=1048576". Options are
 * flags or name=value pairs, separated by commas. */
int mount_new(const char *type, const char *options, uint64_t attributes);

/* Mounts a new file system at a clean absolute path below `root`, as for mount_attach_at, with the
 * options and flags of mount(2). It takes a third of the calls if no descriptor of it is needed.
 * `root` becomes the working directory. */
int mount_new_at(int root, const char *path, const char *type, const char *options, unsigned long flags);

#endif
