/* SPDX-License-Identifier: Apache-2.0 */
/* The current addresses of this machine's interfaces. A service that listens on all interfaces is
 * reachable through each of them, so that they are treated like loopback. */
#include "common/net/destination.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* False for families other than IPv4 and IPv6. */
static bool read_address(const struct sockaddr *from, struct address *address)
{
	*address = (struct address){ 0 };
	if (from && from->sa_family == AF_INET) {
		struct sockaddr_in v4;
		memcpy(&v4, from, sizeof v4);
		memcpy(address->bytes, &v4.sin_addr, sizeof v4.sin_addr);
		return true;
	}
	if (from && from->sa_family == AF_INET6) {
		struct sockaddr_in6 v6;
		memcpy(&v6, from, sizeof v6);
		address->is_v6 = true;
		memcpy(address->bytes, &v6.sin6_addr, sizeof v6.sin6_addr);
		return true;
	}
	return false;
}

int address_own(struct arena *arena, struct addresses *own, struct error *err)
{
	struct ifaddrs *interfaces;
	struct address address;

	*own = (struct addresses){ 0 };
	if (getifaddrs(&interfaces) < 0)
		return error_errno(err, errno, "cannot list this machine's addresses");
	for (const struct ifaddrs *each = interfaces; each; each = each->ifa_next) {
		if (read_address(each->ifa_addr, &address))
			*(struct address *)arena_push(arena, own) = address;
	}
	freeifaddrs(interfaces);
	return 0;
}
