/* SPDX-License-Identifier: Apache-2.0 */
/* Text of the client is sent back only escaped. */
#include "common/proxy/reply.h"

#include <errno.h>
#include <string.h>

#include "common/base/text.h"

static const struct {
	int status;
	const char *title;
} titles[] = {
	{ 400, "Bad Request" },	    { 403, "Refused by berm" }, { 407, "Proxy Authentication Required" },
	{ 408, "Request Timeout" }, { 431, "Too Large" },	{ 501, "Not Implemented" },
	{ 502, "Cannot Connect" },  { 504, "Timeout" },		{ 505, "HTTP Version Not Supported" },
};

static const char *title_of(int status)
{
	for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
		if (titles[i].status == status)
			return titles[i].title;
	return "Error";
}

void reply_bytes(struct connection *connection, const void *bytes, size_t length)
{
	struct connection_half *down = &connection->down;

	if (length > PROXY_BUFFER - down->end)
		length = PROXY_BUFFER - down->end;
	memcpy(down->bytes + down->end, bytes, length);
	down->end += length;
}

static void end(struct connection *connection, int64_t now)
{
	connection->stage = CONNECTION_LAST_WORDS;
	connection->up.is_ended = true;
	connection->up.start = connection->up.end = 0;
	connection->deadline = now + connection->settings->limits.last_ms;
}

static void end_http(struct connection *connection, int status, const char *fields, const struct text *body, int64_t now)
{
	struct text out = { 0 };

	text_add(&out,
		 "HTTP/1.1 %d %s\r\n%sConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "
		 "%zu\r\n\r\n",
		 status, title_of(status), fields, body->length);
	text_add_n(&out, body->data, body->length);
	reply_bytes(connection, out.data, out.length);
	text_free(&out);
	end(connection, now);
}

static void end_socks(struct connection *connection, enum socks_reply reply, int64_t now)
{
	uint8_t bytes[SOCKS_REPLY_BYTES];

	socks_write_reply(reply, bytes);
	reply_bytes(connection, bytes, sizeof bytes);
	end(connection, now);
}

void reply_bad(struct connection *connection, int status, const char *sentence, int64_t now)
{
	struct text body = { 0 };

	if (connection->is_socks) {
		end_socks(connection, SOCKS_GENERAL_FAILURE, now);
		return;
	}
	text_add(&body, "berm: %s\n", sentence);
	end_http(connection, status, "", &body, now);
	text_free(&body);
}

void reply_login_needed(struct connection *connection, int64_t now)
{
	struct text body = { 0 };

	text_add(&body, "berm: the proxy of this sandbox needs the user name and password of HTTPS_PROXY\n");
	end_http(connection, 407, "Proxy-Authenticate: Basic realm=\"berm\"\r\n", &body, now);
	text_free(&body);
}

void reply_refused(struct connection *connection, const char *reason, bool is_allowable, int64_t now)
{
	struct text body = { 0 };

	refusals_add(connection->settings->reports, connection->host, connection->port, reason, is_allowable);
	if (connection->is_socks) {
		end_socks(connection, SOCKS_NOT_ALLOWED, now);
		return;
	}
	text_add(&body, "berm: the connection to ");
	refusals_add_destination(&body, connection->host, connection->port);
	text_add(&body, " is refused: %s\n", reason);
	if (is_allowable && refusals_is_here(connection->host)) {
		text_add(&body,
			 "a service in the sandbox is reached without the proxy; one of the host with this in the policy:  "
			 "network: {local: [%u]}\n",
			 connection->port);
	} else if (is_allowable) {
		text_add(&body, "to allow it, in the policy:  network: {allow: [\"");
		refusals_add_destination(&body, connection->host, connection->port);
		text_add(&body, "\"]}\nor for one run:  berm run --allow-net=");
		refusals_add_destination(&body, connection->host, connection->port);
		text_add(&body, "\n");
	}
	end_http(connection, 403, "", &body, now);
	text_free(&body);
}

static enum socks_reply reply_for(int number)
{
	switch (number) {
	case ECONNREFUSED:
		return SOCKS_REFUSED;
	case ENETUNREACH:
	case ENETDOWN:
		return SOCKS_NETWORK_UNREACHABLE;
	case EHOSTUNREACH:
	case ENOENT:
		return SOCKS_HOST_UNREACHABLE;
	case ETIMEDOUT:
		return SOCKS_TOO_LATE;
	default:
		return SOCKS_GENERAL_FAILURE;
	}
}

void reply_failed(struct connection *connection, int number, const char *sentence, int64_t now)
{
	struct text body = { 0 };

	if (connection->is_relay) {
		connection->stage = CONNECTION_OVER;
		return;
	}
	refusals_add_failure(connection->settings->reports, connection->host, connection->port, sentence);
	if (connection->is_socks) {
		end_socks(connection, reply_for(number), now);
		return;
	}
	text_add(&body, "berm: ");
	refusals_add_destination(&body, connection->host, connection->port);
	text_add(&body, ": %s\n", sentence);
	end_http(connection, number == ETIMEDOUT ? 504 : 502, "", &body, now);
	text_free(&body);
}

void reply_connected(struct connection *connection)
{
	static const char tunnel[] = "HTTP/1.1 200 Connection established\r\n\r\n";
	uint8_t reply[SOCKS_REPLY_BYTES];

	if (connection->is_socks) {
		socks_write_reply(SOCKS_SUCCEEDED, reply);
		reply_bytes(connection, reply, sizeof reply);
	} else if (connection->is_tunnel) {
		reply_bytes(connection, tunnel, sizeof tunnel - 1);
	}
}
