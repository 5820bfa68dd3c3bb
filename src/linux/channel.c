/* SPDX-License-Identifier: Apache-2.0 */
/* One message is one packet, so that nothing is ever half read. */
#include "linux/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* A packet of bytes; the kernel wants each in one piece. */
enum { PACKET_BYTES = 32768 };

int channel_open(int ends[2], struct error *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(err, errno, "cannot make a socket pair");
	return 0;
}

int channel_send(int fd, const struct message *message)
{
	struct message copy = *message;
	struct iovec part = { .iov_base = &copy, .iov_len = sizeof copy };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t count;
	/* Not send(2), which is sendto(2): sandboxes around berm that take the network away refuse it. */
	do
		count = sendmsg(fd, &header, MSG_NOSIGNAL);
	while (count < 0 && errno == EINTR);
	return count == (ssize_t)sizeof copy ? 0 : -1;
}

int channel_send_with(int fd, const struct message *message, const int *descriptors, size_t count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(CHANNEL_DESCRIPTOR_MAX * sizeof(int))];
	} control = { 0 };
	struct message copy = *message;
	struct iovec part = { .iov_base = &copy, .iov_len = sizeof copy };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	if (count > CHANNEL_DESCRIPTOR_MAX) {
		errno = EINVAL;
		return -1;
	}
	if (count > 0) {
		header.msg_control = control.bytes;
		header.msg_controllen = CMSG_SPACE(count * sizeof(int));
		struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(rights), descriptors, count * sizeof(int));
	}
	do
		sent = sendmsg(fd, &header, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof copy ? 0 : -1;
}

static int judge(ssize_t count)
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

int channel_receive(int fd, struct message *message)
{
	ssize_t count;
	/* An end that closes with messages unread makes the other end's next call fail with ECONNRESET, once, and before what it had
	 * sent itself is handed over: the last words come with the call after that. */
	do
		count = recv(fd, message, sizeof *message, 0);
	while (count < 0 && (errno == EINTR || errno == ECONNRESET));
	return judge(count);
}

int channel_receive_with(int fd, struct message *message, int *descriptors, size_t *count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(CHANNEL_DESCRIPTOR_MAX * sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = message, .iov_len = sizeof *message };
	struct msghdr header = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
	};
	const struct cmsghdr *rights;
	ssize_t received;

	*count = 0;
	do
		received = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
	while (received < 0 && (errno == EINTR || errno == ECONNRESET));
	rights = received > 0 ? CMSG_FIRSTHDR(&header) : NULL;
	if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
		*count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(descriptors, CMSG_DATA(rights), *count * sizeof(int));
	}
	return judge(received);
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
