/* SPDX-License-Identifier: Apache-2.0 */
/* Internet sockets for the proxy and the resolver: non-blocking, close-on-exec, with struct
 * address. Portable. Functions return -1 with errno. */
#ifndef BERM_COMMON_PROXY_SOCKET_H
#define BERM_COMMON_PROXY_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/net/destination.h"

/* Creates a socket; type is SOCK_STREAM or SOCK_DGRAM. */
int socket_new(bool is_v6, int type);
/* Returns 0 or -1. After EINPROGRESS the socket becomes writable at the end, and socket_error
 * returns the result. */
int socket_connect(int fd, const struct address *address, uint16_t port);
/* Accepts a connection. */
int socket_accept(int listener);
/* Returns the pending error of a socket, or 0. */
int socket_error(int fd);
/* Creates a listening socket. */
int socket_listen(const struct address *address, uint16_t port, int backlog);
/* Finds the source address of packets to `address`; false without a route. Sends nothing. An
 * address of this machine is its own source. */
bool socket_source(const struct address *address, struct address *source);
/* Makes a socket non-blocking and close-on-exec. */
int socket_make_private(int fd);

#endif
