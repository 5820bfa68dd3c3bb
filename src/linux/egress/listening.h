/* SPDX-License-Identifier: Apache-2.0 */
/* Which TCP ports are listened on, and by which process, from /proc. Changes nothing. */
#ifndef BERM_LINUX_EGRESS_LISTENING_H
#define BERM_LINUX_EGRESS_LISTENING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/net/destination.h"
#include "common/plan/plan.h"

struct listening {
	struct address address;
	uint16_t port;
	uint64_t inode;
};

/* Reads one line of /proc/net/tcp or tcp6. False if it is no listening socket. */
bool listening_parse(const char *line, bool is_v6, struct listening *result);

/* Writes the name and the pid of the process of this user that listens on this address, or on all
 * addresses. False if there is none, or if it is another user's. */
bool listening_owner(const struct address *address, uint16_t port, char *out, size_t size);

/* Returns the lowest port on which a command listens in the network namespace of this process and
 * that the plan does not publish; 0 if there is none. Ports that the kernel chose do not count: no
 * user expects them. */
uint16_t listening_unpublished(const struct plan *plan, pid_t init);

#endif
