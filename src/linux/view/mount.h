/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts by file descriptor. Sources and targets are opened first, without following any symlink, and attached by descriptor: what
 * was looked at is what is mounted, however the tree is being renamed meanwhile. */
#ifndef BERM_LINUX_VIEW_MOUNT_H
#define BERM_LINUX_VIEW_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"

/* O_PATH descriptor of a clean absolute path below `root` (AT_FDCWD: the process's root), no symlink in any component. -1 with
 * errno: ENOENT if absent, ELOOP if a symlink is in the way. */
int tree_open(int root, const char *path);
/* A detached copy of what lies at `fd`, with its submounts if is_recursive. */
int tree_clone(int fd, bool is_recursive);
int tree_set(int tree, uint64_t attributes, bool is_recursive);
int tree_attach(int tree, int target);
/* The same at a clean absolute path below `root`, in a file system that berm made and nobody else has written: symlinks on the way
 * would be followed. */
int tree_attach_at(int tree, int root, const char *path);
int tree_attach_below(int tree, int directory, const char *name);
/* There, what the process's root has at `source`, in one call: for paths in which nobody but root could put a symlink. `root` becomes the
 * working directory. */
int tree_bind_at(int root, const char *source, const char *path, bool is_recursive);
/* A new file system, detached: "tmpfs" with "mode=755,size=1048576". Options are name=value pairs or flags, comma-separated. */
int tree_new(const char *type, const char *options, uint64_t attributes);

/* A new file system at a clean absolute path below `root`, as for tree_attach_at, with the options and flags of mount(2): for who needs no
 * descriptor of it this is a third of the calls. `root` becomes the working directory. */
int tree_mount_at(int root, const char *path, const char *type, const char *options, unsigned long flags);

#endif
