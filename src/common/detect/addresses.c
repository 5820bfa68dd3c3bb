/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves the names of registries, to find those with an address that only a rule with the address
 * itself allows: a company's mirror. A child resolves, because the C library's resolver has no
 * timeout; the parent takes addresses from it and nothing else. */
#include "common/detect/detect.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/net/address.h"

enum { RESOLVE_MS = 5000, ADDRESSES_MAX = 64, LINE_BYTES = 80 };

/* Prints "index address" for each address of each name. */
static void resolve_all(char *const *hosts, size_t count, int out)
{
	for (size_t i = 0; i < count; i++) {
		struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
		if (getaddrinfo(hosts[i], NULL, &hints, &list) != 0)
			continue;
		for (const struct addrinfo *at = list; at; at = at->ai_next) {
			char numeric[INET6_ADDRSTRLEN + 16], line[LINE_BYTES];
			int length;
			if (getnameinfo(at->ai_addr, at->ai_addrlen, numeric, sizeof numeric, NULL, 0, NI_NUMERICHOST) != 0)
				continue;
			length = snprintf(line, sizeof line, "%zu %s\n", i, numeric);
			if (length > 0 && (size_t)length < sizeof line)
				(void)text_write(out, line, (size_t)length);
		}
		freeaddrinfo(list);
	}
}

static char *read_all(struct arena *arena, int in)
{
	enum { SIZE = ADDRESSES_MAX * LINE_BYTES * 4 };
	int64_t end = clock_ms() + RESOLVE_MS;
	char *text = arena_alloc(arena, SIZE + 1);
	size_t used = 0;

	while (used < SIZE) {
		struct pollfd watched = { .fd = in, .events = POLLIN };
		int64_t left = end - clock_ms();
		ssize_t count;
		if (left <= 0)
			break;
		if (poll(&watched, 1, (int)left) <= 0)
			continue;
		count = read(in, text + used, SIZE - used);
		if (count <= 0)
			break;
		used += (size_t)count;
	}
	text[used] = '\0';
	return text;
}

static char *resolve_in_child(struct arena *arena, char *const *hosts, size_t count)
{
	int ends[2];
	char *text = NULL;
	pid_t child;

	if (count == 0 || pipe(ends) < 0)
		return NULL;
	child = fork();
	if (child == 0) {
		close(ends[0]);
		resolve_all(hosts, count, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	if (child > 0)
		text = read_all(arena, ends[0]);
	close(ends[0]);
	child_end(child);
	return text;
}

struct names {
	struct arena *arena;
	struct {
		char **items;
		size_t count;
	} hosts;
	struct {
		const struct registry **items;
		size_t count;
	} registries;
};

static void collect(struct names *names, const struct registry *registry)
{
	struct address address;
	char *host, *colon;

	if (!registry->destination)
		return;
	host = arena_copy(names->arena, registry->destination);
	colon = strrchr(host, ':');
	if (!colon)
		return;
	*colon = '\0';
	if (address_parse_any(host, &address))
		return;
	*arena_push(names->arena, &names->hosts) = host;
	*arena_push(names->arena, &names->registries) = registry;
}

/* Kinds that a mirror of a company or a laboratory has. Not: this machine, a metadata service. */
static bool is_usual_kind(const char *kind)
{
	static const char *const usual[] = { "private", "documentation", "benchmark" };
	for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
		if (strcmp(kind, usual[i]) == 0)
			return true;
	return false;
}

static void add_address(struct names *names, struct detection *detection, const struct registry *registry, const char *numeric)
{
	const char *port = strrchr(registry->destination, ':'), *kind;
	struct detected_addresses *addresses = &detection->addresses;
	struct detected_address found = { .host = registry->destination };
	struct address address;
	char formatted[64];

	if (!address_parse(numeric, &address) || !(kind = address_special(&address)) || !port ||
	    addresses->count == ADDRESSES_MAX)
		return;
	address_format(&address, formatted);
	found.destination = arena_printf(names->arena, address.is_v6 ? "[%s]%s" : "%s%s", formatted, port);
	found.kind = kind;
	found.is_usual = is_usual_kind(kind) && registry->origin != REGISTRY_PROJECT && registry->origin != REGISTRY_LOCK;
	for (size_t i = 0; i < addresses->count; i++)
		if (strcmp(addresses->items[i].destination, found.destination) == 0)
			return;
	*arena_push(names->arena, addresses) = found;
}

void detect_addresses(struct arena *arena, struct detection *detection)
{
	struct names names = { .arena = arena };
	char *text, *line;

	for (int i = 0; i < ECOSYSTEM_COUNT; i++)
		for (size_t j = 0; j < detection->ecosystems[i].registries.count; j++)
			collect(&names, &detection->ecosystems[i].registries.items[j]);
	text = resolve_in_child(arena, names.hosts.items, names.hosts.count);
	while (text && (line = strsep(&text, "\n")) && *line) {
		char *blank = strchr(line, ' ');
		uint64_t index;
		if (!blank)
			continue;
		*blank = '\0';
		if (text_parse_u64(line, ADDRESSES_MAX * ECOSYSTEM_COUNT, &index) && index < names.registries.count)
			add_address(&names, detection, names.registries.items[index], blank + 1);
	}
}
