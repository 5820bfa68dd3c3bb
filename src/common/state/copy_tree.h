/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a file or a directory tree of bounded size between two open directories. Follows no
 * symlink and never overwrites. */
#ifndef BERM_COMMON_STATE_COPY_TREE_H
#define BERM_COMMON_STATE_COPY_TREE_H

/* Copies `from` of one directory as `to` of another, with modes and times. Files, directories,
 * symlinks and FIFOs only. Returns 0 after the copy is on disk, or -1 with errno: EFBIG if the tree
 * is too large, EAGAIN if it changed meanwhile. Leaves an incomplete copy after a failure. */
int copy_tree(int source, const char *from, int target, const char *to);
/* Renames and never overwrites: EEXIST. */
int rename_exclusively(int source, const char *from, int target, const char *to);

#endif
