/* SPDX-License-Identifier: Apache-2.0 */
/* Accepts connections on loopback and answers one request each. A connection that sends nothing
 * ends after some seconds; none can delay another, because each has its own process. */
#include "common/prove/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"

#include "common/base/text.h"
#include "common/prove/model.h"

enum { PATIENCE_MS = 120000, POLL_MS = 100, SILENCE_SECONDS = 20, REQUEST_MAX = 16 << 20 };

int prove_server_open(struct prove_server *server, struct error *err)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof address;
	int ends[2];

	*server = (struct prove_server){ .listener = -1, .read_end = -1, .write_end = -1 };
	if (pipe(ends) < 0)
		return error_errno(err, errno, "cannot create a pipe");
	server->read_end = ends[0];
	server->write_end = ends[1];
	server->listener = socket(AF_INET, SOCK_STREAM, 0);
	if (server->listener < 0 || fcntl(server->listener, F_SETFD, FD_CLOEXEC) < 0 ||
	    fcntl(ends[0], F_SETFD, FD_CLOEXEC) < 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) < 0 ||
	    bind(server->listener, (struct sockaddr *)&address, sizeof address) < 0 ||
	    listen(server->listener, SOMAXCONN) < 0 || getsockname(server->listener, (struct sockaddr *)&address, &length) < 0)
		return error_errno(err, errno, "cannot listen on loopback");
	server->port = ntohs(address.sin_port);
	return 0;
}

void prove_server_close(struct prove_server *server)
{
	int *const fds[] = { &server->listener, &server->read_end, &server->write_end };
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		if (*fds[i] >= 0)
			close(*fds[i]);
}

/* Adds what the connection sends next. Returns false at its end. */
static bool read_more(int fd, struct text *request)
{
	char buffer[16384];
	ssize_t count = request->length < REQUEST_MAX ? read(fd, buffer, sizeof buffer) : 0;
	if (count <= 0)
		return false;
	text_add_n(request, buffer, (size_t)count);
	return true;
}

/* Returns the value of a header, or NULL. The head ends with a NUL. */
static const char *find_header(const char *head, const char *name)
{
	size_t length = strlen(name);
	for (const char *line = strchr(head, '\n'); line; line = strchr(line + 1, '\n'))
		if (strncasecmp(line + 1, name, length) == 0 && line[1 + length] == ':')
			return line + 2 + length + strspn(line + 2 + length, " ");
	return NULL;
}

/* Reads a whole request. A chunked body keeps its chunk sizes: it is only searched for words, and a
 * chunk border within the proof costs a proof, never a wrong one. */
static bool read_request(int fd, struct text *request, size_t *body)
{
	const char *end, *value;
	size_t length = 0;

	while (!request->data || !(end = strstr(request->data, "\r\n\r\n")))
		if (!read_more(fd, request))
			return false;
	*body = (size_t)(end - request->data) + 4;
	request->data[*body - 1] = '\0';
	value = find_header(request->data, "content-length");
	if (value)
		length = strtoul(value, NULL, 10);
	value = value ? NULL : find_header(request->data, "transfer-encoding");
	while (value ? !text_ends_with(request->data + *body, "0\r\n\r\n") : request->length < *body + length)
		if (!read_more(fd, request))
			return false;
	return true;
}

/* Reports where the command ran, if the body has its output. */
static void report(int fd, const char *body, const char *proof)
{
	const char *found = strstr(body, proof);
	unsigned char outcome = PROVE_BLOCKED;

	if (!model_has_result(body))
		return;
	if (found && text_starts_with(found + strlen(proof), "-in"))
		outcome = PROVE_INSIDE;
	else if (found && text_starts_with(found + strlen(proof), "-out"))
		outcome = PROVE_OUTSIDE;
	(void)!write(fd, &outcome, 1);
}

static void serve(int fd, int reports, const char *command, const char *proof)
{
	const struct timeval silence = { .tv_sec = SILENCE_SECONDS };
	struct text request = { 0 }, answer = { 0 }, out = { 0 };
	const char *kind = "application/json";
	char *path;
	size_t body;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
	if (!read_request(fd, &request, &body))
		return;
	path = strchr(request.data, ' ');
	if (path)
		path[1 + strcspn(path + 1, " ?")] = '\0';
	text_add_n(&answer, "", 0);
	if (path && text_starts_with(request.data, "POST")) {
		report(reports, request.data + body, proof);
		kind = model_answer(path + 1, request.data + body, command, &answer);
	} else
		text_add(&answer, "{\"data\":[],\"models\":[]}");
	text_add(&out, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", kind,
		 answer.length);
	text_add_n(&out, answer.data, answer.length);
	(void)!text_write(fd, out.data, out.length);
}

static void accept_one(struct prove_server *server, const char *command, const char *proof)
{
	int fd = accept(server->listener, NULL, NULL);
	pid_t pid = fd < 0 ? -1 : fork();
	if (pid == 0) {
		/* Ends with the server: nothing reads its report then. */
		close(server->listener);
		serve(fd, server->write_end, command, proof);
		_exit(0);
	}
	if (fd >= 0)
		close(fd);
}

enum prove_outcome prove_server_run(struct prove_server *server, pid_t *child, const char *command, const char *proof)
{
	int64_t end = clock_ms() + PATIENCE_MS;
	unsigned char outcome = PROVE_NOTHING;

	while (clock_ms() < end) {
		struct pollfd fds[] = { { server->listener, POLLIN, 0 }, { server->read_end, POLLIN, 0 } };
		pid_t ended;
		if (poll(fds, 2, POLL_MS) < 0 && errno != EINTR)
			break;
		if (fds[1].revents & POLLIN) {
			if (read(server->read_end, &outcome, 1) != 1)
				outcome = PROVE_NOTHING;
			break;
		}
		if (fds[0].revents & POLLIN)
			accept_one(server, command, proof);
		else if (*child < 0)
			break;
		while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
			*child = ended == *child ? -1 : *child;
	}
	return (enum prove_outcome)outcome;
}
