/* SPDX-License-Identifier: Apache-2.0 */
/* DNS messages (RFC 1035) as far as a stub resolver needs them: one question for addresses, and its answer. Pure: bytes in, bytes
 * out. And the two files that say where to ask and what is known without asking. */
#ifndef BERM_COMMON_PROXY_DNS_H
#define BERM_COMMON_PROXY_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/net/destination.h"

enum {
	DNS_NAME_MAX = 253,
	DNS_QUERY_MAX = 12 + 255 + 4,
	DNS_ANSWER_MAX = 4096, /* over TCP; datagrams end at 512 bytes, because no more is asked for */
	DNS_ADDRESS_MAX = 16, /* further ones are left out */
	DNS_SERVER_MAX = 3, /* as in the C library */
	DNS_PORT = 53,
};

enum dns_type { DNS_A = 1, DNS_AAAA = 28 };

enum dns_result {
	DNS_FOUND, /* addresses, perhaps none: the name exists without any of this type */
	DNS_NO_NAME,
	DNS_TRUNCATED, /* ask again over TCP */
	DNS_FAILED, /* the server could not tell */
	DNS_FOREIGN, /* no answer to this question: to be ignored */
};

struct dns_addresses {
	struct address items[DNS_ADDRESS_MAX];
	size_t count;
};

/* `name` in canonical form. The length, 0 if the name cannot be asked for. */
size_t dns_write_query(const char *name, enum dns_type type, uint16_t id, uint8_t out[DNS_QUERY_MAX]);
/* Adds to `addresses` what the answer says about the name asked for, through aliases. Nothing else of it is believed. */
enum dns_result dns_read_answer(const uint8_t *query, size_t query_length, const uint8_t *answer, size_t length,
				struct dns_addresses *addresses);

/* The `nameserver` lines of resolv.conf. Without any, this machine's own, as the C library does. */
void dns_read_servers(const char *text, size_t length, struct dns_addresses *servers);
/* Addresses of `name` in the text of a hosts file; false if it has none. */
bool dns_read_hosts(const char *text, size_t length, const char *name, struct dns_addresses *addresses);

#endif
