/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to a connected socket: policy, resolution, policy for each address, connect.
 * Internal to the proxy. */
#ifndef BERM_COMMON_PROXY_CONNECT_H
#define BERM_COMMON_PROXY_CONNECT_H

#include "common/proxy/connection.h"

/* Starts with the connection's host and port as the client wrote them. */
void connect_begin(struct connection *connection, int64_t now);
/* Continues once the resolver has finished. */
void connect_resolved(struct connection *connection, int64_t now);
/* Connects to a fixed port of the loopback address. */
void connect_relay(struct connection *connection, uint16_t port, int64_t now);
/* Continues when the connecting socket became writable or the time for this address is over. */
void connect_connecting(struct connection *connection, bool has_event, int64_t now);

#endif
