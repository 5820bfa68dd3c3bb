/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that knows how control messages lie in memory. */
#include "linux/fd_passing.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(RIGHTS_MAX * sizeof(int))];
};

int rights_send(int socket, void *bytes, size_t size, const int *descriptors, size_t count)
{
	struct iovec part = { .iov_base = bytes, .iov_len = size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union control control = { 0 };
	ssize_t sent;

	if (count > RIGHTS_MAX) {
		errno = EINVAL;
		return -1;
	}
	if (count > 0) {
		control.align = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS,
						  .cmsg_len = CMSG_LEN(count * sizeof(int)) };
		memcpy(CMSG_DATA(&control.align), descriptors, count * sizeof(int));
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)size ? 0 : -1;
}

ssize_t rights_receive(int socket, int flags, void *bytes, size_t size, struct rights *rights)
{
	size_t room = rights->room < RIGHTS_MAX ? rights->room : RIGHTS_MAX;
	struct iovec part = { .iov_base = bytes, .iov_len = size };
	union control control = { 0 };
	/* Not CMSG_SPACE: its padding is room for one more to the kernel. */
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_LEN(room * sizeof(int))
	};
	const struct cmsghdr *header;
	ssize_t received;

	rights->count = 0;
	rights->is_cut = false;
	do
		received = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	while (received < 0 && errno == EINTR);
	if (received < 0)
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
		rights->count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(rights->descriptors, CMSG_DATA(header), rights->count * sizeof(int));
	}
	rights->is_cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
	return received;
}
