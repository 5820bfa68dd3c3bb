/* SPDX-License-Identifier: Apache-2.0 */
/* Special address ranges, and IPv4 addresses embedded in IPv6. Never resolves or connects. */
#ifndef BERM_COMMON_NET_ADDRESS_H
#define BERM_COMMON_NET_ADDRESS_H

#include <stdbool.h>

#include "common/net/destination.h"

struct address_range {
	const char *name; /* "loopback", "metadata service", ... */
	const char *named_reason; /* why a connection to such an address is refused */
	const char *resolved_reason; /* the same for a name that resolves to such an address */
	unsigned bits; /* common leading bits of the range */
	bool is_metadata;
};

/* Finds the most specific special range of an address; false if the address is public. An embedded
 * IPv4 address counts as IPv4, and `bits` then counts in the IPv6 address. A network with at least
 * `bits` bits is entirely inside the range. */
bool address_range(const struct address *address, struct address_range *range);
/* True if an IPv4 address is embedded (mapped, compatible, translated, NAT64, 6to4). *offset is its
 * first bit. */
bool address_embedded(const struct address *address, struct address *v4, unsigned *offset);
/* Returns a.b.c.d for ::ffff:a.b.c.d, which is the same on the wire, and any other address
 * unchanged. */
struct address address_unmapped(const struct address *address);
/* True if the first `bits` bits are equal. False for different families. */
bool address_shares(const struct address *left, const struct address *right, unsigned bits);
/* True if all bits after the first `bits` are zero. */
bool address_is_network(const struct address *address, unsigned bits);
/* Returns 32 or 128. */
unsigned address_width(const struct address *address);

#endif
