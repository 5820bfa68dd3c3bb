/* SPDX-License-Identifier: Apache-2.0 */
/* Passes fds between berm's own processes (SCM_RIGHTS), one packet per call. Received fds are
 * close-on-exec. The receiver checks their number, because the sender may be compromised by
 * then. */
#ifndef BERM_LINUX_FD_PASSING_H
#define BERM_LINUX_FD_PASSING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { FD_PASSING_MAX = 160 };

/* Sends all bytes and `count` fds in one packet. Returns 0, or -1 with errno. A closed other end is
 * EPIPE, never a signal. */
int fd_passing_send(int socket, void *bytes, size_t size, const int *descriptors, size_t count);

/* The received fds. The caller closes them. */
struct passed_fds {
	int *descriptors;
	size_t room; /* of `descriptors`; more than FD_PASSING_MAX are never received */
	size_t count;
	bool is_cut; /* bytes or fds were lost: not enough room, or no free fd */
};
/* Returns the number of bytes, or -1 with errno. `flags` are those of recvmsg. */
ssize_t fd_passing_receive(int socket, int flags, void *bytes, size_t size, struct passed_fds *passed);

#endif
