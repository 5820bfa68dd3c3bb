/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets that no program inherits, also where that takes a second call. */
#ifndef BERM_COMMON_DOCTOR_SOCKET_H
#define BERM_COMMON_DOCTOR_SOCKET_H

#include <fcntl.h>
#include <sys/socket.h>

static inline int doctor_socket(int family, int type)
{
#ifdef SOCK_CLOEXEC
	return socket(family, type | SOCK_CLOEXEC, 0);
#else
	int fd = socket(family, type, 0);
	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
#endif
}

#endif
