/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: listeners and connections in one poll(). Connections beyond the limit are refused with
 * a reply. */
#include "common/proxy/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#include "common/base/text.h"
#include "common/base/clock.h"
#include "common/proxy/connection.h"
#include "common/proxy/socket.h"

const struct proxy_limits proxy_default_limits = {
	.head_ms = 15000,
	.resolve_ms = 12000,
	.connect_ms = 30000,
	.attempt_ms = 4000,
	.idle_ms = 1800000,
	.last_ms = 2000,
	.connections = 256,
};

enum { ACCEPTS = 32, REST_MS = 100, WAKE_MS_MAX = 60000 };

struct server {
	const struct proxy_settings *settings;
	char credentials[HTTP_CREDENTIALS_MAX + 1];
	struct connection **connections;
	unsigned count;
	struct pollfd *watched;
	unsigned *watched_counts; /* entries per connection in the last poll */
	int64_t rest_until; /* out of fds: no accept until then */
};

int proxy_make_secret(char out[PROXY_SECRET_MAX + 1])
{
	uint8_t bytes[PROXY_SECRET_BYTES];

	if (getentropy(bytes, sizeof bytes) < 0)
		return -1;
	text_hex(bytes, sizeof bytes, out);
	return 0;
}

/* Best effort: the reply explains the limit to the client. */
static void turn_away(int client, const struct proxy_listener *listener)
{
	static const char answer[] = "HTTP/1.1 503 Too many connections\r\nConnection: close\r\n"
				     "Content-Type: text/plain\r\nContent-Length: 47\r\n\r\n"
				     "berm: too many connections from this sandbox.\r\n";

	if (listener->relay_port == 0)
		send(client, answer, sizeof answer - 1, 0);
	close(client);
}

static void accept_some(struct server *server, const struct proxy_listener *listener, int64_t now)
{
	for (int i = 0; i < ACCEPTS; i++) {
		int client = socket_accept(listener->fd);
		struct connection *connection;
		if (client < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
				server->rest_until = now + REST_MS;
			return;
		}
		if (server->count >= server->settings->limits.connections) {
			turn_away(client, listener);
			continue;
		}
		connection = connection_open(server->settings, server->credentials, client, listener, now);
		if (connection)
			server->connections[server->count++] = connection;
	}
}

static size_t watch(struct server *server, int64_t now, int64_t *wake)
{
	const struct proxy_settings *settings = server->settings;
	bool is_resting = now < server->rest_until;
	size_t at = 0;

	server->watched[at++] = (struct pollfd){ .fd = settings->control, .events = POLLIN };
	for (size_t i = 0; i < settings->listener_count; i++)
		server->watched[at++] = (struct pollfd){ .fd = is_resting ? -1 : settings->listeners[i].fd, .events = POLLIN };
	if (is_resting && server->rest_until < *wake)
		*wake = server->rest_until;
	for (unsigned i = 0; i < server->count; i++) {
		server->watched_counts[i] = (unsigned)connection_watch(server->connections[i], server->watched + at, wake);
		at += server->watched_counts[i];
	}
	return at;
}

static void go_on(struct server *server, size_t at, int64_t now)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < server->count; i++) {
		struct connection *connection = server->connections[i];
		if (!connection)
			break; /* cannot happen: all counted entries are set */
		connection_go_on(connection, server->watched + at, server->watched_counts[i], now);
		at += server->watched_counts[i];
		if (connection->stage != CONNECTION_OVER)
			server->connections[kept++] = connection;
		else
			connection_close(connection);
	}
	server->count = kept;
}

/* Returns 1 to continue, 0 at the end, -1 with errno. */
static int turn(struct server *server)
{
	const struct proxy_settings *settings = server->settings;
	int64_t now = clock_ms(), wake = now + WAKE_MS_MAX;
	size_t count = watch(server, now, &wake);
	int timeout = wake > now ? (int)(wake - now) : 0;

	if (poll(server->watched, (nfds_t)count, timeout) < 0)
		return errno == EINTR ? 1 : -1;
	if (server->watched[0].revents)
		return 0;
	now = clock_ms();
	go_on(server, 1 + settings->listener_count, now);
	for (size_t i = 0; i < settings->listener_count; i++)
		if (server->watched[1 + i].revents)
			accept_some(server, &settings->listeners[i], now);
	return 1;
}

int proxy_serve(const struct proxy_settings *settings)
{
	size_t limit = settings->limits.connections;
	struct server server = { .settings = settings };
	int going = -1;

	http_write_credentials(PROXY_USER, settings->secret, server.credentials);
	server.connections = calloc(limit, sizeof(struct connection *));
	server.watched_counts = calloc(limit, sizeof *server.watched_counts);
	server.watched = calloc(1 + settings->listener_count + limit * CONNECTION_WATCHED, sizeof *server.watched);
	if (server.connections && server.watched_counts && server.watched) {
		do
			going = turn(&server);
		while (going > 0);
		for (unsigned i = 0; i < server.count; i++)
			connection_close(server.connections[i]);
	}
	free(server.connections);
	free(server.watched_counts);
	free(server.watched);
	return going;
}
