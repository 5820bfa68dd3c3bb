/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors over a socket pair. Those that come are close-on-exec. */
#include "linux/egress.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FDS_MAX = PROXY_LISTENER_MAX };

union control {
	char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

int egress_send_fds(int socket, void *bytes, size_t size, const int *fds, size_t count)
{
	struct iovec vector = { .iov_base = bytes, .iov_len = size };
	union control control = { 0 };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	ssize_t sent;

	if (count > FDS_MAX) {
		errno = EINVAL;
		return -1;
	}
	if (count > 0) {
		struct cmsghdr *header = &control.align;
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(header), fds, count * sizeof(int));
	}
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)size ? 0 : -1;
}

ssize_t egress_receive_fds(int socket, void *bytes, size_t size, int *fds, size_t *count)
{
	struct iovec vector = { .iov_base = bytes, .iov_len = size };
	union control control = { 0 };
	struct msghdr message = {
		.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
	};
	const struct cmsghdr *header;
	ssize_t received;

	*count = 0;
	do
		received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (received < 0 && errno == EINTR);
	if (received < 0)
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
		*count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(header), *count * sizeof(int));
	}
	if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		errno = EPROTO;
		return -1;
	}
	return received;
}
