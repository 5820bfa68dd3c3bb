/* SPDX-License-Identifier: Apache-2.0 */
/* The allowlist proxy: HTTP CONNECT, plain HTTP and SOCKS5 on one port, told apart by the first byte; and relays to fixed ports. It
 * connects where the policy allows and nowhere else: the name is judged before it is resolved, every address it resolves to is judged
 * before one of them is connected, and that one is connected by its number. Bounded in memory, connections and time. Runs in a process
 * of its own that the platform confines; nothing here needs a privilege. */
#ifndef BERM_COMMON_PROXY_PROXY_H
#define BERM_COMMON_PROXY_PROXY_H

#include <stddef.h>
#include <stdint.h>

#include "common/net/destination.h"
#include "common/proxy/refusals.h"
#include "common/proxy/resolver.h"

enum { PROXY_SECRET_BYTES = 16, PROXY_SECRET_MAX = 2 * PROXY_SECRET_BYTES, PROXY_LISTENER_MAX = 160 };
#define PROXY_USER "berm"

/* Milliseconds. The defaults are proxy_default_limits. */
struct proxy_limits {
	int head_ms; /* from accept until the request is read */
	int resolve_ms, connect_ms;
	int attempt_ms; /* one address of several */
	int idle_ms; /* nothing moved in either direction */
	int last_ms; /* for the client to take the last words */
	unsigned connections;
};
extern const struct proxy_limits proxy_default_limits;

struct proxy_listener {
	int fd;
	uint16_t relay_port; /* 0: the proxy itself; else everything goes to this port of the loopback here */
	bool is_open; /* HTTP without the secret: only where nobody but the sandbox can connect */
};

struct proxy_settings {
	struct destination_policy policy;
	const char *secret;
	struct proxy_limits limits;
	struct resolver *resolver;
	struct egress_reports *reports;
	const struct proxy_listener *listeners;
	size_t listener_count;
	int control; /* readable or closed: the end */
};

/* A fresh secret in hexadecimal. -1 if the system has no randomness. */
int proxy_make_secret(char out[PROXY_SECRET_MAX + 1]);
/* Serves until `control` says so. 0, or -1 with errno if poll itself fails. */
int proxy_serve(const struct proxy_settings *settings);

#endif
