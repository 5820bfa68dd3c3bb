/* SPDX-License-Identifier: Apache-2.0 */
/* Network destinations as the policy names them, and the one function that judges a connection. Host names are compared in
 * canonical form (lower case, A-labels, no trailing dot); addresses in every spelling that the C library would accept are
 * recognised as addresses and never taken for names. Addresses that are not public (loopback, private, link-local, metadata,
 * multicast, mapped, NAT64, 6to4 of those, unspecified, broadcast) are refused unless a rule names that address itself. */
#ifndef BERM_COMMON_NET_DESTINATION_H
#define BERM_COMMON_NET_DESTINATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/policy/policy.h"

struct address {
	bool is_v6;
	uint8_t bytes[16]; /* v4 in the first four */
};

enum destination_kind { DESTINATION_NAME, DESTINATION_WILDCARD /* *.suffix */, DESTINATION_NETWORK, DESTINATION_ANY /* "*" */ };

struct destination {
	enum destination_kind kind;
	const char *host; /* canonical name, or suffix without "*." */
	struct address network;
	unsigned prefix; /* bits */
	uint16_t port_low, port_high; /* 0..65535 when no port was written */
	const struct rule *rule;
};

struct destinations {
	struct destination *items;
	size_t count;
};

/* "host", "host:443", "host:8000-8100", "*.host:443", "10.0.0.0/8:5432", "10.1.2.3", "[2001:db8::]/32:443", "[::1]:80", "*:443". */
int destination_parse(struct arena *arena, const char *text, struct destination *destination, struct error *err);

/* Canonical form of a host name: lower case, IDNA A-labels, without trailing dot. Refuses NUL, blanks, control characters,
 * empty or over-long labels, mixed-script look-alikes that IDNA forbids, names that are spelled like numbers ("127.1",
 * "0x7f000001", "2130706433": those are addresses, see address_parse_any). */
int host_canonical(struct arena *arena, const char *host, size_t length, const char **canonical, struct error *err);
/* Strict dotted quad or RFC 4291 text (brackets allowed). */
bool address_parse(const char *text, struct address *address);
/* Every spelling inet_aton accepts as well: 127.1, 0177.1, 0x7f000001, 2130706433. */
bool address_parse_any(const char *text, struct address *address);
/* NULL if the address is public, else what it is: "loopback", "private", "link-local", "metadata service", ... IPv4 inside
 * mapped, compatible, NAT64 or 6to4 IPv6 is judged as that IPv4. */
const char *address_special(const struct address *address);
void address_format(const struct address *address, char out[64]);
/* The addresses of this machine's interfaces. */
struct addresses {
	struct address *items;
	size_t count;
};
int address_own(struct arena *arena, struct addresses *own, struct error *err);

/* `host` is a name or an address in any spelling; `resolved` the addresses it resolved to (may be none: only the name is judged
 * then). Deny wins. Returns true if allowed; *rule is the deciding rule or NULL, *reason a static sentence. With is_all the
 * policy says `network: all`: everything not denied is allowed except metadata services. */
bool destination_allowed(const struct destinations *allow, const struct destinations *deny, bool is_all, const char *host,
			 uint16_t port, const struct address *resolved, size_t resolved_count, const struct rule **rule,
			 const char **reason);

/* The same where this machine's own addresses are known: they are refused as loopback is, unless a rule names them. */
struct destination_policy {
	const struct destinations *allow, *deny;
	bool is_all;
	const struct address *own;
	size_t own_count;
};
bool destination_judge(const struct destination_policy *policy, const char *host, uint16_t port, const struct address *resolved,
		       size_t resolved_count, const struct rule **rule, const char **reason);

#endif
