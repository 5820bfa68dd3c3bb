/* SPDX-License-Identifier: Apache-2.0 */
/* The seccomp filter of the helpers: internet sockets, memory, time, and opening files for reading
 * if asked. No execve, no new process, no listening socket, no writing to files. Small enough for
 * libseccomp to generate it. */
#include "linux/egress/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* The kernel uses only 32 bits of an int argument. */
#define INT_MASK UINT64_C(0xffffffff)

static const char *const plain[] = {
	"read",
	"write",
	"close",
	"recvfrom",
	"recvmsg",
	"sendto",
	"connect",
	"accept",
	"accept4",
	"shutdown",
	"getsockopt",
	"setsockopt",
	"getsockname",
	"poll",
	"ppoll",
	"fcntl",
	"brk",
	"munmap",
	"mremap",
	"madvise",
	"futex",
	"getrandom",
	"clock_gettime",
	"gettimeofday",
	"exit_group",
	"exit",
	"rt_sigreturn",
	"rt_sigprocmask",
	"restart_syscall",
	"getpid",
	"gettid",
};
static const char *const files[] = { "fstat", "newfstatat", "lseek" };

static int add_plain(scmp_filter_ctx filter, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int number = seccomp_syscall_resolve_name(names[i]);
		/* Not every architecture has all of them: aarch64 has no poll. */
		if (number < 0)
			continue;
		if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0) < 0)
			return -1;
	}
	return 0;
}

static int add_sockets(scmp_filter_ctx filter)
{
	static const unsigned families[] = { AF_INET, AF_INET6 };
	static const unsigned types[] = { SOCK_STREAM, SOCK_DGRAM };

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 2; j++)
			if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 3,
					     SCMP_A0(SCMP_CMP_MASKED_EQ, INT_MASK, families[i]),
					     SCMP_A1(SCMP_CMP_MASKED_EQ, 0xf, types[j]),
					     SCMP_A2(SCMP_CMP_MASKED_EQ, INT_MASK, 0)) < 0)
				return -1;
	return 0;
}

static int add_memory(scmp_filter_ctx filter)
{
	if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) < 0)
		return -1;
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
}

static int add_files(scmp_filter_ctx filter)
{
	if (add_plain(filter, files, sizeof files / sizeof files[0]) < 0)
		return -1;
	return seccomp_rule_add(
		filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
		SCMP_A2(SCMP_CMP_MASKED_EQ,
			INT_MASK & ~(UINT64_C(0) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_LARGEFILE), O_RDONLY));
}

int egress_filter_load(bool has_files, struct error *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int status = -1;

	if (filter && add_plain(filter, plain, sizeof plain / sizeof plain[0]) == 0 && add_sockets(filter) == 0 &&
	    add_memory(filter) == 0 && (!has_files || add_files(filter) == 0))
		status = seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	return status < 0 ? error_set(err, "cannot filter the system calls of the proxy") : 0;
}
