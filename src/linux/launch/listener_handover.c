/* SPDX-License-Identifier: Apache-2.0 */
/* The command's filter makes its listener in the command; init needs it. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "linux/fd_passing.h"
#include "linux/launch/launch.h"

int launch_pass_listener(const struct launch *launch, int listener, struct error *err)
{
	char byte = 0;
	return fd_passing_send(launch->listener_socket[1], &byte, 1, &listener, 1) == 0
		       ? 0
		       : error_errno(err, errno, "cannot pass the listener to init");
}

int launch_receive_listener(const struct launch *launch, int *listener, struct error *err)
{
	struct passed_fds passed = { .descriptors = listener, .room = 1 };
	char byte;

	if (fd_passing_receive(launch->listener_socket[0], MSG_DONTWAIT, &byte, 1, &passed) != 1 || passed.count != 1)
		return error_set(err, "init did not receive the listener of the command's filter");
	close(launch->listener_socket[0]);
	close(launch->listener_socket[1]);
	return 0;
}
