/* SPDX-License-Identifier: Apache-2.0 */
/* A non-blocking stub resolver: the hosts file, then the name servers of resolv.conf, both address
 * types at once, over UDP and for truncated answers over TCP. Driven by the caller's poll loop,
 * without threads or NSS. It checks no policy: callers must not pass a name that is not allowed. */
#ifndef BERM_COMMON_PROXY_RESOLVER_H
#define BERM_COMMON_PROXY_RESOLVER_H

#include <poll.h>

#include "common/proxy/dns.h"

enum { RESOLVER_LOOKUPS = 2, RESOLVER_CACHE = 64 };

struct resolver_file {
	const char *path;
	char *text;
	size_t length;
	int64_t modified_s, modified_ns, size; /* when it was read */
};

struct resolver {
	struct resolver_file hosts, servers_file;
	int64_t checked_at; /* last check of the files */
	struct dns_addresses servers;
	uint16_t port; /* of name servers */
	int retry_ms; /* timeout of one server */
	struct resolver_answer {
		char name[DNS_NAME_MAX + 1];
		struct dns_addresses addresses;
		int64_t until;
	} * cache; /* RESOLVER_CACHE entries */
};

/* One query for one type, sent to one server at a time. */
struct resolver_lookup {
	enum dns_type type;
	enum dns_result result;
	bool is_done, is_tcp;
	int fd;
	unsigned attempt;
	int64_t retry_at;
	uint8_t query[DNS_QUERY_MAX];
	size_t query_length;
	uint8_t *stream; /* TCP: received bytes */
	size_t sent, received;
	struct dns_addresses addresses;
};

struct resolver_query {
	struct resolver *resolver;
	char name[DNS_NAME_MAX + 1];
	struct resolver_lookup lookups[RESOLVER_LOOKUPS];
	bool is_done;
	struct dns_addresses addresses; /* valid when done; may be empty */
};

/* `hosts` and `servers` are paths, which must stay valid. */
void resolver_open(struct resolver *resolver, const char *hosts, const char *servers);
/* Reads both files if they have changed, at most every two seconds. resolver_start calls it too.
 * For callers that later lose access to the files. */
void resolver_look_at_files(struct resolver *resolver, int64_t now);

/* Starts a query for a canonical name. It may be done immediately. */
void resolver_start(struct resolver *resolver, const char *name, int64_t now, struct resolver_query *query);
/* Fills up to RESOLVER_LOOKUPS entries for poll(), returns their number, and lowers *wake to the
 * next timeout. */
size_t resolver_watch(const struct resolver_query *query, struct pollfd *watched, int64_t *wake);
/* Continues after poll() with the same entries. */
void resolver_go_on(struct resolver_query *query, const struct pollfd *watched, size_t count, int64_t now);
void resolver_cancel(struct resolver_query *query);

#endif
