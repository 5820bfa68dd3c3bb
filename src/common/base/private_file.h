/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files: read within a limit, checked for privacy, replaced in one step. Works on a directory
 * fd and a name without a slash, so that no directory can be swapped in between. Never blocks on a
 * FIFO. Never leaves a partial file under the given name. Failures return -1 with errno. */
#ifndef BERM_COMMON_BASE_PRIVATE_FILE_H
#define BERM_COMMON_BASE_PRIVATE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "common/base/arena.h"

enum {
	/* Follow a symlink as the last component; otherwise it is ELOOP. */
	PRIVATE_FILE_FOLLOW = 1 << 0,
	PRIVATE_FILE_OWN = 1 << 1, /* EPERM unless private_file_is_private */
};

struct private_file {
	char *bytes; /* followed by a NUL */
	size_t length;
	struct stat info;
};

/* True for a regular file of the effective user with no permissions for group and others and no
 * second hard link. */
bool private_file_is_private(const struct stat *info);

/* Opens a file for reading and fills `info`. Returns an fd that the caller closes. The file may be
 * of any type. */
int private_file_open(int directory, const char *name, unsigned flags, struct stat *info);

/* Reads an open regular file from its current offset to its end. EINVAL for another type of file,
 * EFBIG for more than `maximum` bytes. The bytes are in the arena; without an arena the caller
 * frees them. */
int private_file_read_fd(struct arena *arena, int fd, size_t maximum, struct private_file *file);

/* Opens, reads and closes; fails like the functions above. `directory` may be AT_FDCWD with a path
 * as name. */
int private_file_read(struct arena *arena, int directory, const char *name, unsigned flags, size_t maximum,
		      struct private_file *file);

struct private_file_options {
	mode_t mode; /* whatever the umask is */
	bool is_synced; /* on disk before the function returns */
	struct stat *info; /* filled for the written file, if not NULL */
};

/* Replaces `name` by a new file with these bytes. A process that is killed while it writes leaves
 * nothing behind, if the file system has unnamed files; otherwise a hidden file .new-*. */
int private_file_write(int directory, const char *name, const void *bytes, size_t length,
		       const struct private_file_options *options);

/* Removes temporary files of writers that were killed: those of private_file_write that are older
 * than `age` seconds. Best effort. */
void private_file_remove_stale(int directory, int age);

/* The same in steps, for callers that check something between writing and replacing. */
struct private_file_new {
	int directory; /* the caller's */
	int fd; /* for writing; -1 once the file is finished or abandoned */
	char name[NAME_MAX + 1]; /* of the temporary file */
};

/* Creates an empty temporary file. `temporary` is its name, EEXIST if there is such a file; NULL
 * for any unused name. */
int private_file_begin(struct private_file_new *file, int directory, const char *temporary, mode_t mode);
/* Gives the file its final name and closes it. Fails with EEXIST if `name` exists and is_replacing
 * is false. After a failure the temporary file is removed. */
int private_file_finish(struct private_file_new *file, const char *name, bool is_replacing);
/* Closes and removes the temporary file. Does nothing after private_file_finish. Keeps errno. */
void private_file_abandon(struct private_file_new *file);

#endif
