/* SPDX-License-Identifier: Apache-2.0 */
/* For unit tests that need the real system: a directory of their own, and a child in which
 * something irrevocable may happen. */
#ifndef BERM_TESTS_UNIT_SCRATCH_H
#define BERM_TESTS_UNIT_SCRATCH_H

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* A new directory; removed with everything in it when the program ends. The string is the
 * program's. */
const char *scratch_directory(void);
/* A path below it. One of eight rotating buffers. */
const char *scratch_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
void scratch_write(const char *path, const char *text, size_t length, mode_t mode);

/* Runs `body` in a child and returns its exit status, 128 + signal, or -1 if it took longer than
 * ten seconds. What the child writes to descriptor 2 is kept for scratch_errors. */
int scratch_child(int (*body)(void *data), void *data);
const char *scratch_errors(void);

/* For the body of a child: says what did not hold and ends it with 1. */
#define EXPECT(condition)                                                                                                      \
	do {                                                                                                                   \
		if (!(condition)) {                                                                                            \
			dprintf(2, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno);                           \
			return 1;                                                                                              \
		}                                                                                                              \
	} while (0)

#endif
