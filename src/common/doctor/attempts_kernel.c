/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that a sandbox must refuse, each in a harmless form: what it creates is
 * closed at once. */
#include "common/doctor/internal.h"

#ifdef __linux__

#include <errno.h>
#include <linux/capability.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"

static int made(long fd)
{
	int number = errno;
	if (fd < 0)
		return number;
	close((int)fd);
	return ATTEMPT_REACHED;
}

int attempt_abstract(const struct doctor_world *world)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	autoclose int fd = doctor_socket(AF_UNIX, SOCK_STREAM);
	int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, ATTEMPT_ABSTRACT_PREFIX "%s", world->token);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) < 0)
		return errno;
	return ATTEMPT_REACHED;
}

/* A directory that is looked into is exchanged for one that has the protected name already. */
int attempt_exchange(const struct doctor_world *world)
{
	enum { EXCHANGE = 2 };
	static const char *const made_here[] = { ".github/hooks", "exchanged/hooks", ".github", "exchanged" };
	autoclose int project = open(world->project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int number = ATTEMPT_UNTRIED;
	if (project < 0)
		return ATTEMPT_UNTRIED;
	if (mkdirat(project, "exchanged", 0700) == 0 && mkdirat(project, "exchanged/hooks", 0700) == 0 &&
	    mkdirat(project, ".github", 0700) == 0)
		number = syscall(SYS_renameat2, project, "exchanged", project, ".github", EXCHANGE) < 0 ? errno
													: ATTEMPT_REACHED;
	for (size_t i = 0; i < sizeof made_here / sizeof made_here[0]; i++)
		unlinkat(project, made_here[i], AT_REMOVEDIR);
	return number;
}

/* In a child, so that the namespace ends with it. */
int attempt_namespace(const struct doctor_world *world)
{
	int status = 0;
	pid_t pid = fork();
	(void)world;
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER) == 0 ? 0 : errno);
	if (pid < 0 || child_wait(pid, &status) < 0)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

int attempt_keyring(const struct doctor_world *world)
{
	(void)world;
	return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1) < 0 ? errno : ATTEMPT_REACHED;
}

int attempt_userfaultfd(const struct doctor_world *world)
{
	enum { USER_MODE_ONLY = 1 };
	(void)world;
	return made(syscall(SYS_userfaultfd, USER_MODE_ONLY));
}

int attempt_io_uring(const struct doctor_world *world)
{
	char parameters[120] = { 0 }; /* struct io_uring_params */
	(void)world;
	return made(syscall(SYS_io_uring_setup, 1, parameters));
}

int attempt_perf(const struct doctor_world *world)
{
	struct perf_event_attr attributes = { .type = PERF_TYPE_SOFTWARE,
					      .size = sizeof attributes,
					      .config = PERF_COUNT_SW_DUMMY };
	attributes.disabled = 1;
	attributes.exclude_kernel = 1;
	attributes.exclude_hv = 1;
	(void)world;
	return made(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

int attempt_bpf(const struct doctor_world *world)
{
	union bpf_attr attributes;
	(void)world;
	memset(&attributes, 0, sizeof attributes);
	attributes.map_type = BPF_MAP_TYPE_ARRAY;
	attributes.key_size = 4;
	attributes.value_size = 4;
	attributes.max_entries = 1;
	return made(syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes));
}

int attempt_privileges(const struct doctor_world *world)
{
	(void)world;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? ATTEMPT_REACHED : EPERM;
}

/* Reached by a permitted capability, or by one in the bounding set, which a program could gain
 * unless no_new_privs is set. */
int attempt_capabilities(const struct doctor_world *world)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { 0 };
	(void)world;
	if (syscall(SYS_capget, &header, sets) < 0 || sets[0].permitted || sets[1].permitted)
		return ATTEMPT_REACHED;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return EPERM;
	for (unsigned long capability = 0; capability < 64; capability++)
		if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1)
			return ATTEMPT_REACHED;
	return EPERM;
}

#else

#define UNTRIED(name)                                                                                                          \
	int name(const struct doctor_world *world)                                                                             \
	{                                                                                                                      \
		(void)world;                                                                                                   \
		return ATTEMPT_UNTRIED;                                                                                        \
	}

UNTRIED(attempt_abstract)
UNTRIED(attempt_exchange)
UNTRIED(attempt_namespace)
UNTRIED(attempt_keyring)
UNTRIED(attempt_userfaultfd)
UNTRIED(attempt_io_uring)
UNTRIED(attempt_perf)
UNTRIED(attempt_bpf)
UNTRIED(attempt_privileges)
UNTRIED(attempt_capabilities)

#endif
