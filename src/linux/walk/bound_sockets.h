/* SPDX-License-Identifier: Apache-2.0 */
/* The paths of the kernel's Unix sockets, by sock_diag(7) or from /proc/net/unix. Other processes
 * chose these paths, so none of them is believed: a path is a hint where to look. */
#ifndef BERM_LINUX_WALK_BOUND_SOCKETS_H
#define BERM_LINUX_WALK_BOUND_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"
#include "common/fs/filesystem.h"

/* sockaddr_un has 108 bytes for a path. A longer one is not the kernel's. */
enum { BOUND_PATH_MAX = 108 };

/* Receives each path, which may be relative. */
struct socket_visitor {
	void (*visit)(void *self, const char *path);
	void *self;
};

/* The state of a parser of /proc/net/unix that gets the text in pieces. Starts as zeros. */
struct bound_sockets {
	struct socket_visitor visitor;
	char line[256]; /* the last line, not complete yet */
	size_t length; /* of it; greater than its size: the line is too long to be one of the kernel's */
	char path[BOUND_PATH_MAX + 1]; /* of the last socket; more lines may continue it */
	size_t path_length; /* greater than BOUND_PATH_MAX: too long */
	bool has_path;
};

/* Parses the next piece of the text. */
void bound_sockets_feed(struct bound_sockets *sockets, const char *text, size_t length);
/* Ends the text. */
void bound_sockets_end(struct bound_sockets *sockets);

/* Parses one datagram of an answer of sock_diag. Returns 1 if more follow, 0 at the end, -1 with
 * errno for a refusal or a message that is not the kernel's. */
int bound_sockets_answer(const struct socket_visitor *visitor, const void *answer, size_t length);

/* The list_sockets of struct filesystem. */
int bound_sockets_list(const struct filesystem *fs, void (*visit)(void *self, const char *path), void *self, struct error *err);

#endif
