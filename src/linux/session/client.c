/* SPDX-License-Identifier: Apache-2.0 */
/* One connection: collects the packets of a request without ever waiting for one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "linux/fd_passing.h"
#include "linux/session/internal.h"

/* The first packet has the streams and announces the length. */
static bool begin(struct client *client, const char *packet, size_t size)
{
	client->length = session_request_length(packet, size);
	if (client->length == 0)
		return false;
	client->bytes = malloc(client->length);
	return client->bytes != NULL;
}

int client_receive(struct client *client)
{
	static char packet[SESSION_PACKET_MAX];
	int received[SESSION_STREAMS] = { -1, -1, -1 };
	struct passed_fds passed = { .descriptors = received, .room = SESSION_STREAMS };
	ssize_t got = fd_passing_receive(client->socket, MSG_DONTWAIT, packet, sizeof packet, &passed);
	bool is_first = client->received == 0;

	if (got < 0)
		return errno == EAGAIN ? 0 : -1;
	if (passed.count > 0 && is_first && client->stream_count == 0) {
		memcpy(client->streams, received, passed.count * sizeof *received);
		client->stream_count = passed.count;
	} else {
		while (passed.count > 0)
			close(received[--passed.count]);
	}
	if (got == 0 || passed.is_cut || (is_first && !begin(client, packet, (size_t)got)) ||
	    (size_t)got > client->length - client->received)
		return -1;
	memcpy(client->bytes + client->received, packet, (size_t)got);
	client->received += (size_t)got;
	return client->received == client->length;
}

void client_forget_request(struct client *client)
{
	while (client->stream_count > 0)
		close(client->streams[--client->stream_count]);
	free(client->bytes);
	client->bytes = NULL;
	arena_free(&client->arena);
	client->added = (struct new_covers){ 0 };
}

void client_free(struct client *client)
{
	client_forget_request(client);
	if (client->socket >= 0)
		close(client->socket);
	*client = (struct client){ .socket = -1 };
}

bool client_send(const struct client *client, const struct message *message)
{
	struct message copy = *message;
	return client->socket >= 0 &&
	       send(client->socket, &copy, sizeof copy, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof copy;
}
