/* SPDX-License-Identifier: Apache-2.0 */
/* What the filter asks about arguments. Each check names the kernel's own type of the argument, because a BPF program sees 64 bits
 * of every register while the kernel drops what its type cannot hold: a comparison of bits that the kernel ignores is a way past
 * the filter (CVE-2019-10063). Pointers are never followed: what lies behind one can change after the check. */
#include "linux/confine/filter_checks.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "linux/confine/filter_internal.h"

#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif

/* unsigned int cmd. TIOCSTI types into the terminal (CVE-2017-5226), TIOCLINUX pastes on a console (CVE-2023-28100); TIOCSETD loads
 * line disciplines, a part of the kernel that nothing but modem software needs. The last three make a snapshot of a subvolume that the
 * user owns, in which what is hidden in the original lies bare: BTRFS_IOC_SNAP_CREATE, its second version, and
 * BCH_IOCTL_SUBVOLUME_CREATE. */
const struct filter_rule filter_check_ioctl[] = {
	{ FAIL(EPERM), { IS(1, TIOCSTI) } },
	{ FAIL(EPERM), { IS(1, TIOCLINUX) } },
	{ FAIL(EPERM), { IS(1, TIOCSETD) } },
	{ FAIL(EPERM), { IS(1, 0x50009401) } },
	{ FAIL(EPERM), { IS(1, 0x50009417) } },
	{ FAIL(EPERM), { IS(1, 0x4020bc10) } },
	OTHERWISE(ALLOW),
};

/* int family, int type, int protocol; the kernel takes the type's low four bits, flags lie above. Raw sockets would leave every rule
 * about destinations behind; MPTCP, SCTP, SMC and UDP-Lite are not covered by what judges TCP. AF_UNIX turns SOCK_RAW into
 * SOCK_DGRAM; the C library opens NETLINK_ROUTE raw. AF_INET with SOCK_PACKET is AF_PACKET. */
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

/* int which. The command is in the process group of whoever started berm, and a group is not bounded by the pid namespace: by it, the
 * caller's own processes could be slowed down. PRIO_PGRP is 1, IOPRIO_WHO_PGRP 2; by process and by user only those inside count. */
const struct filter_rule filter_check_setpriority[] = {
	{ FAIL(EPERM), { IS(0, 1) } },
	OTHERWISE(ALLOW),
};
const struct filter_rule filter_check_ioprio_set[] = {
	{ FAIL(EPERM), { IS(0, 2) } },
	OTHERWISE(ALLOW),
};

/* unsigned long clone_flags, of which the kernel keeps the low 32 bits. The lowest byte is the exit signal here, so there is no
 * CLONE_NEWTIME. */
#define CLONE_NAMESPACES                                                                                                       \
	(UINT64_C(0) | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |            \
	 CLONE_NEWNET)
const struct filter_rule filter_check_clone[] = {
	{ FAIL(EPERM), { HAS_ANY(0, CLONE_NAMESPACES) } },
	OTHERWISE(ALLOW),
};

/* unsigned long unshare_flags, all 64 bits: what is not known here may be a namespace of a later kernel. */
#define UNSHARE_PLAIN (UINT64_C(0) | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)
const struct filter_rule filter_check_unshare[] = {
	{ FAIL(EPERM), { HAS_ANY(0, ~UNSHARE_PLAIN) } },
	OTHERWISE(ALLOW),
};

/* unsigned int personality: PER_LINUX with or without PER_LINUX32 (`linux32 make`) and ADDR_NO_RANDOMIZE (gdb), and the query.
 * Others switch to code paths that nobody reads any more, or make memory executable (READ_IMPLIES_EXEC). */
#define PERSONALITY_PLAIN (UINT64_C(0x8) | 0x40000)
const struct filter_rule filter_check_personality[] = {
	{ ALLOW, { MASKED(0, INT_MASK & ~PERSONALITY_PLAIN, 0) } },
	{ ALLOW, { IS(0, 0xffffffff) } },
	OTHERWISE(FAIL(EPERM)),
};

/* umode_t, 16 bits. A set-user-id file in the project is the user's identity for whoever runs it later, outside. Creating one with
 * open() or mknod() needs no check: the bit goes away with the first byte that is written. Set-group-id stays: directories use it. */
const struct filter_rule filter_check_mode_1[] = { { FAIL(EPERM), { HAS_ANY(1, S_ISUID) } }, OTHERWISE(ALLOW) };
const struct filter_rule filter_check_mode_2[] = { { FAIL(EPERM), { HAS_ANY(2, S_ISUID) } }, OTHERWISE(ALLOW) };

/* umode_t, 16 bits: files, pipes and sockets may be made, device nodes not. */
#define NODE_CHECK(argument_)                                                                                                  \
	{                                                                                                                      \
		{ FAIL(EPERM), { MASKED(argument_, S_IFMT, S_IFCHR) } },                                                       \
			{ FAIL(EPERM), { MASKED(argument_, S_IFMT, S_IFBLK) } }, OTHERWISE(ALLOW)                              \
	}
const struct filter_rule filter_check_node_1[] = NODE_CHECK(1);
const struct filter_rule filter_check_node_2[] = NODE_CHECK(2);

/* unsigned int flags: fast open connects without connect(), so the supervisor would not see it. */
const struct filter_rule filter_check_send_2[] = { { FAIL(EOPNOTSUPP), { HAS_ANY(2, MSG_FASTOPEN) } }, OTHERWISE(ALLOW) };
const struct filter_rule filter_check_send_3[] = { { FAIL(EOPNOTSUPP), { HAS_ANY(3, MSG_FASTOPEN) } }, OTHERWISE(ALLOW) };

/* int level, int optname: the same, asked for beforehand. */
const struct filter_rule filter_check_setsockopt[] = {
	{ FAIL(ENOPROTOOPT), { IS(1, IPPROTO_TCP), IS(2, TCP_FASTOPEN) } },
	{ FAIL(ENOPROTOOPT), { IS(1, IPPROTO_TCP), IS(2, TCP_FASTOPEN_CONNECT) } },
	OTHERWISE(ALLOW),
};

/* unsigned int op, unsigned int flags. Further filters may be loaded, they only narrow; a second listener may not. The kernel says
 * EBUSY too, but only once ours is in place. */
const struct filter_rule filter_check_seccomp[] = {
	{ FAIL(EBUSY), { IS(0, SECCOMP_SET_MODE_FILTER), HAS_ANY(1, SECCOMP_FILTER_FLAG_NEW_LISTENER) } },
	OTHERWISE(ALLOW),
};
