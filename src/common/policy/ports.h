/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the ports of network.local and network.publish. Reads only the text. */
#ifndef BERM_COMMON_POLICY_PORTS_H
#define BERM_COMMON_POLICY_PORTS_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/net/destination.h"

/* Ports of the host's loopback, both ends included. */
struct port_range {
	uint16_t low, high;
};

/* A port of the command that the host may reach. */
struct published_port {
	struct address address; /* on the host; 127.0.0.1 if the text has none */
	uint16_t host_port, port; /* host_port 0: a free one */
};

/* Parses PORT or LOW-HIGH. Returns 0, or -1 with an error that quotes the text. */
int port_range_parse(const char *text, struct port_range *range, struct error *err);
/* Parses PORT, auto:PORT, HOSTPORT:PORT or ADDRESS:HOSTPORT:PORT; an IPv6 address needs brackets.
 * Returns 0, or -1 with an error that quotes the text. */
int published_port_parse(const char *text, struct published_port *published, struct error *err);

#endif
