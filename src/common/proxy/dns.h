/* SPDX-License-Identifier: Apache-2.0 */
/* DNS messages (RFC 1035) of a stub resolver: a query for addresses and its answer. Parses also the
 * texts of resolv.conf and hosts. Never sends or opens anything. */
#ifndef BERM_COMMON_PROXY_DNS_H
#define BERM_COMMON_PROXY_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/net/destination.h"

enum {
	DNS_NAME_MAX = 253,
	DNS_QUERY_MAX = 12 + 255 + 4,
	DNS_ANSWER_MAX = 4096, /* over TCP; datagrams have at most 512 bytes without EDNS */
	DNS_ADDRESS_MAX = 16, /* further ones are dropped */
	DNS_SERVER_MAX = 3, /* as in the C library */
	DNS_PORT = 53,
};

enum dns_type { DNS_A = 1, DNS_AAAA = 28 };

enum dns_result {
	DNS_FOUND, /* the name exists, perhaps without addresses of this type */
	DNS_NO_NAME,
	DNS_TRUNCATED, /* to be repeated over TCP */
	DNS_FAILED, /* the server reported an error */
	DNS_FOREIGN, /* not an answer to this query: to be ignored */
};

struct dns_addresses {
	struct address items[DNS_ADDRESS_MAX];
	size_t count;
};

/* Writes a query for a canonical name. Returns its length, 0 if the name does not fit. */
size_t dns_write_query(const char *name, enum dns_type type, uint16_t id, uint8_t out[DNS_QUERY_MAX]);
/* Adds the addresses of the queried name to `addresses`, following aliases. Ignores all other
 * records. */
enum dns_result dns_read_answer(const uint8_t *query, size_t query_length, const uint8_t *answer, size_t length,
				struct dns_addresses *addresses);

/* Reads the `nameserver` lines of resolv.conf. Without any, the server is 127.0.0.1, as in the C
 * library. */
void dns_read_servers(const char *text, size_t length, struct dns_addresses *servers);
/* Finds the addresses of `name` in the text of a hosts file; false if there are none. */
bool dns_read_hosts(const char *text, size_t length, const char *name, struct dns_addresses *addresses);

#endif
