/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership in the declaration: `autofree char *p`, `autoclose int fd = -1`, `return
 * steal_fd(&fd)`. The variable is freed or closed when it goes out of scope. */
#ifndef BERM_COMMON_BASE_CLEANUP_H
#define BERM_COMMON_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

/* Preserves errno, so that a function can return directly after the call that failed. */
static inline void cleanup_close(int *fd)
{
	int saved = errno;
	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

static inline void cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void cleanup_closedir(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

/* Returns the fd and takes it out of the variable, so that it stays open. */
static inline int steal_fd(int *fd)
{
	int result = *fd;
	*fd = -1;
	return result;
}

/* Exempts a large buffer from the compiler's zeroing of locals. For buffers that a call fills. */
#if defined(__has_attribute)
#if __has_attribute(uninitialized)
#define uninitialised __attribute__((uninitialized))
#endif
#endif
#ifndef uninitialised
#define uninitialised
#endif

#define autofree __attribute__((cleanup(cleanup_free)))
#define autoclose __attribute__((cleanup(cleanup_close)))
#define autofclose __attribute__((cleanup(cleanup_fclose)))
#define autoclosedir __attribute__((cleanup(cleanup_closedir)))

#endif
