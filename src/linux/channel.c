/* SPDX-License-Identifier: Apache-2.0 */
/* One message is one packet, so a message is never read in part. */
#include "linux/channel.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "linux/fd_passing.h"

/* The size of a packet of channel_send_bytes; the kernel needs contiguous memory for it. */
enum { PACKET_BYTES = 32768 };

int channel_open(int ends[2], struct error *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(err, errno, "cannot make a socket pair");
	return 0;
}

int channel_send(int fd, const struct message *message)
{
	return channel_send_with(fd, message, NULL, 0);
}

/* Not send(2), which is sendto(2): outer sandboxes without network refuse that. */
int channel_send_with(int fd, const struct message *message, const int *descriptors, size_t count)
{
	struct message copy = *message;
	if (count > CHANNEL_DESCRIPTOR_MAX) {
		errno = EINVAL;
		return -1;
	}
	return fd_passing_send(fd, &copy, sizeof copy, descriptors, count);
}

/* Returns channel_receive's result for a packet of `count` bytes. */
static int check_size(ssize_t count)
{
	if (count == 0)
		return 0;
	if (count < 0)
		return -1;
	if (count != (ssize_t)sizeof(struct message)) {
		errno = EPROTO;
		return -1;
	}
	return 1;
}

bool channel_has_failed(int sent)
{
	return sent < 0 && errno != EPIPE && errno != ECONNRESET;
}

int channel_receive(int fd, struct message *message)
{
	ssize_t count;
	/* An end that closes with unread messages makes the other end's next call fail once with
	 * ECONNRESET. Messages that it sent before closing arrive with the calls after that. */
	do
		count = recv(fd, message, sizeof *message, 0);
	while (count < 0 && (errno == EINTR || errno == ECONNRESET));
	return check_size(count);
}

int channel_receive_with(int fd, struct message *message, int *descriptors, size_t *count)
{
	struct passed_fds passed = { .descriptors = descriptors, .room = CHANNEL_DESCRIPTOR_MAX };
	ssize_t received;

	do
		received = fd_passing_receive(fd, 0, message, sizeof *message, &passed);
	while (received < 0 && errno == ECONNRESET);
	*count = passed.count;
	return check_size(received);
}

int channel_send_bytes(int fd, void *bytes, size_t length)
{
	char *at = bytes;
	while (length > 0) {
		struct iovec part = { .iov_base = at, .iov_len = length < PACKET_BYTES ? length : PACKET_BYTES };
		struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
		ssize_t count = sendmsg(fd, &header, MSG_NOSIGNAL);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -1;
		at += count;
		length -= (size_t)count;
	}
	return 0;
}

int channel_receive_bytes(int fd, void *bytes, size_t length)
{
	char *at = bytes;
	while (length > 0) {
		ssize_t count = recv(fd, at, length < PACKET_BYTES ? length : PACKET_BYTES, 0);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0) {
			errno = count < 0 ? errno : EPIPE;
			return -1;
		}
		at += count;
		length -= (size_t)count;
	}
	return 0;
}
