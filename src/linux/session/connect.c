/* SPDX-License-Identifier: Apache-2.0 */
/* The client's way to the socket. The path leads through an fd of the checked directory, so that
 * its length does not matter and no symlink is followed on the way. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/state/sessions.h"
#include "linux/fd_passing.h"
#include "linux/session/session.h"

/* The holder must be a process of this user: another one could have made the socket. */
static bool is_ours(int socket)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}

int session_connect(int directory, const char *stem, struct error *err)
{
	const struct timeval wait = { .tv_sec = SESSION_ANSWER_MS / 1000 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[SESSION_STEM_MAX];
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	session_socket_name(stem, name);
	if (snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", directory, name) >=
	    (int)sizeof address.sun_path)
		return error_set(err, "the name of the session is too long");
	/* A full backlog would block connect(2). */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) < 0 ||
	    connect(fd, (const struct sockaddr *)&address, sizeof address) < 0)
		return error_errno(err, errno, "cannot connect to the session");
	if (!is_ours(fd))
		return error_set(err, "the session's socket belongs to another user");
	return steal_fd(&fd);
}

int session_send(int socket, struct text *bytes, const int *streams, size_t count)
{
	for (size_t at = 0; at < bytes->length;) {
		size_t part = bytes->length - at < SESSION_PACKET_MAX ? bytes->length - at : SESSION_PACKET_MAX;
		if (fd_passing_send(socket, bytes->data + at, part, streams, at == 0 ? count : 0) < 0)
			return -1;
		at += part;
	}
	return 0;
}
