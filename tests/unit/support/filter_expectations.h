/* SPDX-License-Identifier: Apache-2.0 */
/* What the filter has to say to calls and their arguments, written by hand: the specification that
 * test_filter.c checks. */
#ifndef BERM_TESTS_FILTER_EXPECTATIONS_H
#define BERM_TESTS_FILTER_EXPECTATIONS_H

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "unit/support/filter_fixture.h"

/* Arguments that the kernel reads as 64 bits are marked wide: junk above an int is
 * no junk there. */
struct expectation {
	const char *name;
	uint64_t arguments[6];
	uint32_t action; /* without options */
	uint32_t nested, networked, recorded; /* with one option; 0: the same */
	unsigned wide; /* bit per argument */
};
/* The value 0 is SECCOMP_RET_KILL_THREAD, which is never used. */
#define EVERYWHERE 0, 0, 0, 0

static const struct expectation expectations[] = {
	{ "read", { 0 }, ALLOW, EVERYWHERE },
	{ "openat", { 0 }, ALLOW, EVERYWHERE },
	{ "openat2", { 0 }, ALLOW, EVERYWHERE },
	{ "ptrace", { 0 }, ALLOW, EVERYWHERE },
	{ "process_vm_readv", { 0 }, ALLOW, EVERYWHERE },
	{ "name_to_handle_at", { 0 }, ALLOW, EVERYWHERE },
	{ "setuid", { 0 }, ALLOW, EVERYWHERE },
	{ "fchown", { 0 }, ALLOW, EVERYWHERE },
	{ "mbind", { 0 }, ALLOW, EVERYWHERE },
	{ "prctl", { 0 }, ALLOW, EVERYWHERE },
	{ "landlock_restrict_self", { 0 }, ALLOW, EVERYWHERE },
	{ "futex_waitv", { 0 }, ALLOW, EVERYWHERE },
	{ "mseal", { 0 }, ALLOW, EVERYWHERE },

	{ "ioctl", { 0, 0x5412 }, FAIL_WITH(EPERM), EVERYWHERE }, /* TIOCSTI */
	{ "ioctl", { 0, 0x541c }, FAIL_WITH(EPERM), EVERYWHERE }, /* TIOCLINUX */
	{ "ioctl", { 0, 0x5423 }, FAIL_WITH(EPERM), EVERYWHERE }, /* TIOCSETD */
	{ "ioctl", { 0, 0x50009401 }, FAIL_WITH(EPERM), EVERYWHERE }, /* BTRFS_IOC_SNAP_CREATE */
	{ "ioctl", { 0, 0x50009417 }, FAIL_WITH(EPERM), EVERYWHERE }, /* BTRFS_IOC_SNAP_CREATE_V2 */
	{ "ioctl", { 0, 0x150009417 }, FAIL_WITH(EPERM), EVERYWHERE }, /* the kernel takes 32 bits */
	{ "ioctl", { 0, 0x4020bc10 }, FAIL_WITH(EPERM), EVERYWHERE }, /* BCH_IOCTL_SUBVOLUME_CREATE */
	{ "ioctl", { 0, 0x40049409 }, ALLOW, EVERYWHERE }, /* FICLONE, of the same family: cp --reflink */
	{ "ioctl", { 0, 0x5401 }, ALLOW, EVERYWHERE }, /* TCGETS */
	{ "ioctl", { 0, 0x5413 }, ALLOW, EVERYWHERE }, /* TIOCGWINSZ */
	{ "ioctl", { 0, 0x540e }, ALLOW, EVERYWHERE }, /* TIOCSCTTY */
	{ "ioctl", { 0x5412, 0 }, ALLOW, EVERYWHERE },

	/* RLIMIT_CORE is 4. Nothing else about limits is decided by arguments. */
	{ "setrlimit", { 4, 0x1000 }, FAIL_WITH(0), EVERYWHERE },
	{ "setrlimit", { 3, 0x1000 }, ALLOW, EVERYWHERE },
	{ "setrlimit", { 7, 0x1000 }, ALLOW, EVERYWHERE },
	{ "getrlimit", { 4, 0x1000 }, ALLOW, EVERYWHERE },
	{ "prlimit64", { 0, 4, 0x1000, 0 }, FAIL_WITH(0), 0, 0, 0, 0xc },
	{ "prlimit64", { 7, 4, 0x1000, 0 }, FAIL_WITH(0), 0, 0, 0, 0xc },
	{ "prlimit64", { 0, 4, 0x100000000, 0 }, FAIL_WITH(0), 0, 0, 0, 0xc },
	{ "prlimit64", { 0, 4, 0x1000, 0x2000 }, FAIL_WITH(EPERM), 0, 0, 0, 0xc },
	{ "prlimit64", { 0, 4, 0x1000, 0x100000000 }, FAIL_WITH(EPERM), 0, 0, 0, 0xc },
	{ "prlimit64", { 0, 4, 0, 0x2000 }, ALLOW, 0, 0, 0, 0xc },
	{ "prlimit64", { 0, 7, 0x1000, 0 }, ALLOW, 0, 0, 0, 0xc },
	{ "prlimit64", { 4, 7, 0x1000, 0x2000 }, ALLOW, 0, 0, 0, 0xc },

	{ "socket", { AF_UNIX, SOCK_STREAM, 0 }, ALLOW, EVERYWHERE },
	{ "socket", { AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0 }, ALLOW, EVERYWHERE },
	{ "socket", { AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0 }, ALLOW, EVERYWHERE },
	{ "socket", { AF_INET, SOCK_STREAM, IPPROTO_TCP }, ALLOW, EVERYWHERE },
	{ "socket", { AF_INET6, SOCK_STREAM, IPPROTO_TCP }, ALLOW, EVERYWHERE },
	{ "socket", { AF_INET, SOCK_DGRAM, 0 }, ALLOW, EVERYWHERE },
	{ "socket", { AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP }, ALLOW, EVERYWHERE },
	{ "socket", { AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0 }, ALLOW, EVERYWHERE },
	{ "socket", { AF_NETLINK, SOCK_DGRAM, 0 }, ALLOW, EVERYWHERE },
	{ "socket", { AF_NETLINK, SOCK_RAW, 9 }, FAIL_WITH(EPROTONOSUPPORT), EVERYWHERE }, /* audit */
	{ "socket", { AF_NETLINK, SOCK_RAW, 12 }, FAIL_WITH(EPROTONOSUPPORT), EVERYWHERE }, /* netfilter */
	{ "socket", { AF_NETLINK, SOCK_RAW, 16 }, FAIL_WITH(EPROTONOSUPPORT), EVERYWHERE }, /* generic */
	{ "socket", { AF_INET, SOCK_RAW, IPPROTO_ICMP }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "socket", { AF_INET6, SOCK_RAW | SOCK_CLOEXEC, 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "socket", { AF_INET, SOCK_PACKET, 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "socket", { AF_INET, SOCK_DGRAM, IPPROTO_ICMP }, FAIL_WITH(EPROTONOSUPPORT), EVERYWHERE },
	{ "socket", { AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6 }, FAIL_WITH(EPROTONOSUPPORT), EVERYWHERE },
	{ "socket", { AF_INET, SOCK_STREAM, 262 }, FAIL_WITH(EPROTONOSUPPORT), EVERYWHERE }, /* MPTCP */
	{ "socket", { AF_INET, SOCK_STREAM, 256 }, FAIL_WITH(EPROTONOSUPPORT), EVERYWHERE }, /* SMC */
	{ "socket", { AF_INET, SOCK_STREAM, IPPROTO_SCTP }, FAIL_WITH(EPROTONOSUPPORT), EVERYWHERE },
	{ "socket", { AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP }, FAIL_WITH(EPROTONOSUPPORT), EVERYWHERE },
	{ "socket", { AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE }, FAIL_WITH(EPROTONOSUPPORT), EVERYWHERE },
	{ "socket", { AF_INET6, SOCK_DCCP, 33 }, FAIL_WITH(EPROTONOSUPPORT), EVERYWHERE },
	{ "socket", { AF_INET, 0, 0 }, FAIL_WITH(EPROTONOSUPPORT), EVERYWHERE },
	{ "socket", { AF_UNSPEC, SOCK_STREAM, 0 }, FAIL_WITH(EAFNOSUPPORT), EVERYWHERE },
	{ "socket", { AF_PACKET, SOCK_RAW, 0 }, FAIL_WITH(EAFNOSUPPORT), EVERYWHERE },
	{ "socket", { AF_VSOCK, SOCK_STREAM, 0 }, FAIL_WITH(EAFNOSUPPORT), EVERYWHERE },
	{ "socket", { AF_ALG, SOCK_SEQPACKET, 0 }, FAIL_WITH(EAFNOSUPPORT), EVERYWHERE },
	{ "socket", { AF_BLUETOOTH, SOCK_RAW, 0 }, FAIL_WITH(EAFNOSUPPORT), EVERYWHERE },
	{ "socket", { AF_KEY, SOCK_RAW, 2 }, FAIL_WITH(EAFNOSUPPORT), EVERYWHERE },
	{ "socket", { 43, SOCK_STREAM, 0 }, FAIL_WITH(EAFNOSUPPORT), EVERYWHERE }, /* AF_SMC */
	{ "socket", { 44, SOCK_RAW, 0 }, FAIL_WITH(EAFNOSUPPORT), EVERYWHERE }, /* AF_XDP */
	{ "socketpair", { AF_UNIX, SOCK_STREAM, 0 }, ALLOW, EVERYWHERE },
	{ "socketpair", { AF_TIPC, SOCK_STREAM, 0 }, FAIL_WITH(EAFNOSUPPORT), EVERYWHERE },
	{ "socketpair", { AF_INET, SOCK_STREAM, 0 }, FAIL_WITH(EAFNOSUPPORT), EVERYWHERE },

	{ "connect", { 0 }, ALLOW, 0, NOTIFY, 0, 0 },
	{ "bind", { 0 }, ALLOW, 0, NOTIFY, 0, 0 },
	{ "listen", { 0 }, ALLOW, 0, NOTIFY, 0, 0 },
	{ "accept4", { 0 }, ALLOW, EVERYWHERE },
	{ "sendto", { 0, 0, 0, MSG_FASTOPEN }, ALLOW, 0, FAIL_WITH(EOPNOTSUPP), 0, 0 },
	{ "sendto", { 0, 0, 0, MSG_FASTOPEN | MSG_NOSIGNAL }, ALLOW, 0, FAIL_WITH(EOPNOTSUPP), 0, 0 },
	{ "sendto", { 0, 0, 0, MSG_NOSIGNAL }, ALLOW, EVERYWHERE },
	{ "sendmsg", { 0, 0, MSG_FASTOPEN }, ALLOW, 0, FAIL_WITH(EOPNOTSUPP), 0, 0 },
	{ "sendmsg", { 0, 0, 0 }, ALLOW, EVERYWHERE },
	{ "sendmmsg", { 0, 0, 1, MSG_FASTOPEN }, ALLOW, 0, FAIL_WITH(EOPNOTSUPP), 0, 0 },
	{ "sendmmsg", { 0, 0, MSG_FASTOPEN, 0 }, ALLOW, EVERYWHERE },
	{ "setsockopt", { 0, IPPROTO_TCP, 23 }, ALLOW, 0, FAIL_WITH(ENOPROTOOPT), 0, 0 },
	{ "setsockopt", { 0, IPPROTO_TCP, 30 }, ALLOW, 0, FAIL_WITH(ENOPROTOOPT), 0, 0 },
	{ "setsockopt", { 0, IPPROTO_TCP, 1 }, ALLOW, EVERYWHERE },
	{ "setsockopt", { 0, SOL_SOCKET, 23 }, ALLOW, EVERYWHERE },

	{ "execve", { 0 }, ALLOW, 0, 0, NOTIFY, 0 },
	{ "execveat", { 0 }, ALLOW, 0, 0, NOTIFY, 0 },
	{ "seccomp", { 1, 0 }, ALLOW, EVERYWHERE },
	{ "seccomp", { 1, 8 }, ALLOW, 0, FAIL_WITH(EBUSY), FAIL_WITH(EBUSY), 0 }, /* NEW_LISTENER */
	{ "seccomp", { 1, 8 | 16 }, ALLOW, 0, FAIL_WITH(EBUSY), FAIL_WITH(EBUSY), 0 },
	{ "seccomp", { 2, 8 }, ALLOW, EVERYWHERE },

	{ "clone", { SIGCHLD }, ALLOW, EVERYWHERE },
	{ "clone", { CLONE_VM | CLONE_VFORK | SIGCHLD }, ALLOW, EVERYWHERE },
	{ "clone",
	  { CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS },
	  ALLOW,
	  EVERYWHERE },
	{ "clone", { CLONE_NEWUSER | SIGCHLD }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "clone", { CLONE_NEWNS }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "clone", { CLONE_NEWPID }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "clone", { CLONE_NEWNET }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "clone", { CLONE_NEWIPC }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "clone", { CLONE_NEWUTS }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "clone", { CLONE_NEWCGROUP }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "clone", { 0, CLONE_NEWUSER }, ALLOW, EVERYWHERE },
	{ "clone3", { 0 }, FAIL_WITH(ENOSYS), ALLOW, 0, 0, 0 },
	{ "unshare", { CLONE_FS | CLONE_FILES | CLONE_SYSVSEM }, ALLOW, 0, 0, 0, 1 },
	{ "unshare", { 0 }, ALLOW, 0, 0, 0, 1 },
	{ "unshare", { CLONE_NEWUSER }, FAIL_WITH(EPERM), ALLOW, 0, 0, 1 },
	{ "unshare", { CLONE_NEWNS | CLONE_FS }, FAIL_WITH(EPERM), ALLOW, 0, 0, 1 },
	{ "unshare", { 0x80 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 1 }, /* CLONE_NEWTIME */
	{ "unshare", { 0x00100000 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 1 }, /* an empty mount namespace, on later kernels */
	{ "unshare", { UINT64_C(1) << 40 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 1 },
	{ "setns", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },

	{ "mount", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "umount2", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "move_mount", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "open_tree", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "open_tree_attr", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "fsopen", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "fsconfig", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "fsmount", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "fspick", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "mount_setattr", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "pivot_root", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "chroot", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },

	{ "setpriority", { 0, 0, 5 }, ALLOW, EVERYWHERE }, /* PRIO_PROCESS */
	{ "setpriority", { 1, 0, 5 }, FAIL_WITH(EPERM), EVERYWHERE }, /* PRIO_PGRP: the caller's group */
	{ "setpriority", { 0x100000001, 0, 5 }, FAIL_WITH(EPERM), EVERYWHERE }, /* the kernel's argument is an int */
	{ "setpriority", { 2, 0, 5 }, ALLOW, EVERYWHERE }, /* PRIO_USER */
	{ "ioprio_set", { 1, 0, 0 }, ALLOW, EVERYWHERE }, /* IOPRIO_WHO_PROCESS */
	{ "ioprio_set", { 2, 0, 0 }, FAIL_WITH(EPERM), EVERYWHERE }, /* IOPRIO_WHO_PGRP */
	{ "personality", { 0 }, ALLOW, EVERYWHERE },
	{ "personality", { 0xffffffff }, ALLOW, EVERYWHERE },
	{ "personality", { 8 }, ALLOW, EVERYWHERE }, /* PER_LINUX32 */
	{ "personality", { 0x40000 }, ALLOW, EVERYWHERE }, /* ADDR_NO_RANDOMIZE */
	{ "personality", { 0x40008 }, ALLOW, EVERYWHERE },
	{ "personality", { 0x400000 }, FAIL_WITH(EPERM), EVERYWHERE }, /* READ_IMPLIES_EXEC */
	{ "personality", { 0x440000 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "personality", { 0x20000 }, FAIL_WITH(EPERM), EVERYWHERE }, /* UNAME26 */
	{ "personality", { 1 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "personality", { 0xfffffffe }, FAIL_WITH(EPERM), EVERYWHERE },

	{ "chmod", { 0, 0755 }, ALLOW, EVERYWHERE },
	{ "chmod", { 0, 04755 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "chmod", { 0, 02775 }, ALLOW, EVERYWHERE },
	{ "chmod", { 0, 06775 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "chmod", { 0, 01777 }, ALLOW, EVERYWHERE },
	{ "chmod", { 0, S_IFREG | 04755 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "fchmod", { 0, 04711 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "fchmod", { 04711, 0644 }, ALLOW, EVERYWHERE },
	{ "fchmodat", { 0, 0, 04711 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "fchmodat", { 0, 04000, 0600 }, ALLOW, EVERYWHERE },
	{ "fchmodat2", { 0, 0, 04711 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "fchmodat2", { 0, 0, 0600, 04000 }, ALLOW, EVERYWHERE },
	{ "mknod", { 0, S_IFIFO | 0600 }, ALLOW, EVERYWHERE },
	{ "mknod", { 0, S_IFREG | 0600 }, ALLOW, EVERYWHERE },
	{ "mknod", { 0, S_IFSOCK | 0600 }, ALLOW, EVERYWHERE },
	{ "mknod", { 0, 0600 }, ALLOW, EVERYWHERE },
	{ "mknod", { 0, S_IFCHR | 0600 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "mknod", { 0, S_IFBLK | 0600 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "mknod", { 0, 0x10000 | S_IFCHR }, FAIL_WITH(EPERM), EVERYWHERE }, /* the kernel reads 16 bits */
	{ "mknodat", { 0, 0, S_IFCHR | 0600 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "mknodat", { 0, S_IFCHR, S_IFIFO | 0600 }, ALLOW, EVERYWHERE },

	{ "io_uring_setup", { 0 }, FAIL_WITH(ENOSYS), EVERYWHERE },
	{ "io_uring_enter", { 0 }, FAIL_WITH(ENOSYS), EVERYWHERE },
	{ "io_uring_register", { 0 }, FAIL_WITH(ENOSYS), EVERYWHERE },
	{ "bpf", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "perf_event_open", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "userfaultfd", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "keyctl", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "add_key", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "request_key", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "kexec_load", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "kexec_file_load", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "init_module", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "finit_module", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "delete_module", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "open_by_handle_at", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "fanotify_init", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "pidfd_getfd", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "kcmp", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "process_madvise", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "move_pages", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "swapon", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "reboot", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "acct", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "quotactl", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "quotactl_fd", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "settimeofday", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "clock_settime", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "adjtimex", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "clock_adjtime", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "sethostname", { 0 }, FAIL_WITH(EPERM), ALLOW, 0, 0, 0 },
	{ "syslog", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "vhangup", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "iopl", { 3 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "ioperm", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "modify_ldt", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "memfd_secret", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "nfsservctl", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "lookup_dcookie", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
	{ "uselib", { 0 }, FAIL_WITH(EPERM), EVERYWHERE },
};

#endif
