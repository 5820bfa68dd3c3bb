/* SPDX-License-Identifier: Apache-2.0 */
/* One connection of the proxy, from accept to close. Internal to the proxy. */
#ifndef BERM_COMMON_PROXY_CONNECTION_H
#define BERM_COMMON_PROXY_CONNECTION_H

#include <poll.h>

#include "common/proxy/proxy.h"
#include "common/proxy/http.h"
#include "common/proxy/socks.h"

enum { PROXY_BUFFER = 32768, CONNECTION_WATCHED = 2 + RESOLVER_LOOKUPS };

enum connection_stage {
	CONNECTION_READ_FIRST, /* HTTP or SOCKS is not known yet */
	CONNECTION_READ_HTTP,
	CONNECTION_READ_GREETING,
	CONNECTION_READ_LOGIN,
	CONNECTION_READ_SOCKS,
	CONNECTION_RESOLVE,
	CONNECTION_CONNECT,
	CONNECTION_RELAY,
	CONNECTION_LAST_WORDS, /* a final reply is being sent */
	CONNECTION_OVER,
};

/* One direction. The proxy does not read while the buffer is full. */
struct connection_half {
	uint8_t *bytes; /* PROXY_BUFFER bytes */
	size_t start, end;
	bool is_ended; /* the sender has closed */
	bool is_shut; /* shutdown() was called for the receiver */
};

struct connection {
	const struct proxy_settings *settings;
	const char *credentials; /* the expected text after "Basic" */
	enum connection_stage stage;
	int client, remote;
	bool is_socks, is_tunnel, is_relay, is_open;
	struct connection_half up, down; /* from the client, to the client */
	struct http_body body; /* plain HTTP: finds the end of the request */
	bool has_body;
	int64_t deadline, attempt_end;
	char host[HTTP_HOST_MAX + 1]; /* canonical after connect_begin */
	uint16_t port;
	struct resolver_query query;
	struct dns_addresses addresses;
	size_t next; /* index of the address to try */
	int last_error;
};

/* Takes ownership of the client socket. NULL without memory; the socket is closed then. */
struct connection *connection_open(const struct proxy_settings *settings, const char *credentials, int client,
				   const struct proxy_listener *listener, int64_t now);
/* Fills up to CONNECTION_WATCHED entries for poll(), returns their number, and lowers *wake to the
 * next deadline. */
size_t connection_watch(const struct connection *connection, struct pollfd *watched, int64_t *wake);
/* Continues after poll() with the same entries. The caller closes the connection at
 * CONNECTION_OVER. */
void connection_go_on(struct connection *connection, const struct pollfd *watched, size_t count, int64_t now);
/* Closes both sockets and frees the connection. */
void connection_close(struct connection *connection);

#endif
