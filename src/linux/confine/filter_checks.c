/* SPDX-License-Identifier: Apache-2.0 */
/* The filter's argument checks. Each comment begins with the kernel's own type of the argument. A
 * BPF program sees 64 bits of every register, but the kernel drops those that its type cannot hold:
 * a comparison of bits that the kernel ignores can be bypassed (CVE-2019-10063). Pointers are never
 * followed: the memory behind one can change after the check. */
#include "linux/confine/filter_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "linux/confine/filter_internal.h"

#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif

/* unsigned int cmd. TIOCSTI types into the terminal (CVE-2017-5226), TIOCLINUX pastes on a console
 * (CVE-2023-28100). TIOCSETD loads line disciplines, kernel code that only modem software needs.
 * The last three, BTRFS_IOC_SNAP_CREATE, its second version and BCH_IOCTL_SUBVOLUME_CREATE, make a
 * snapshot of the user's own subvolume, in which the masked files of the original are readable. */
const struct filter_rule filter_check_ioctl[] = {
	{ FAIL(EPERM), { IS(1, TIOCSTI) } },
	{ FAIL(EPERM), { IS(1, TIOCLINUX) } },
	{ FAIL(EPERM), { IS(1, TIOCSETD) } },
	{ FAIL(EPERM), { IS(1, 0x50009401) } },
	{ FAIL(EPERM), { IS(1, 0x50009417) } },
	{ FAIL(EPERM), { IS(1, 0x4020bc10) } },
	OTHERWISE(ALLOW),
};

/* int family, int type, int protocol. The type is in the low four bits, flags are above. Raw
 * sockets would bypass every rule about destinations. The checks of TCP do not cover MPTCP, SCTP,
 * SMC and UDP-Lite. AF_UNIX turns SOCK_RAW into SOCK_DGRAM; the C library opens NETLINK_ROUTE raw.
 * AF_INET with SOCK_PACKET is AF_PACKET. */
const struct filter_rule filter_check_socket[] = {
	{ ALLOW, { IS(0, AF_UNIX) } },
	{ ALLOW, { INTERNET, TYPE(SOCK_STREAM), IS(2, 0) } },
	{ ALLOW, { INTERNET, TYPE(SOCK_STREAM), IS(2, IPPROTO_TCP) } },
	{ ALLOW, { INTERNET, TYPE(SOCK_DGRAM), IS(2, 0) } },
	{ ALLOW, { INTERNET, TYPE(SOCK_DGRAM), IS(2, IPPROTO_UDP) } },
	{ FAIL(EPERM), { INTERNET, TYPE(SOCK_RAW) } },
	{ FAIL(EPERM), { INTERNET, TYPE(SOCK_PACKET) } },
	{ FAIL(EPROTONOSUPPORT), { INTERNET } },
	{ ALLOW, { IS(0, AF_NETLINK), IS(2, 0) } }, /* NETLINK_ROUTE; changes need a capability */
	{ FAIL(EPROTONOSUPPORT), { IS(0, AF_NETLINK) } },
	OTHERWISE(FAIL(EAFNOSUPPORT)),
};

const struct filter_rule filter_check_socketpair[] = {
	{ ALLOW, { IS(0, AF_UNIX) } },
	OTHERWISE(FAIL(EAFNOSUPPORT)),
};

/* int which. The command is in the process group of berm's caller, which reaches beyond the pid
 * namespace: by group the command could slow down the caller's own processes. PRIO_PGRP is 1,
 * IOPRIO_WHO_PGRP is 2. By process and by user only processes inside are affected. */
const struct filter_rule filter_check_setpriority[] = {
	{ FAIL(EPERM), { IS(0, 1) } },
	OTHERWISE(ALLOW),
};
const struct filter_rule filter_check_ioprio_set[] = {
	{ FAIL(EPERM), { IS(0, 2) } },
	OTHERWISE(ALLOW),
};

/* unsigned int resource. Changing the limit on core files succeeds without effect, because programs
 * that handle passwords refuse to go on if they cannot set it to 0, at which the kernel still
 * starts the program of a core_pattern that is a pipe. */
const struct filter_rule filter_check_setrlimit[] = {
	{ FAIL(0), { IS(0, RLIMIT_CORE) } },
	OTHERWISE(ALLOW),
};
/* pid_t pid, unsigned int resource, pointers to the new and the old limit. With both, success would
 * leave the old one unset. */
const struct filter_rule filter_check_prlimit[] = {
	{ FAIL(0), { IS(1, RLIMIT_CORE), HAS_ANY(2, POINTER_MASK), MASKED(3, POINTER_MASK, 0) } },
	{ FAIL(EPERM), { IS(1, RLIMIT_CORE), HAS_ANY(2, POINTER_MASK) } },
	OTHERWISE(ALLOW),
};

/* With the guard: the limit of file locks, which has no effect, marks processes that have
 * restricted themselves (linux/guard/lineage.h). */
const struct filter_rule filter_check_setrlimit_notify[] = {
	{ FAIL(0), { IS(0, RLIMIT_CORE) } },
	{ FAIL(EPERM), { IS(0, RLIMIT_LOCKS) } },
	OTHERWISE(ALLOW),
};
const struct filter_rule filter_check_prlimit_notify[] = {
	{ FAIL(0), { IS(1, RLIMIT_CORE), HAS_ANY(2, POINTER_MASK), MASKED(3, POINTER_MASK, 0) } },
	{ FAIL(EPERM), { IS(1, RLIMIT_CORE), HAS_ANY(2, POINTER_MASK) } },
	{ FAIL(EPERM), { IS(1, RLIMIT_LOCKS), HAS_ANY(2, POINTER_MASK) } },
	OTHERWISE(ALLOW),
};

/* unsigned long clone_flags, of which the kernel keeps the low 32 bits. The lowest byte is the exit
 * signal, so CLONE_NEWTIME does not exist here. */
#define CLONE_NAMESPACES                                                                                                       \
	(UINT64_C(0) | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |            \
	 CLONE_NEWNET)
const struct filter_rule filter_check_clone[] = {
	{ FAIL(EPERM), { HAS_ANY(0, CLONE_NAMESPACES) } },
	OTHERWISE(ALLOW),
};

/* unsigned long unshare_flags, all 64 bits: an unknown one may be a later kernel's namespace. */
#define UNSHARE_PLAIN (UINT64_C(0) | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)
const struct filter_rule filter_check_unshare[] = {
	{ FAIL(EPERM), { HAS_ANY(0, ~UNSHARE_PLAIN) } },
	OTHERWISE(ALLOW),
};

/* unsigned int personality: PER_LINUX with or without PER_LINUX32 (`linux32 make`) and
 * ADDR_NO_RANDOMIZE (gdb), and the query. Others switch to code paths without maintenance, or make
 * memory executable (READ_IMPLIES_EXEC). */
#define PERSONALITY_PLAIN (UINT64_C(0x8) | 0x40000)
const struct filter_rule filter_check_personality[] = {
	{ ALLOW, { MASKED(0, INT_MASK & ~PERSONALITY_PLAIN, 0) } },
	{ ALLOW, { IS(0, 0xffffffff) } },
	OTHERWISE(FAIL(EPERM)),
};

/* umode_t, 16 bits. A set-user-id file in the project would give the user's identity to any other
 * user that runs it later, outside. Creating one with open() or mknod() needs no check: the first
 * write clears the bit. Set-group-id is allowed: directories use it. */
const struct filter_rule filter_check_mode_1[] = { { FAIL(EPERM), { HAS_ANY(1, S_ISUID) } }, OTHERWISE(ALLOW) };
const struct filter_rule filter_check_mode_2[] = { { FAIL(EPERM), { HAS_ANY(2, S_ISUID) } }, OTHERWISE(ALLOW) };

/* umode_t, 16 bits: files, pipes and sockets may be created, device nodes may not. */
#define NODE_CHECK(argument_, otherwise_)                                                                                      \
	{                                                                                                                      \
		{ FAIL(EPERM), { MASKED(argument_, S_IFMT, S_IFCHR) } },                                                       \
			{ FAIL(EPERM), { MASKED(argument_, S_IFMT, S_IFBLK) } }, OTHERWISE(otherwise_)                         \
	}
const struct filter_rule filter_check_node_1[] = NODE_CHECK(1, ALLOW);
const struct filter_rule filter_check_node_2[] = NODE_CHECK(2, ALLOW);
/* With the guard. */
const struct filter_rule filter_check_node_notify_1[] = NODE_CHECK(1, NOTIFY);
const struct filter_rule filter_check_node_notify_2[] = NODE_CHECK(2, NOTIFY);

/* int flags. Only O_CREAT makes a name, and O_PATH ignores it. A file of O_TMPFILE has no name
 * until it is linked. */
const struct filter_rule filter_check_open_1[] = {
	{ ALLOW, { MASKED(1, O_CREAT, 0) } },
	{ ALLOW, { HAS_ANY(1, O_PATH) } },
	OTHERWISE(NOTIFY),
};
const struct filter_rule filter_check_open_2[] = {
	{ ALLOW, { MASKED(2, O_CREAT, 0) } },
	{ ALLOW, { HAS_ANY(2, O_PATH) } },
	OTHERWISE(NOTIFY),
};

/* unsigned int flags. Fast open connects without connect(), unseen by the supervisor. */
const struct filter_rule filter_check_send_2[] = { { FAIL(EOPNOTSUPP), { HAS_ANY(2, MSG_FASTOPEN) } }, OTHERWISE(ALLOW) };
const struct filter_rule filter_check_send_3[] = { { FAIL(EOPNOTSUPP), { HAS_ANY(3, MSG_FASTOPEN) } }, OTHERWISE(ALLOW) };

/* int level, int optname: fast open as a socket option. */
const struct filter_rule filter_check_setsockopt[] = {
	{ FAIL(ENOPROTOOPT), { IS(1, IPPROTO_TCP), IS(2, TCP_FASTOPEN) } },
	{ FAIL(ENOPROTOOPT), { IS(1, IPPROTO_TCP), IS(2, TCP_FASTOPEN_CONNECT) } },
	OTHERWISE(ALLOW),
};

/* unsigned int op, unsigned int flags. Further filters are allowed, because they only restrict. A
 * second listener is not. The kernel refuses it with EBUSY too, but only once ours is in place. */
const struct filter_rule filter_check_seccomp[] = {
	{ FAIL(EBUSY), { IS(0, SECCOMP_SET_MODE_FILTER), HAS_ANY(1, SECCOMP_FILTER_FLAG_NEW_LISTENER) } },
	OTHERWISE(ALLOW),
};
