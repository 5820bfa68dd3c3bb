/* SPDX-License-Identifier: Apache-2.0 */
/* The only code that knows the memory layout of control messages. */
#include "linux/fd_passing.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(FD_PASSING_MAX * sizeof(int))];
};

int fd_passing_send(int socket, void *bytes, size_t size, const int *descriptors, size_t count)
{
	struct iovec part = { .iov_base = bytes, .iov_len = size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union control control = { 0 };
	ssize_t sent;

	if (count > FD_PASSING_MAX) {
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

ssize_t fd_passing_receive(int socket, int flags, void *bytes, size_t size, struct passed_fds *passed)
{
	size_t room = passed->room < FD_PASSING_MAX ? passed->room : FD_PASSING_MAX;
	struct iovec part = { .iov_base = bytes, .iov_len = size };
	union control control = { 0 };
	/* Not CMSG_SPACE: the kernel would use its padding for one more fd. */
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_LEN(room * sizeof(int))
	};
	const struct cmsghdr *header;
	ssize_t received;

	passed->count = 0;
	passed->is_cut = false;
	do
		received = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	while (received < 0 && errno == EINTR);
	if (received < 0)
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
		passed->count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(passed->descriptors, CMSG_DATA(header), passed->count * sizeof(int));
	}
	passed->is_cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
	return received;
}
