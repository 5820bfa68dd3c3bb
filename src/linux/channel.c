/* SPDX-License-Identifier: Apache-2.0 */
/* One message is one packet, so that nothing is ever half read. */
#include "linux/channel.h"

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>

int channel_open(int ends[2], struct error *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(err, errno, "cannot make a socket pair");
	return 0;
}

int channel_send(int fd, const struct message *message)
{
	ssize_t count;
	do
		count = send(fd, message, sizeof *message, MSG_NOSIGNAL);
	while (count < 0 && errno == EINTR);
	return count == (ssize_t)sizeof *message ? 0 : -1;
}

int channel_receive(int fd, struct message *message)
{
	ssize_t count;
	/* An end that closes with messages unread makes the other end's next call fail with ECONNRESET, once, and before what it had
	 * sent itself is handed over: the last words come with the call after that. */
	do
		count = recv(fd, message, sizeof *message, 0);
	while (count < 0 && (errno == EINTR || errno == ECONNRESET));
	if (count == 0)
		return 0;
	if (count < 0)
		return -1;
	if (count != (ssize_t)sizeof *message) {
		errno = EPROTO;
		return -1;
	}
	return 1;
}
