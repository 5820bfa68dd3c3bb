/* SPDX-License-Identifier: Apache-2.0 */
/* Thin wrappers with the errno of the system. */
#include "common/proxy/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/cleanup.h"

static socklen_t write_address(const struct address *address, uint16_t port, struct sockaddr_storage *out)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	memset(out, 0, sizeof *out);
	if (address->is_v6) {
		memcpy(&v6.sin6_addr, address->bytes, sizeof v6.sin6_addr);
		v6.sin6_scope_id = address->scope;
		memcpy(out, &v6, sizeof v6);
		return sizeof v6;
	}
	memcpy(&v4.sin_addr, address->bytes, sizeof v4.sin_addr);
	memcpy(out, &v4, sizeof v4);
	return sizeof v4;
}

static void read_address(const struct sockaddr_storage *from, bool is_v6, struct address *address)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	*address = (struct address){ .is_v6 = is_v6 };
	if (is_v6) {
		memcpy(&v6, from, sizeof v6);
		memcpy(address->bytes, &v6.sin6_addr, sizeof v6.sin6_addr);
		return;
	}
	memcpy(&v4, from, sizeof v4);
	memcpy(address->bytes, &v4.sin_addr, sizeof v4.sin_addr);
}

int socket_make_private(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	return 0;
}

int socket_new(bool is_v6, int type)
{
	autoclose int fd = socket(is_v6 ? AF_INET6 : AF_INET, type, 0);

	if (fd < 0 || socket_make_private(fd) < 0)
		return -1;
	return steal_fd(&fd);
}

int socket_connect(int fd, const struct address *address, uint16_t port)
{
	struct sockaddr_storage storage;
	socklen_t length = write_address(address, port, &storage);

	return connect(fd, (const struct sockaddr *)&storage, length);
}

int socket_accept(int listener)
{
	autoclose int fd = accept(listener, NULL, NULL);
	int yes = 1;

	if (fd < 0 || socket_make_private(fd) < 0)
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	return steal_fd(&fd);
}

int socket_error(int fd)
{
	int number = 0;
	socklen_t length = sizeof number;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &length) < 0 ? errno : number;
}

int socket_listen(const struct address *address, uint16_t port, int backlog)
{
	autoclose int fd = socket_new(address->is_v6, SOCK_STREAM);
	struct sockaddr_storage storage;
	socklen_t length = write_address(address, port, &storage);
	int yes = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0)
		return -1;
	if (address->is_v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) < 0)
		return -1;
	if (bind(fd, (const struct sockaddr *)&storage, length) < 0 || listen(fd, backlog) < 0)
		return -1;
	return steal_fd(&fd);
}

bool socket_source(const struct address *address, struct address *source)
{
	autoclose int fd = socket_new(address->is_v6, SOCK_DGRAM);
	struct sockaddr_storage storage = { 0 };
	socklen_t length = sizeof storage;

	/* The port does not matter: connect() on a datagram socket sends nothing. */
	if (fd < 0 || socket_connect(fd, address, 9) < 0 || getsockname(fd, (struct sockaddr *)&storage, &length) < 0)
		return false;
	read_address(&storage, address->is_v6, source);
	return true;
}
