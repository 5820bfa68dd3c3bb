/* SPDX-License-Identifier: Apache-2.0 */
/* The allow-list proxy: a poll loop in its own process. Never blocks, never connects where the
 * policy does not allow it.
 *
 * Serves HTTP CONNECT, plain HTTP and SOCKS5 on one port, distinguished by the first byte, and
 * relays to fixed ports. A name is checked before it is resolved, all its addresses are checked
 * before one is connected. Memory, connections and time are limited. Needs no privileges; the
 * platform confines the process. */
#ifndef BERM_COMMON_PROXY_PROXY_H
#define BERM_COMMON_PROXY_PROXY_H

#include <stddef.h>
#include <stdint.h>

#include "common/net/destination.h"
#include "common/proxy/refusals.h"
#include "common/proxy/resolver.h"

enum { PROXY_SECRET_BYTES = 16, PROXY_SECRET_MAX = 2 * PROXY_SECRET_BYTES, PROXY_LISTENER_MAX = 160 };
#define PROXY_USER "berm"

/* Timeouts in milliseconds. */
struct proxy_limits {
	int head_ms; /* from accept to the complete request */
	int resolve_ms, connect_ms;
	int attempt_ms; /* one address of several */
	int idle_ms; /* without traffic in either direction */
	int last_ms; /* for the final reply */
	unsigned connections; /* at once */
};
extern const struct proxy_limits proxy_default_limits;

struct proxy_listener {
	int fd;
	uint16_t relay_port; /* 0: the proxy; else a relay to this port of the local loopback */
	bool is_open; /* HTTP without the secret: only where no other process can connect */
};

struct proxy_settings {
	struct destination_policy policy;
	/* Of connections without the secret, on open listeners; NULL: those of `policy`. */
	const struct destinations *open_allow;
	const char *secret;
	struct proxy_limits limits;
	struct resolver *resolver;
	struct refusals *reports;
	const struct proxy_listener *listeners;
	size_t listener_count;
	int control; /* fd: the proxy stops when it is readable or closed */
};

/* Writes a new random secret in hexadecimal. -1 with errno without randomness. */
int proxy_make_secret(char out[PROXY_SECRET_MAX + 1]);
/* Serves until `control` is readable or closed. Returns 0, or -1 with errno if poll fails. */
int proxy_serve(const struct proxy_settings *settings);

#endif
