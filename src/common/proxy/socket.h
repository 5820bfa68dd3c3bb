/* SPDX-License-Identifier: Apache-2.0 */
/* Internet sockets as the proxy and the resolver use them: never blocking, never inherited, addresses as struct address. The same
 * calls on every system. */
#ifndef BERM_COMMON_PROXY_SOCKET_H
#define BERM_COMMON_PROXY_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/net/destination.h"

/* SOCK_STREAM or SOCK_DGRAM. -1 with errno. */
int socket_new(bool is_v6, int type);
/* 0, or -1 with errno; EINPROGRESS: it becomes writable when it is decided, and socket_error then says how. */
int socket_connect(int fd, const struct address *address, uint16_t port);
/* A connection, non-blocking and close-on-exec. -1 with errno. */
int socket_accept(int listener);
/* The pending error of a socket, 0 if there is none. */
int socket_error(int fd);
/* Bound and listening. -1 with errno. */
int socket_listen(const struct address *address, uint16_t port, int backlog);
/* The address that packets to `address` would come from; false if there is no route. Sends nothing. An address of this machine is its
 * own source. */
bool socket_source(const struct address *address, struct address *source);
int socket_make_private(int fd); /* non-blocking, close-on-exec */

#endif
