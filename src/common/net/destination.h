/* SPDX-License-Identifier: Apache-2.0 */
/* Network destinations of a policy, and the one function that decides about a connection. Never
 * resolves, never connects.
 *
 * Host names are compared in canonical form: lower case, A-labels, no trailing dot. An address in
 * any spelling that the C library accepts is an address, never a name. Non-public addresses
 * (loopback, private, link-local, metadata, multicast, unspecified, broadcast, and IPv6 forms of
 * these) are refused unless a rule names the address itself. */
#ifndef BERM_COMMON_NET_DESTINATION_H
#define BERM_COMMON_NET_DESTINATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/base/error.h"

struct rule; /* of the policy; only pointed to */

struct address {
	bool is_v6;
	uint8_t bytes[16]; /* IPv4 in the first four */
	uint32_t scope; /* the interface of a link-local name server; 0 in all other addresses */
};

enum destination_kind {
	DESTINATION_NAME,
	DESTINATION_WILDCARD, /* *.suffix */
	DESTINATION_NETWORK,
	DESTINATION_ANY, /* "*" */
};

struct destination {
	enum destination_kind kind;
	const char *host; /* canonical name, or suffix without "*." */
	struct address network;
	unsigned prefix; /* bits */
	uint16_t port_low, port_high; /* 0 to 65535 without a port */
	const struct rule *rule;
};

struct destinations {
	struct destination *items;
	size_t count;
};

/* Parses "host", "host:443", "host:8000-8100", "*.host:443", "10.0.0.0/8:5432", "10.1.2.3",
 * "[2001:db8::]/32:443", "[::1]:80" or "*:443". */
int destination_parse(struct arena *arena, const char *text, struct destination *destination, struct error *err);

/* Returns the canonical form of a host name: lower case, A-labels, no trailing dot. Refuses NUL,
 * blanks, control characters, empty and over-long labels, mixed scripts with look-alike letters,
 * and names that are spelled like numbers ("127.1", "0x7f000001"), which are addresses: see
 * address_parse_any. */
int host_canonical(struct arena *arena, const char *host, size_t length, const char **canonical, struct error *err);
/* Parses a strict dotted quad or RFC 4291 text, with or without brackets. */
bool address_parse(const char *text, struct address *address);
/* Parses also every spelling that inet_aton accepts: 127.1, 0177.1, 0x7f000001, 2130706433. */
bool address_parse_any(const char *text, struct address *address);
/* Returns NULL for a public address, else its kind: "loopback", "private", "link-local", "metadata
 * service", ... An embedded IPv4 address counts as IPv4. */
const char *address_special(const struct address *address);
void address_format(const struct address *address, char out[64]);
struct addresses {
	struct address *items;
	size_t count;
};
/* Lists the addresses of this machine's interfaces. */
int address_own(struct arena *arena, struct addresses *own, struct error *err);

/* True if the policy allows the connection. `host` is a name or an address in any spelling,
 * `resolved` its addresses; without any only the name is checked. Deny rules take precedence. *rule
 * is the deciding rule or NULL, *reason a static sentence. is_all means `network: all`: everything
 * is allowed that is not denied and not a metadata service. */
bool destination_allowed(const struct destinations *allow, const struct destinations *deny, bool is_all, const char *host,
			 uint16_t port, const struct address *resolved, size_t resolved_count, const struct rule **rule,
			 const char **reason);

/* The same with this machine's own addresses, which are refused like loopback unless a rule names
 * them. */
struct destination_policy {
	const struct destinations *allow, *deny;
	bool is_all;
	const struct address *own;
	size_t own_count;
};
bool destination_judge(const struct destination_policy *policy, const char *host, uint16_t port, const struct address *resolved,
		       size_t resolved_count, const struct rule **rule, const char **reason);

#endif
