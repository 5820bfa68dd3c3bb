/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the request, then relays bytes. Each direction has one buffer; while it is full nothing is
 * read, which is the backpressure. The end of one side is forwarded after all its bytes. */
#include "common/proxy/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/proxy/connect.h"
#include "common/proxy/reply.h"
#include "common/proxy/socket.h"

enum { HALF_CLOSED_SHARE = 6 };

/* Constant time: the duration must not reveal how much of a guess is right. */
static bool is_equal_secret(const char *guess, const char *secret)
{
	size_t guessed = strlen(guess), length = strlen(secret);
	unsigned char difference = guessed != length;

	for (size_t i = 0; i < length; i++)
		difference |= (unsigned char)((i < guessed ? guess[i] : 0) ^ secret[i]);
	return difference == 0;
}

static size_t used(const struct connection_half *half)
{
	return half->end - half->start;
}

static void consume(struct connection_half *half, size_t count)
{
	half->start += count;
	if (half->start == half->end)
		half->start = half->end = 0;
}

/* Moves the content to the start of the buffer and returns the free space behind it. */
static size_t make_room(struct connection_half *half)
{
	if (half->start > 0 && half->end == PROXY_BUFFER) {
		memmove(half->bytes, half->bytes + half->start, used(half));
		half->end -= half->start;
		half->start = 0;
	}
	return PROXY_BUFFER - half->end;
}

static bool is_temporary(int number)
{
	return number == EAGAIN || number == EWOULDBLOCK || number == EINTR;
}

/* Receives up to `limit` bytes. False if the connection failed. */
static bool receive(int fd, struct connection_half *half, size_t limit)
{
	size_t room = make_room(half);
	ssize_t count;

	if (room > limit)
		room = limit;
	if (room == 0)
		return true;
	count = recv(fd, half->bytes + half->end, room, 0);
	if (count < 0)
		return is_temporary(errno);
	half->end += (size_t)count;
	half->is_ended = count == 0;
	return true;
}

static bool flush(int fd, struct connection_half *half)
{
	ssize_t count;

	if (used(half) > 0) {
		count = send(fd, half->bytes + half->start, used(half), 0);
		if (count < 0)
			return is_temporary(errno);
		consume(half, (size_t)count);
	}
	if (half->is_ended && used(half) == 0 && !half->is_shut) {
		half->is_shut = true;
		shutdown(fd, SHUT_WR);
	}
	return true;
}

/* Plain HTTP: keeps only the bytes that belong to the request. After its end nothing more is read.
 * The connection to the server is not shut down for writing: the server may answer late. */
static bool follow_body(struct connection *connection, size_t before)
{
	struct connection_half *up = &connection->up;
	ssize_t taken = http_body_take(&connection->body, (const char *)up->bytes + before, up->end - before);

	if (taken < 0)
		return false;
	up->end = before + (size_t)taken;
	if (connection->body.is_done)
		up->is_ended = up->is_shut = true;
	return true;
}

static void take_forward(struct connection *connection, struct http_request *request, int64_t now)
{
	struct connection_half *up = &connection->up;
	size_t rest = used(up) - request->length, before = request->forward.length;

	/* At most HTTP_HEAD_MAX bytes were read at this stage, so that both fit. */
	if (before + rest > PROXY_BUFFER) {
		reply_bad(connection, 431, "the request header is too long", now);
		return;
	}
	memmove(up->bytes + before, up->bytes + up->start + request->length, rest);
	memcpy(up->bytes, request->forward.data, before);
	up->start = 0;
	up->end = before + rest;
	connection->has_body = true;
	connection->body = request->body;
	if (follow_body(connection, before))
		connect_begin(connection, now);
	else
		reply_bad(connection, 400, "the body of the request is malformed", now);
}

static void read_http(struct connection *connection, int64_t now)
{
	struct connection_half *up = &connection->up;
	struct http_request request;
	enum http_state state = http_read_request((const char *)up->bytes + up->start, used(up), &request);

	if (state == HTTP_INCOMPLETE)
		return;
	if (state == HTTP_BAD) {
		reply_bad(connection, request.status, request.reason, now);
	} else if (!connection->is_open && !is_equal_secret(request.credentials, connection->credentials)) {
		reply_login_needed(connection, now);
	} else {
		memcpy(connection->host, request.host, sizeof connection->host);
		connection->port = request.port;
		connection->is_tunnel = request.is_connect;
		if (request.is_connect) {
			consume(up, request.length);
			connect_begin(connection, now);
		} else {
			take_forward(connection, &request, now);
		}
	}
	text_free(&request.forward);
}

static void read_greeting(struct connection *connection)
{
	static const uint8_t with_login[] = { SOCKS_VERSION, 2 }, impossible[] = { SOCKS_VERSION, 0xff };
	struct connection_half *up = &connection->up;
	size_t length;
	bool has_login;
	enum socks_state state = socks_read_greeting(up->bytes + up->start, used(up), &length, &has_login);

	if (state == SOCKS_INCOMPLETE)
		return;
	if (state == SOCKS_BAD) {
		connection->stage = CONNECTION_OVER;
		return;
	}
	consume(up, length);
	connection->stage = has_login ? CONNECTION_READ_LOGIN : CONNECTION_LAST_WORDS;
	reply_bytes(connection, has_login ? with_login : impossible, sizeof with_login);
}

static void read_login(struct connection *connection)
{
	static const uint8_t yes[] = { 1, 0 }, no[] = { 1, 1 };
	struct connection_half *up = &connection->up;
	struct socks_login login;
	size_t length;
	enum socks_state state = socks_read_login(up->bytes + up->start, used(up), &length, &login);
	bool is_right;

	if (state == SOCKS_INCOMPLETE)
		return;
	is_right = state == SOCKS_READ && strcmp(login.name, PROXY_USER) == 0 &&
		   is_equal_secret(login.password, connection->settings->secret);
	if (state == SOCKS_READ)
		consume(up, length);
	connection->stage = is_right ? CONNECTION_READ_SOCKS : CONNECTION_LAST_WORDS;
	reply_bytes(connection, is_right ? yes : no, sizeof yes);
}

static void read_socks(struct connection *connection, int64_t now)
{
	struct connection_half *up = &connection->up;
	struct socks_request request;
	uint8_t reply[SOCKS_REPLY_BYTES];
	size_t length;
	enum socks_state state = socks_read_request(up->bytes + up->start, used(up), &length, &request);

	if (state == SOCKS_INCOMPLETE)
		return;
	if (state == SOCKS_BAD) {
		socks_write_reply(request.failure, reply);
		reply_bytes(connection, reply, sizeof reply);
		connection->stage = CONNECTION_LAST_WORDS;
		return;
	}
	consume(up, length);
	memcpy(connection->host, request.host, sizeof connection->host);
	connection->port = request.port;
	connect_begin(connection, now);
}

static bool is_http_start(uint8_t byte)
{
	return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

static void read_first(struct connection *connection, int64_t now)
{
	uint8_t first = connection->up.bytes[connection->up.start];

	connection->is_socks = first == SOCKS_VERSION;
	if (connection->is_socks)
		connection->stage = CONNECTION_READ_GREETING;
	else if (is_http_start(first))
		connection->stage = CONNECTION_READ_HTTP;
	else
		reply_bad(connection, 400, "this is a proxy for HTTP and SOCKS5", now);
}

/* Reads messages as long as the stage changes: a client may send several at once. */
static void read_request(struct connection *connection, int64_t now)
{
	enum connection_stage before;

	do {
		before = connection->stage;
		if (used(&connection->up) == 0)
			return;
		if (before == CONNECTION_READ_FIRST)
			read_first(connection, now);
		else if (before == CONNECTION_READ_HTTP)
			read_http(connection, now);
		else if (before == CONNECTION_READ_GREETING)
			read_greeting(connection);
		else if (before == CONNECTION_READ_LOGIN)
			read_login(connection);
		else if (before == CONNECTION_READ_SOCKS)
			read_socks(connection, now);
		else
			return;
	} while (connection->stage != before);
}

static void take_request(struct connection *connection, short events, int64_t now)
{
	struct connection_half *up = &connection->up;

	if (events & (POLLIN | POLLHUP | POLLERR)) {
		if (!receive(connection->client, up, HTTP_HEAD_MAX - used(up)) || up->is_ended) {
			connection->stage = CONNECTION_OVER;
			return;
		}
		read_request(connection, now);
		if (connection->stage == CONNECTION_LAST_WORDS)
			connection->deadline = now + connection->settings->limits.last_ms;
	}
	if (used(&connection->down) > 0 && !flush(connection->client, &connection->down))
		connection->stage = CONNECTION_OVER;
}

static bool relay_up(struct connection *connection, short client, short remote)
{
	struct connection_half *up = &connection->up;
	size_t before;

	if (client && !up->is_ended) {
		make_room(up);
		before = up->end;
		if (!receive(connection->client, up, PROXY_BUFFER))
			return false;
		if (connection->has_body && !up->is_ended && !follow_body(connection, before))
			return false;
	}
	return (!client && !remote) || flush(connection->remote, up);
}

static bool relay_down(struct connection *connection, short client, short remote)
{
	struct connection_half *down = &connection->down;

	if (remote && !down->is_ended && !receive(connection->remote, down, PROXY_BUFFER))
		return false;
	return (!client && !remote) || flush(connection->client, down);
}

static void relay(struct connection *connection, short client, short remote, int64_t now)
{
	const struct connection_half *up = &connection->up, *down = &connection->down;
	int idle_ms = connection->settings->limits.idle_ms;

	if (!relay_up(connection, client, remote) || !relay_down(connection, client, remote)) {
		connection->stage = CONNECTION_OVER;
		return;
	}
	if (client || remote)
		connection->deadline = now + (up->is_ended || down->is_ended ? idle_ms / HALF_CLOSED_SHARE : idle_ms);
	if (down->is_ended && used(down) == 0 && (connection->has_body || (up->is_ended && used(up) == 0))) {
		/* Unread bytes of the client would turn close() into a reset, which could discard
		 * the reply. */
		connection->stage = up->is_ended && !connection->has_body ? CONNECTION_OVER : CONNECTION_LAST_WORDS;
		connection->up.start = connection->up.end = 0;
		connection->deadline = now + connection->settings->limits.last_ms;
	}
}

static void say_last_words(struct connection *connection, short events)
{
	struct connection_half *up = &connection->up, *down = &connection->down;

	down->is_ended = true;
	if (!flush(connection->client, down)) {
		connection->stage = CONNECTION_OVER;
		return;
	}
	if (!events)
		return;
	up->start = up->end = 0;
	up->is_ended = false;
	if (!receive(connection->client, up, PROXY_BUFFER) || up->is_ended)
		connection->stage = CONNECTION_OVER;
}

static void time_over(struct connection *connection, int64_t now)
{
	switch (connection->stage) {
	case CONNECTION_READ_HTTP:
		reply_bad(connection, 408, "timeout while reading the request", now);
		return;
	case CONNECTION_RESOLVE:
		resolver_cancel(&connection->query);
		reply_failed(connection, ETIMEDOUT, "timeout while resolving the name", now);
		return;
	case CONNECTION_CONNECT:
		reply_failed(connection, ETIMEDOUT, "timeout while connecting", now);
		return;
	case CONNECTION_READ_FIRST:
	case CONNECTION_READ_GREETING:
	case CONNECTION_READ_LOGIN:
	case CONNECTION_READ_SOCKS:
	case CONNECTION_RELAY:
	case CONNECTION_LAST_WORDS:
	case CONNECTION_OVER:
		connection->stage = CONNECTION_OVER;
	}
}

struct connection *connection_open(const struct proxy_settings *settings, const char *credentials, int client,
				   const struct proxy_listener *listener, int64_t now)
{
	struct connection *connection = calloc(1, sizeof *connection);

	if (!connection) {
		close(client);
		return NULL;
	}
	connection->settings = settings;
	connection->credentials = credentials;
	connection->client = client;
	connection->remote = -1;
	connection->deadline = now + settings->limits.head_ms;
	connection->up.bytes = malloc(PROXY_BUFFER);
	connection->down.bytes = malloc(PROXY_BUFFER);
	if (!connection->up.bytes || !connection->down.bytes) {
		connection_close(connection);
		return NULL;
	}
	connection->is_open = listener->is_open;
	if (listener->relay_port)
		connect_relay(connection, listener->relay_port, now);
	return connection;
}

/* poll() reports POLLHUP even for an entry without events, which would loop. fd -1 disables the
 * entry. */
static struct pollfd watched_entry(int fd, bool wants_input, bool wants_output)
{
	short events = (short)((wants_input ? POLLIN : 0) | (wants_output ? POLLOUT : 0));

	return (struct pollfd){ .fd = events ? fd : -1, .events = events };
}

static size_t watch_relay(const struct connection *connection, struct pollfd *watched)
{
	const struct connection_half *up = &connection->up, *down = &connection->down;

	watched[0] = watched_entry(connection->client, !up->is_ended && used(up) < PROXY_BUFFER, used(down) > 0);
	watched[1] = watched_entry(connection->remote, !down->is_ended && used(down) < PROXY_BUFFER, used(up) > 0);
	return 2;
}

size_t connection_watch(const struct connection *connection, struct pollfd *watched, int64_t *wake)
{
	if (connection->deadline < *wake)
		*wake = connection->deadline;
	switch (connection->stage) {
	case CONNECTION_RELAY:
		return watch_relay(connection, watched);
	case CONNECTION_RESOLVE:
		return resolver_watch(&connection->query, watched, wake);
	case CONNECTION_CONNECT:
		if (connection->attempt_end < *wake)
			*wake = connection->attempt_end;
		watched[0] = watched_entry(connection->remote, false, true);
		return 1;
	case CONNECTION_OVER:
		*wake = 0;
		return 0;
	case CONNECTION_READ_FIRST:
	case CONNECTION_READ_HTTP:
	case CONNECTION_READ_GREETING:
	case CONNECTION_READ_LOGIN:
	case CONNECTION_READ_SOCKS:
	case CONNECTION_LAST_WORDS:
		break;
	}
	watched[0] = watched_entry(connection->client, true, used(&connection->down) > 0);
	return 1;
}

void connection_go_on(struct connection *connection, const struct pollfd *watched, size_t count, int64_t now)
{
	short first = count > 0 ? watched[0].revents : 0;

	switch (connection->stage) {
	case CONNECTION_RELAY:
		relay(connection, first, count > 1 ? watched[1].revents : 0, now);
		break;
	case CONNECTION_RESOLVE:
		resolver_go_on(&connection->query, watched, count, now);
		if (connection->query.is_done)
			connect_resolved(connection, now);
		break;
	case CONNECTION_CONNECT:
		connect_connecting(connection, first != 0, now);
		break;
	case CONNECTION_LAST_WORDS:
		say_last_words(connection, first);
		break;
	case CONNECTION_READ_FIRST:
	case CONNECTION_READ_HTTP:
	case CONNECTION_READ_GREETING:
	case CONNECTION_READ_LOGIN:
	case CONNECTION_READ_SOCKS:
		take_request(connection, first, now);
		break;
	case CONNECTION_OVER:
		return;
	}
	if (now >= connection->deadline)
		time_over(connection, now);
	/* Now, because poll() does not wake for a reply that is already sent. */
	if (connection->stage == CONNECTION_LAST_WORDS && !connection->down.is_shut)
		say_last_words(connection, 0);
}

void connection_close(struct connection *connection)
{
	if (connection->stage == CONNECTION_RESOLVE)
		resolver_cancel(&connection->query);
	if (connection->client >= 0)
		close(connection->client);
	if (connection->remote >= 0)
		close(connection->remote);
	free(connection->up.bytes);
	free(connection->down.bytes);
	free(connection);
}
