/* SPDX-License-Identifier: Apache-2.0 */
/* Published ports: taken in the launcher, left to another run of the same project, or refused with
 * the name of the process that has them. Listens on the loopback unless the rule has an address. */
#include "linux/egress/internal.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/proxy/socket.h"
#include "common/state/ports.h"
#include "linux/egress/listening.h"

enum { BACKLOG = 128, SHOWN_BYTES = 64, OWNER_BYTES = 128 };

static uint16_t port_of(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address = { 0 };
	socklen_t length = sizeof address;
	if (getsockname(fd, &address.any, &length) < 0)
		return 0;
	return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

static int refuse(const struct plan_publish *rule, int number, struct error *err)
{
	char shown[SHOWN_BYTES], owner[OWNER_BYTES];

	address_format(&rule->address, shown);
	if (number != EADDRINUSE || !listening_owner(&rule->address, rule->host_port, owner, sizeof owner))
		error_errno(err, number, "cannot publish port %u on %s:%u", rule->port, shown, rule->host_port);
	else
		error_set(err, "cannot publish port %u on %s:%u: %s listens there", rule->port, shown, rule->host_port, owner);
	if (number != EADDRINUSE)
		return -1;
	return error_hint(err, "end it, or take a free port: --publish=auto:%u", rule->port);
}

/* Opens one port. Returns its fd; -1 if another run has it; -2 with err. */
static int open_port(const struct plan *plan, struct egress_published *published, struct error *err)
{
	const struct plan_publish *rule = published->rule;
	char shown[SHOWN_BYTES], name[SHOWN_BYTES + 8];
	int fd;

	address_format(&rule->address, shown);
	snprintf(name, sizeof name, "%s-%u", shown, rule->host_port);
	published->claim = rule->host_port ? state_claim_port(plan, name) : STATE_PORT_UNKNOWN;
	if (published->claim == STATE_PORT_TAKEN)
		return -1;
	fd = socket_listen(&rule->address, rule->host_port, BACKLOG);
	if (fd < 0) {
		refuse(rule, errno, err);
		return -2;
	}
	published->host_port = port_of(fd);
	return fd;
}

/* The same port may be written in several ways. */
static bool is_repeated(const struct egress *egress, const struct plan_publish *rule)
{
	for (size_t i = 0; i < egress->published.count; i++) {
		const struct plan_publish *known = egress->published.items[i].rule;
		if (known->host_port == rule->host_port && known->port == rule->port &&
		    known->address.is_v6 == rule->address.is_v6 &&
		    memcmp(known->address.bytes, rule->address.bytes, sizeof rule->address.bytes) == 0)
			return true;
	}
	return false;
}

int egress_publish(const struct plan *plan, struct egress *egress, struct proxy_listener listeners[PROXY_LISTENER_MAX],
		   size_t *count, struct error *err)
{
	const struct plan_published *rules = &plan->network.publish;

	*count = 0;
	egress->published = (struct egress_published_ports){ 0 };
	if (rules->count > PROXY_LISTENER_MAX)
		return error_set(err, "network.publish names more ports than %d", PROXY_LISTENER_MAX);
	for (size_t i = 0; i < rules->count; i++) {
		struct egress_published *published;
		int fd;
		if (is_repeated(egress, &rules->items[i]))
			continue;
		published = arena_push(plan->arena, &egress->published);
		*published = (struct egress_published){ .rule = &rules->items[i], .claim = -1 };
		fd = open_port(plan, published, err);
		if (fd < -1)
			return -1;
		if (fd >= 0)
			listeners[(*count)++] = (struct proxy_listener){ .fd = fd, .relay_port = rules->items[i].port };
	}
	return 0;
}

void egress_end_claims(struct egress *egress)
{
	for (size_t i = 0; i < egress->published.count; i++) {
		int *claim = &egress->published.items[i].claim;
		if (*claim >= 0)
			close(*claim);
		*claim = -1;
	}
}

const char *egress_notice(const struct plan *plan, const struct egress *egress, size_t index, bool *is_last)
{
	const struct egress_published *published;
	char shown[SHOWN_BYTES];

	*is_last = index >= egress->published.count;
	if (*is_last)
		return NULL;
	published = &egress->published.items[index];
	address_format(&published->rule->address, shown);
	if (published->host_port == 0)
		return arena_printf(plan->arena, "%s:%u leads to another run of this project, which published it first", shown,
				    published->rule->host_port);
	if (published->rule->host_port == 0)
		return arena_printf(plan->arena, "port %u of the command is http://%s:%u", published->rule->port, shown,
				    published->host_port);
	return NULL;
}
