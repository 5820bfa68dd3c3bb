/* SPDX-License-Identifier: Apache-2.0 */
/* Each attempt has its own connected socket, so a new source port, and a new random id: forged
 * answers are ignored. Results are cached for some seconds, so that ten connections to one host
 * send one query. Callers check the addresses each time. */
#include "common/proxy/resolver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#include "common/base/file_time.h"
#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/proxy/socket.h"
#include "common/base/text.h"

enum {
	FILE_MAX = 8 << 20, /* hosts files that block advertisements have several MiB */
	FILE_CHECK_MS = 2000,
	RETRY_MS = 2000,
	ROUNDS = 2,
	CACHE_MS = 10000,
};

static bool is_unchanged(const struct resolver_file *file, const struct stat *info)
{
	return file->text && file->modified_s == (int64_t)info->st_mtim.tv_sec &&
	       file->modified_ns == (int64_t)info->st_mtim.tv_nsec && file->size == (int64_t)info->st_size;
}

/* Keeps the old text if the file cannot be read. */
static void read_file(struct resolver_file *file)
{
	struct private_file content;
	struct stat info;
	autoclose int fd = private_file_open(AT_FDCWD, file->path, PRIVATE_FILE_FOLLOW, &info);

	if (fd < 0 || is_unchanged(file, &info) || private_file_read_fd(NULL, fd, FILE_MAX, &content) < 0)
		return;
	free(file->text);
	file->text = content.bytes;
	file->length = content.length;
	file->modified_s = (int64_t)info.st_mtim.tv_sec;
	file->modified_ns = (int64_t)info.st_mtim.tv_nsec;
	file->size = (int64_t)info.st_size;
}

void resolver_open(struct resolver *resolver, const char *hosts, const char *servers)
{
	*resolver = (struct resolver){
		.hosts.path = hosts,
		.servers_file.path = servers,
		.port = DNS_PORT,
		.retry_ms = RETRY_MS,
		.cache = calloc(RESOLVER_CACHE, sizeof *resolver->cache),
	};
}

void resolver_look_at_files(struct resolver *resolver, int64_t now)
{
	if (resolver->checked_at && now - resolver->checked_at < FILE_CHECK_MS)
		return;
	resolver->checked_at = now;
	read_file(&resolver->hosts);
	read_file(&resolver->servers_file);
	dns_read_servers(resolver->servers_file.text ? resolver->servers_file.text : "", resolver->servers_file.length,
			 &resolver->servers);
}

static struct resolver_answer *find_cached(const struct resolver *resolver, const char *name, int64_t now)
{
	for (size_t i = 0; resolver->cache && i < RESOLVER_CACHE; i++)
		if (resolver->cache[i].until > now && strcmp(resolver->cache[i].name, name) == 0)
			return &resolver->cache[i];
	return NULL;
}

static void keep(struct resolver *resolver, const struct resolver_query *query, int64_t now)
{
	struct resolver_answer *oldest = resolver->cache;

	if (!oldest || query->addresses.count == 0)
		return;
	for (size_t i = 1; i < RESOLVER_CACHE; i++)
		if (resolver->cache[i].until < oldest->until)
			oldest = &resolver->cache[i];
	memcpy(oldest->name, query->name, sizeof oldest->name);
	oldest->addresses = query->addresses;
	oldest->until = now + CACHE_MS;
}

static void add_addresses(struct dns_addresses *into, const struct dns_addresses *from)
{
	for (size_t i = 0; i < from->count && into->count < DNS_ADDRESS_MAX; i++)
		into->items[into->count++] = from->items[i];
}

static void end_socket(struct resolver_lookup *lookup)
{
	if (lookup->fd >= 0)
		close(lookup->fd);
	lookup->fd = -1;
	lookup->sent = lookup->received = 0;
	free(lookup->stream);
	lookup->stream = NULL;
}

static void finish_lookup(struct resolver_lookup *lookup, enum dns_result result)
{
	end_socket(lookup);
	lookup->is_done = true;
	lookup->result = result;
}

/* Each type gets half of the addresses, whichever answers first. */
static void finish_query(struct resolver_query *query, int64_t now)
{
	for (size_t i = 0; i < RESOLVER_LOOKUPS; i++)
		if (!query->lookups[i].is_done)
			return;
	for (size_t i = 0; i < RESOLVER_LOOKUPS; i++) {
		struct dns_addresses *found = &query->lookups[i].addresses;
		if (found->count > DNS_ADDRESS_MAX / RESOLVER_LOOKUPS)
			found->count = DNS_ADDRESS_MAX / RESOLVER_LOOKUPS;
		add_addresses(&query->addresses, found);
	}
	query->is_done = true;
	keep(query->resolver, query, now);
}

static bool start_socket(struct resolver_query *query, struct resolver_lookup *lookup)
{
	const struct dns_addresses *servers = &query->resolver->servers;
	const struct address *server = &servers->items[lookup->attempt % servers->count];
	uint16_t id;

	if (getentropy(&id, sizeof id) < 0)
		return false;
	lookup->query_length = dns_write_query(query->name, lookup->type, id, lookup->query);
	lookup->fd = socket_new(server->is_v6, lookup->is_tcp ? SOCK_STREAM : SOCK_DGRAM);
	if (lookup->fd < 0 || lookup->query_length == 0)
		return false;
	if (socket_connect(lookup->fd, server, query->resolver->port) < 0 && errno != EINPROGRESS)
		return false;
	if (lookup->is_tcp) {
		lookup->stream = malloc(2 + DNS_ANSWER_MAX);
		return lookup->stream != NULL;
	}
	return send(lookup->fd, lookup->query, lookup->query_length, 0) == (ssize_t)lookup->query_length;
}

/* RFC 6761: these names are never sent to a server. */
static bool is_local_name(const char *name, struct dns_addresses *addresses)
{
	if (strcmp(name, "localhost") != 0 && !text_ends_with(name, ".localhost"))
		return false;
	addresses->items[addresses->count++] = (struct address){ .bytes = { 127, 0, 0, 1 } };
	addresses->items[addresses->count++] = (struct address){ .is_v6 = true, .bytes = { [15] = 1 } };
	return true;
}

/* Tries the next server; fails after ROUNDS attempts with each. */
static void try_next(struct resolver_query *query, struct resolver_lookup *lookup, int64_t now)
{
	unsigned limit = ROUNDS * (unsigned)query->resolver->servers.count;

	end_socket(lookup);
	while (lookup->attempt < limit) {
		bool has_started = start_socket(query, lookup);
		lookup->attempt++;
		lookup->retry_at = now + query->resolver->retry_ms;
		if (has_started)
			return;
		end_socket(lookup);
	}
	finish_lookup(lookup, DNS_FAILED);
}

static void take_answer(struct resolver_query *query, struct resolver_lookup *lookup, const uint8_t *answer, size_t length,
			int64_t now)
{
	enum dns_result result = dns_read_answer(lookup->query, lookup->query_length, answer, length, &lookup->addresses);

	switch (result) {
	case DNS_FOREIGN:
		if (lookup->is_tcp)
			try_next(query, lookup, now);
		return;
	case DNS_TRUNCATED:
		/* Repeats the query with the same server over TCP. */
		if (!lookup->is_tcp)
			lookup->attempt--;
		lookup->is_tcp = true;
		try_next(query, lookup, now);
		return;
	case DNS_FAILED:
		try_next(query, lookup, now);
		return;
	case DNS_FOUND:
	case DNS_NO_NAME:
		finish_lookup(lookup, result);
	}
}

static void receive_datagram(struct resolver_query *query, struct resolver_lookup *lookup, int64_t now)
{
	uint8_t answer[DNS_ANSWER_MAX];
	ssize_t count = recv(lookup->fd, answer, sizeof answer, 0);

	if (count >= 0)
		take_answer(query, lookup, answer, (size_t)count, now);
	else if (errno != EAGAIN && errno != EINTR)
		try_next(query, lookup, now); /* such as ECONNREFUSED */
}

static void send_stream(struct resolver_query *query, struct resolver_lookup *lookup, int64_t now)
{
	uint8_t framed[2 + DNS_QUERY_MAX] = { (uint8_t)(lookup->query_length >> 8), (uint8_t)lookup->query_length };
	ssize_t count;

	memcpy(framed + 2, lookup->query, lookup->query_length);
	count = send(lookup->fd, framed + lookup->sent, lookup->query_length + 2 - lookup->sent, 0);
	if (count > 0)
		lookup->sent += (size_t)count;
	else if (errno != EAGAIN && errno != EINTR)
		try_next(query, lookup, now);
}

static void receive_stream(struct resolver_query *query, struct resolver_lookup *lookup, int64_t now)
{
	ssize_t count = recv(lookup->fd, lookup->stream + lookup->received, 2 + DNS_ANSWER_MAX - lookup->received, 0);
	size_t announced;

	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (count <= 0) {
		try_next(query, lookup, now);
		return;
	}
	lookup->received += (size_t)count;
	if (lookup->received < 2)
		return;
	announced = (size_t)lookup->stream[0] << 8 | lookup->stream[1];
	if (announced > DNS_ANSWER_MAX)
		try_next(query, lookup, now);
	else if (lookup->received >= announced + 2)
		take_answer(query, lookup, lookup->stream + 2, announced, now);
}

static bool is_sending(const struct resolver_lookup *lookup)
{
	return lookup->is_tcp && lookup->sent < lookup->query_length + 2;
}

static void go_on(struct resolver_query *query, struct resolver_lookup *lookup, short events, int64_t now)
{
	if (events && !lookup->is_tcp)
		receive_datagram(query, lookup, now);
	else if (events && is_sending(lookup))
		send_stream(query, lookup, now);
	else if (events)
		receive_stream(query, lookup, now);
	else if (now >= lookup->retry_at)
		try_next(query, lookup, now);
}

void resolver_start(struct resolver *resolver, const char *name, int64_t now, struct resolver_query *query)
{
	static const enum dns_type types[RESOLVER_LOOKUPS] = { DNS_AAAA, DNS_A };
	const struct resolver_answer *cached;

	*query = (struct resolver_query){ .resolver = resolver };
	for (size_t i = 0; i < RESOLVER_LOOKUPS; i++)
		query->lookups[i] = (struct resolver_lookup){ .type = types[i], .fd = -1 };
	resolver_look_at_files(resolver, now);
	query->is_done = true;
	if (strlen(name) > DNS_NAME_MAX)
		return;
	memcpy(query->name, name, strlen(name) + 1);
	if (resolver->hosts.text &&
	    dns_read_hosts(resolver->hosts.text, resolver->hosts.length, query->name, &query->addresses))
		return;
	if (is_local_name(query->name, &query->addresses))
		return;
	cached = find_cached(resolver, query->name, now);
	if (cached) {
		query->addresses = cached->addresses;
		return;
	}
	query->is_done = false;
	for (size_t i = 0; i < RESOLVER_LOOKUPS; i++)
		try_next(query, &query->lookups[i], now);
	finish_query(query, now);
}

size_t resolver_watch(const struct resolver_query *query, struct pollfd *watched, int64_t *wake)
{
	size_t count = 0;

	for (size_t i = 0; !query->is_done && i < RESOLVER_LOOKUPS; i++) {
		const struct resolver_lookup *lookup = &query->lookups[i];
		if (lookup->is_done)
			continue;
		watched[count++] = (struct pollfd){ .fd = lookup->fd, .events = is_sending(lookup) ? POLLOUT : POLLIN };
		if (lookup->retry_at < *wake)
			*wake = lookup->retry_at;
	}
	return count;
}

void resolver_go_on(struct resolver_query *query, const struct pollfd *watched, size_t count, int64_t now)
{
	size_t at = 0;

	if (query->is_done)
		return;
	for (size_t i = 0; i < RESOLVER_LOOKUPS; i++) {
		struct resolver_lookup *lookup = &query->lookups[i];
		if (lookup->is_done)
			continue;
		go_on(query, lookup, at < count ? watched[at].revents : 0, now);
		at++;
	}
	finish_query(query, now);
}

void resolver_cancel(struct resolver_query *query)
{
	for (size_t i = 0; i < RESOLVER_LOOKUPS; i++)
		if (query->resolver)
			end_socket(&query->lookups[i]);
}
