/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that travel with a packet between berm's own processes (SCM_RIGHTS). One packet is one call; those that come are
 * close-on-exec. Who receives judges how many there are: whoever sends may be somebody else by now. */
#ifndef BERM_LINUX_FD_PASSING_H
#define BERM_LINUX_FD_PASSING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { RIGHTS_MAX = 160 };

/* All bytes in one packet, with `count` descriptors. 0, or -1 with errno; the other end's absence is EPIPE, never a signal. */
int rights_send(int socket, void *bytes, size_t size, const int *descriptors, size_t count);

/* What came: the caller's to close. */
struct rights {
	int *descriptors;
	size_t room; /* of these, at most RIGHTS_MAX */
	size_t count;
	bool is_cut; /* bytes or descriptors were left behind, for want of room or of numbers for them */
};
/* The number of bytes, -1 with errno; `flags` as recvmsg takes them. */
ssize_t rights_receive(int socket, int flags, void *bytes, size_t size, struct rights *rights);

#endif
