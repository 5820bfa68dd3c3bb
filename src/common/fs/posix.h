/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of struct filesystem on POSIX calls. Linux has its own walk and uses the other
 * functions. */
#ifndef BERM_COMMON_FS_POSIX_H
#define BERM_COMMON_FS_POSIX_H

#include <sys/stat.h>

#include "common/fs/filesystem.h"

enum file_type filesystem_type_of_mode(mode_t mode);
/* Returns the type of a directory entry from d_type, or by fstatat where that is DT_UNKNOWN.
 * FILE_ABSENT if it was removed. */
enum file_type filesystem_type_of_entry(int directory_fd, const char *name, unsigned char d_type);

int filesystem_posix_inspect(const struct filesystem *fs, const char *path, struct file_info *info);
int filesystem_posix_read_link(const struct filesystem *fs, struct arena *arena, const char *path, char **target);
int filesystem_posix_read_small(const struct filesystem *fs, struct arena *arena, const char *path, size_t limit, char **text,
				size_t *length);
int filesystem_posix_walk(const struct filesystem *fs, const char *root,
			  enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type),
			  void *self, struct error *err);

#endif
