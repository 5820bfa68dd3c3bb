/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of attempts*.c and rounds.c. */
#ifndef BERM_COMMON_DOCTOR_INTERNAL_H
#define BERM_COMMON_DOCTOR_INTERNAL_H

#include <fcntl.h>
#include <sys/socket.h>

#include "common/doctor/doctor.h"

/* attempts_kernel.c: attempts for Linux only. On other systems each returns ATTEMPT_UNTRIED. */
int attempt_abstract(const struct doctor_world *world);
int attempt_exchange(const struct doctor_world *world);
int attempt_namespace(const struct doctor_world *world);
int attempt_keyring(const struct doctor_world *world);
int attempt_userfaultfd(const struct doctor_world *world);
int attempt_io_uring(const struct doctor_world *world);
int attempt_perf(const struct doctor_world *world);
int attempt_bpf(const struct doctor_world *world);
int attempt_privileges(const struct doctor_world *world);
int attempt_capabilities(const struct doctor_world *world);

/* The name of the abstract socket, without its leading NUL. */
#define ATTEMPT_ABSTRACT_PREFIX "berm-doctor-"

/* Files of the project by which a round asks the host to replace one of them and to bring another;
 * each is followed by the round's name, except the one that is replaced. */
#define ATTEMPT_QUESTION "question-"
#define ATTEMPT_ANSWER "answer-"
#define ATTEMPT_REPLACED "replaced.pem"
#define ATTEMPT_LATE ".env.late-"

/* Opens a close-on-exec socket; macOS has no SOCK_CLOEXEC. */
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

/* attempts_macos.c */
int attempt_clone_directory(const struct doctor_world *world);
int attempt_data_volume(const struct doctor_world *world);

#endif
