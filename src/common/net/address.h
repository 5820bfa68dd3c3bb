/* SPDX-License-Identifier: Apache-2.0 */
/* What destination.c needs to know about addresses besides destination.h: the special range that an address lies in, and the IPv4
 * address that an IPv6 one may carry. */
#ifndef BERM_COMMON_NET_ADDRESS_H
#define BERM_COMMON_NET_ADDRESS_H

#include <stdbool.h>

#include "common/net/destination.h"

struct address_range {
	const char *name; /* "loopback", "metadata service", ... */
	const char *named_reason; /* why a connection to such an address is refused */
	const char *resolved_reason; /* why a connection to a name that resolves to such an address is refused */
	unsigned bits; /* leading bits that all addresses of the range share */
	bool is_metadata;
};

/* The most specific special range, or false if the address is public. IPv4 inside IPv6 is judged as that IPv4; bits then count in the
 * IPv6 address. A network with at least that many bits lies inside the range as a whole. */
bool address_range(const struct address *address, struct address_range *range);
/* Is there an IPv4 address inside (mapped, compatible, translated, NAT64, 6to4)? *offset is the bit it begins at. */
bool address_embedded(const struct address *address, struct address *v4, unsigned *offset);
/* ::ffff:a.b.c.d is a.b.c.d on the wire; everything else stays as it is. */
struct address address_unmapped(const struct address *address);
/* Do the first `bits` bits agree? False for different families. */
bool address_shares(const struct address *left, const struct address *right, unsigned bits);
/* Are all bits after the first `bits` zero? */
bool address_is_network(const struct address *address, unsigned bits);
unsigned address_width(const struct address *address);

#endif
