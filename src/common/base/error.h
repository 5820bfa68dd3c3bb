/* SPDX-License-Identifier: Apache-2.0 */
/* An error with its errno, one sentence, and a hint that the user can act on. It has a fixed size
 * and no pointers, so that a child can send the struct to its parent over a pipe. */
#ifndef BERM_COMMON_BASE_ERROR_H
#define BERM_COMMON_BASE_ERROR_H

#include <stdbool.h>

enum { ERROR_MESSAGE_MAX = 1024, ERROR_HINT_MAX = 1024 };

struct error {
	int number; /* errno; 0 if no system call failed */
	int stage; /* failed step of a launch, for the backend's table of causes; 0: none */
	char message[ERROR_MESSAGE_MAX];
	char hint[ERROR_HINT_MAX]; /* "": none; may have several lines */
};

/* Each returns -1, for `return error_set(...)`. error_errno appends ": " and the text of the
 * errno. */
int error_set(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
int error_errno(struct error *err, int number, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Appends a line to the hint of an error that is already set. */
int error_hint(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool error_is_set(const struct error *err);

#endif
