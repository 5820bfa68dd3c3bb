/* SPDX-License-Identifier: Apache-2.0 */
/* A stub resolver that never blocks: the hosts file, then the name servers of resolv.conf, both types of address at once, over UDP and
 * where an answer does not fit over TCP. It belongs to whoever polls: no thread, no process, no library that loads others. It asks for
 * nothing by itself: a name that is not allowed must not be given to it. */
#ifndef BERM_COMMON_PROXY_RESOLVER_H
#define BERM_COMMON_PROXY_RESOLVER_H

#include <poll.h>

#include "common/proxy/dns.h"

enum { RESOLVER_LOOKUPS = 2, RESOLVER_CACHE = 64 };

struct resolver_file {
	const char *path;
	char *text;
	size_t length;
	int64_t modified_s, modified_ns, size; /* of what was read */
};

struct resolver {
	struct resolver_file hosts, servers_file;
	int64_t checked_at; /* when the files were last looked at */
	struct dns_addresses servers;
	uint16_t port; /* of name servers */
	int retry_ms; /* how long one server is given */
	struct resolver_answer {
		char name[DNS_NAME_MAX + 1];
		struct dns_addresses addresses;
		int64_t until;
	} * cache; /* RESOLVER_CACHE of them */
};

/* One question for one type, to one server at a time. */
struct resolver_lookup {
	enum dns_type type;
	enum dns_result result;
	bool is_done, is_tcp;
	int fd;
	unsigned attempt;
	int64_t retry_at;
	uint8_t query[DNS_QUERY_MAX];
	size_t query_length;
	uint8_t *stream; /* TCP: what was received so far */
	size_t sent, received;
	struct dns_addresses addresses;
};

struct resolver_query {
	struct resolver *resolver;
	char name[DNS_NAME_MAX + 1];
	struct resolver_lookup lookups[RESOLVER_LOOKUPS];
	bool is_done;
	struct dns_addresses addresses; /* when done: none if there are none */
};

/* `hosts` and `servers` are paths. */
void resolver_open(struct resolver *resolver, const char *hosts, const char *servers);
void resolver_close(struct resolver *resolver);
/* Reads both files if they have changed, at most every two seconds; resolver_start does it too. For who loses the files afterwards. */
void resolver_look_at_files(struct resolver *resolver, int64_t now);

/* May be done at once. The name is in canonical form. */
void resolver_start(struct resolver *resolver, const char *name, int64_t now, struct resolver_query *query);
/* What to wait for: fills up to RESOLVER_LOOKUPS entries, returns how many, and lowers *wake to when it wants to be asked again. */
size_t resolver_watch(const struct resolver_query *query, struct pollfd *watched, int64_t *wake);
/* After poll(), with the same entries. */
void resolver_go_on(struct resolver_query *query, const struct pollfd *watched, size_t count, int64_t now);
void resolver_cancel(struct resolver_query *query);

#endif
