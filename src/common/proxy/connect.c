/* SPDX-License-Identifier: Apache-2.0 */
/* From a host and a port to a connected socket. The order matters: the name is checked before it is
 * resolved, all its addresses are checked before one is connected, and the socket connects to a
 * checked address, never to the name. */
#include "common/proxy/connect.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/net/address.h"
#include "common/proxy/reply.h"
#include "common/proxy/socket.h"
#include "common/base/text.h"
#include "common/policy/policy.h"

/* Finds this machine's current addresses: an own address is its own source. The policy's list is
 * from the start of the run. */
static size_t find_own(const struct dns_addresses *addresses, struct address own[DNS_ADDRESS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < addresses->count; i++) {
		struct address plain = address_unmapped(&addresses->items[i]), source;
		if (socket_source(&plain, &source) && address_shares(&plain, &source, address_width(&plain)))
			own[count++] = plain;
	}
	return count;
}

static bool judge(const struct connection *connection, const struct dns_addresses *resolved, const struct rule **rule,
		  const char **reason)
{
	struct destination_policy policy = connection->settings->policy;
	struct address own[DNS_ADDRESS_MAX];

	if (connection->is_open && connection->settings->open_allow)
		policy.allow = connection->settings->open_allow;
	if (!destination_judge(&policy, connection->host, connection->port, resolved->items, resolved->count, rule, reason))
		return false;
	policy.own = own;
	policy.own_count = find_own(resolved, own);
	return destination_judge(&policy, connection->host, connection->port, resolved->items, resolved->count, rule, reason);
}

static bool is_denial(const struct rule *rule)
{
	return rule && rule->key && strcmp(rule->key, "network.deny") == 0;
}

static void refuse(struct connection *connection, const struct rule *rule, const char *reason, bool is_allowable, int64_t now)
{
	struct text text = { 0 };

	text_add(&text, "%s", reason);
	if (is_denial(rule)) {
		is_allowable = false;
		text_add(&text, ", network.deny: %s (%s", rule->text, rule->origin.source);
		text_add(&text, rule->origin.line ? ":%u)" : ")", rule->origin.line);
	}
	reply_refused(connection, text.data, is_allowable, now);
	text_free(&text);
}

/* Names the refused address, because a name may have several. */
static void refuse_resolved(struct connection *connection, const struct rule *rule, const char *reason, int64_t now)
{
	struct text text = { 0 };
	char shown[64];

	for (size_t i = 0; i < connection->addresses.count; i++) {
		struct dns_addresses one = { .items = { connection->addresses.items[i] }, .count = 1 };
		const struct rule *one_rule;
		const char *one_reason;
		if (judge(connection, &one, &one_rule, &one_reason))
			continue;
		address_format(&one.items[0], shown);
		text_add(&text, "%s: %s", reason, shown);
		refuse(connection, rule, text.data, false, now);
		text_free(&text);
		return;
	}
	refuse(connection, rule, reason, false, now);
}

static bool is_metadata(const struct address *address)
{
	struct address_range range;

	return address_range(address, &range) && range.is_metadata;
}

static void connected(struct connection *connection, int64_t now)
{
	if (!connection->is_relay)
		refusals_add_allowed(connection->settings->reports, connection->host, connection->port);
	reply_connected(connection);
	connection->stage = CONNECTION_RELAY;
	connection->deadline = now + connection->settings->limits.idle_ms;
}

static void end_attempt(struct connection *connection, int number)
{
	connection->last_error = number;
	if (connection->remote >= 0)
		close(connection->remote);
	connection->remote = -1;
}

static const char *sentence_for(int number)
{
	switch (number) {
	case ECONNREFUSED:
		return "connection refused by the host";
	case ETIMEDOUT:
		return "timeout while connecting";
	case ENETUNREACH:
	case EHOSTUNREACH:
		return "no route to the host";
	default:
		return "the connection failed";
	}
}

/* Connects to the next address, or fails after the last one. */
static void try_next(struct connection *connection, int64_t now)
{
	const struct proxy_limits *limits = &connection->settings->limits;

	while (connection->next < connection->addresses.count && now < connection->deadline) {
		struct address address = address_unmapped(&connection->addresses.items[connection->next++]);
		connection->attempt_end = connection->deadline;
		if (connection->next < connection->addresses.count && now + limits->attempt_ms < connection->deadline)
			connection->attempt_end = now + limits->attempt_ms;
		connection->remote = socket_new(address.is_v6, SOCK_STREAM);
		if (connection->remote < 0) {
			end_attempt(connection, errno);
			continue;
		}
		if (socket_connect(connection->remote, &address, connection->port) == 0) {
			connected(connection, now);
			return;
		}
		if (errno == EINPROGRESS)
			return;
		end_attempt(connection, errno);
	}
	reply_failed(connection, connection->last_error, sentence_for(connection->last_error), now);
}

/* Moves addresses without a route to the end, so that a machine without IPv6 loses no time. */
static void order_addresses(struct dns_addresses *addresses)
{
	struct dns_addresses ordered = { 0 };

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < addresses->count; i++) {
			struct address plain = address_unmapped(&addresses->items[i]), source;
			if (socket_source(&plain, &source) == (pass == 0))
				ordered.items[ordered.count++] = addresses->items[i];
		}
	}
	*addresses = ordered;
}

static void start_connecting(struct connection *connection, int64_t now)
{
	connection->stage = CONNECTION_CONNECT;
	connection->deadline = now + connection->settings->limits.connect_ms;
	connection->last_error = EHOSTUNREACH;
	connection->next = 0;
	try_next(connection, now);
}

static void begin_address(struct connection *connection, const struct address *address, int64_t now)
{
	const struct rule *rule = NULL;
	const char *reason = NULL;

	connection->addresses = (struct dns_addresses){ .items = { *address }, .count = 1 };
	/* Reports and messages show the plain spelling. */
	address_format(address, connection->host);
	if (judge(connection, &connection->addresses, &rule, &reason))
		start_connecting(connection, now);
	else
		refuse(connection, rule, reason, !is_metadata(address), now);
}

static bool make_canonical(struct connection *connection)
{
	struct arena arena = { 0 };
	struct error err = { 0 };
	const char *canonical;
	bool is_name = host_canonical(&arena, connection->host, strlen(connection->host), &canonical, &err) == 0 &&
		       strlen(canonical) <= HTTP_HOST_MAX;

	if (is_name)
		memcpy(connection->host, canonical, strlen(canonical) + 1);
	arena_free(&arena);
	return is_name;
}

void connect_begin(struct connection *connection, int64_t now)
{
	static const struct dns_addresses none;
	const struct rule *rule = NULL;
	const char *reason = NULL;
	struct address address;

	if (address_parse_any(connection->host, &address)) {
		begin_address(connection, &address, now);
		return;
	}
	if (!make_canonical(connection)) {
		refuse(connection, NULL, "this is neither a host name nor an address", false, now);
		return;
	}
	if (!judge(connection, &none, &rule, &reason)) {
		refuse(connection, rule, reason, true, now);
		return;
	}
	connection->stage = CONNECTION_RESOLVE;
	connection->deadline = now + connection->settings->limits.resolve_ms;
	resolver_start(connection->settings->resolver, connection->host, now, &connection->query);
	if (connection->query.is_done)
		connect_resolved(connection, now);
}

void connect_resolved(struct connection *connection, int64_t now)
{
	const struct rule *rule = NULL;
	const char *reason = NULL;

	connection->addresses = connection->query.addresses;
	resolver_cancel(&connection->query);
	if (connection->addresses.count == 0) {
		reply_failed(connection, ENOENT, "this name has no address", now);
		return;
	}
	if (!judge(connection, &connection->addresses, &rule, &reason)) {
		refuse_resolved(connection, rule, reason, now);
		return;
	}
	order_addresses(&connection->addresses);
	start_connecting(connection, now);
}

void connect_relay(struct connection *connection, uint16_t port, int64_t now)
{
	connection->is_relay = true;
	connection->port = port;
	connection->addresses = (struct dns_addresses){
		.items = { { .bytes = { 127, 0, 0, 1 } }, { .is_v6 = true, .bytes = { [15] = 1 } } },
		.count = 2,
	};
	start_connecting(connection, now);
}

void connect_connecting(struct connection *connection, bool has_event, int64_t now)
{
	int number = has_event ? socket_error(connection->remote) : ETIMEDOUT;

	if (!has_event && now < connection->attempt_end)
		return;
	if (number == 0) {
		connected(connection, now);
		return;
	}
	end_attempt(connection, number);
	try_next(connection, now);
}
