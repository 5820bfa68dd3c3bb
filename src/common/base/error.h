/* SPDX-License-Identifier: Apache-2.0 */
/* One failure, told in words: the errno it came from, one sentence, and a hint the user can act on. Fixed size and without
 * pointers, so that a child can send the struct to its parent over a pipe. */
#ifndef BERM_COMMON_BASE_ERROR_H
#define BERM_COMMON_BASE_ERROR_H

#include <stdbool.h>

enum { ERROR_MESSAGE_MAX = 1024, ERROR_HINT_MAX = 1024 };

struct error {
	int number; /* errno, 0 if the failure is not a system call's */
	int stage; /* the step of a launch that failed, for the backend's table of causes; 0: none */
	char message[ERROR_MESSAGE_MAX];
	char hint[ERROR_HINT_MAX]; /* "" if there is none; may hold several lines */
};

/* Each returns -1, so that `return error_set(...)` reads as the failure it is. error_errno appends ": " and the errno's text. */
int error_set(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
int error_errno(struct error *err, int number, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Adds a hint to an error that is already set; lines accumulate. */
int error_hint(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool error_is_set(const struct error *err);

#endif
