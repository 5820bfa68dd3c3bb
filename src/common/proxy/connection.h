/* SPDX-License-Identifier: Apache-2.0 */
/* One connection of the proxy, from accept to its end. */
#ifndef BERM_COMMON_PROXY_CONNECTION_H
#define BERM_COMMON_PROXY_CONNECTION_H

#include <poll.h>

#include "common/proxy/proxy.h"
#include "common/proxy/http.h"
#include "common/proxy/socks.h"

enum { PROXY_BUFFER = 32768, CONNECTION_WATCHED = 2 + RESOLVER_LOOKUPS };

enum connection_stage {
	STAGE_READ_FIRST, /* which language? */
	STAGE_READ_HTTP,
	STAGE_READ_GREETING,
	STAGE_READ_LOGIN,
	STAGE_READ_SOCKS,
	STAGE_RESOLVE,
	STAGE_CONNECT,
	STAGE_RELAY,
	STAGE_LAST_WORDS, /* an answer is on its way, then it is over */
	STAGE_OVER,
};

/* One direction. Nothing is read while the buffer is full. */
struct connection_half {
	uint8_t *bytes; /* PROXY_BUFFER of them */
	size_t start, end;
	bool is_ended; /* nothing more will be read */
	bool is_shut; /* and the other side was told so */
};

struct connection {
	const struct proxy_settings *settings;
	const char *credentials; /* what is right after "Basic" */
	enum connection_stage stage;
	int client, remote;
	bool is_socks, is_tunnel, is_relay, is_open;
	struct connection_half up, down; /* from the client, to the client */
	struct http_body body; /* plain HTTP: where the request ends */
	bool has_body;
	int64_t deadline, attempt_end;
	char host[HTTP_HOST_MAX + 1]; /* canonical once it is judged */
	uint16_t port;
	struct resolver_query query;
	struct dns_addresses addresses;
	size_t next; /* address to try */
	int last_error;
};

/* Takes the client over. NULL without memory; the client is closed then. */
struct connection *connection_open(const struct proxy_settings *settings, const char *credentials, int client,
				   const struct proxy_listener *listener, int64_t now);
/* Fills up to CONNECTION_WATCHED entries; lowers *wake to its next deadline. */
size_t connection_watch(const struct connection *connection, struct pollfd *watched, int64_t *wake);
/* After poll(), with the same entries. It is over when the stage says so. */
void connection_go_on(struct connection *connection, const struct pollfd *watched, size_t count, int64_t now);
void connection_close(struct connection *connection);

#endif
