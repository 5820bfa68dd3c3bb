/* SPDX-License-Identifier: Apache-2.0 */
/* What else the filter refuses in the tier landlock. No pid namespace hides the host's processes, no ipc namespace its shared memory, no
 * network namespace its sockets: calls that reach one of these and that Landlock does not judge are closed or narrowed to the caller's own
 * process here. docs/tiers.md gives the reasons. */
#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux/confine/filter_checks.h"
#include "linux/confine/filter_internal.h"

enum { ASK = -1 };

/* unsigned int cmd, of which bits 8 to 15 say whose it is. Besides what no tier allows: what changes files through a descriptor that was
 * opened for reading, which Landlock grants. Attributes, verity and encryption ('f', 'X'; chattr), and the private calls of btrfs (0x94),
 * bcachefs (0xbc) and f2fs (0xf5), which make and remove subvolumes. Copies of extents and questions stay. */
const struct filter_rule filter_check_ioctl_alone[] = {
	{ FAIL(FILTER_MARK_ERRNO), { IS(1, FILTER_MARK_REQUEST) } },
	{ FAIL(EPERM), { IS(1, TIOCSTI) } },
	{ FAIL(EPERM), { IS(1, TIOCLINUX) } },
	{ FAIL(EPERM), { IS(1, TIOCSETD) } },
	{ ALLOW, { IS(1, FS_IOC_GETFLAGS) } },
	{ ALLOW, { IS(1, FS_IOC_FIEMAP) } },
	{ ALLOW, { IS(1, FS_IOC_FSGETXATTR) } },
	{ ALLOW, { IS(1, FICLONE) } },
	{ ALLOW, { IS(1, FICLONERANGE) } },
	{ ALLOW, { IS(1, FIDEDUPERANGE) } },
	{ FAIL(EPERM), { IS(1, FS_IOC_SETVERSION) } },
	{ FAIL(EPERM), { IS(1, FS_IOC32_SETVERSION) } },
	{ FAIL(EPERM), { MASKED(1, 0xff00, 0x6600) } },
	{ FAIL(EPERM), { MASKED(1, 0xff00, 0x5800) } },
	{ FAIL(EPERM), { MASKED(1, 0xff00, 0x9400) } },
	{ FAIL(EPERM), { MASKED(1, 0xff00, 0xbc00) } },
	{ FAIL(EPERM), { MASKED(1, 0xff00, 0xf500) } },
	OTHERWISE(ALLOW),
};

/* int family, int type, int protocol. Path sockets are not Landlock's business before ABI 9: without a named one there are none at
 * all. A pair (socketpair) reaches nobody. */
static const struct filter_rule socket_none[] = { OTHERWISE(FAIL(EACCES)) };
static const struct filter_rule socket_unix[] = { { ALLOW, { IS(0, AF_UNIX) } }, OTHERWISE(FAIL(EACCES)) };
static const struct filter_rule socket_internet[] = {
	{ ALLOW, { INTERNET, TYPE(SOCK_STREAM), IS(2, 0) } },
	{ ALLOW, { INTERNET, TYPE(SOCK_STREAM), IS(2, IPPROTO_TCP) } },
	{ ALLOW, { INTERNET, TYPE(SOCK_DGRAM), IS(2, 0) } },
	{ ALLOW, { INTERNET, TYPE(SOCK_DGRAM), IS(2, IPPROTO_UDP) } },
	{ FAIL(EPERM), { INTERNET, TYPE(SOCK_RAW) } },
	{ FAIL(EPERM), { INTERNET, TYPE(SOCK_PACKET) } },
	{ FAIL(EPROTONOSUPPORT), { INTERNET } },
	{ ALLOW, { IS(0, AF_NETLINK), IS(2, 0) } },
	{ FAIL(EPROTONOSUPPORT), { IS(0, AF_NETLINK) } },
	OTHERWISE(FAIL(EACCES)),
};

/* pid_t pid: the caller itself is 0. */
static const struct filter_rule only_self[] = { { ALLOW, { IS(0, 0) } }, OTHERWISE(FAIL(EPERM)) };
/* int which, int who: this process. IOPRIO_WHO_PROCESS is 1, PRIO_PROCESS 0. */
static const struct filter_rule only_own_priority[] = { { ALLOW, { IS(0, 0), IS(1, 0) } }, OTHERWISE(FAIL(EPERM)) };
static const struct filter_rule only_own_io_priority[] = { { ALLOW, { IS(0, 1), IS(1, 0) } }, OTHERWISE(FAIL(EPERM)) };
/* pid_t pid, .., struct rlimit *new: to set the limits of others is refused, to read them is not. */
static const struct filter_rule only_own_limits[] = {
	{ ALLOW, { IS(0, 0) } },
	{ ALLOW, { MASKED(2, ~UINT64_C(0), 0) } },
	OTHERWISE(FAIL(EPERM)),
};

#define ROW(name_, class_, verdict_, check_)                                                                                   \
	{                                                                                                                      \
		name_, ASK, ASK, verdict_, class_, check_, FILTER_ALWAYS, verdict_                                             \
	}
#define CLOSED(name_) ROW(name_, "alone: shared memory and queues", FILTER_ENOSYS, NULL)
#define NARROW(name_, check_) ROW(name_, "alone: other processes", FILTER_CHECK, check_)
/* Judged by init if it listens; else as in every tier. */
#define METADATA(name_, number_, verdict_, check_)                                                                             \
	{                                                                                                                      \
		name_, number_, number_, verdict_, "alone: metadata", check_, FILTER_WITH_METADATA_NOTIFY, FILTER_NOTIFY       \
	}

const struct filter_row filter_alone_table[] = {
	ROW("socket", "alone: sockets", FILTER_CHECK, socket_none), /* filter_row_check chooses */
	ROW("ioctl", "alone: attributes of files", FILTER_CHECK, filter_check_ioctl_alone),

	CLOSED("shmget"),
	CLOSED("shmat"),
	CLOSED("shmctl"),
	CLOSED("shmdt"),
	CLOSED("semget"),
	CLOSED("semop"),
	CLOSED("semctl"),
	CLOSED("semtimedop"),
	CLOSED("msgget"),
	CLOSED("msgsnd"),
	CLOSED("msgrcv"),
	CLOSED("msgctl"),
	CLOSED("mq_open"),
	CLOSED("mq_unlink"),
	CLOSED("mq_timedsend"),
	CLOSED("mq_timedreceive"),
	CLOSED("mq_notify"),
	CLOSED("mq_getsetattr"),

	NARROW("setpriority", only_own_priority),
	NARROW("ioprio_set", only_own_io_priority),
	NARROW("sched_setparam", only_self),
	NARROW("sched_setscheduler", only_self),
	NARROW("sched_setattr", only_self),
	{ "sched_setaffinity", ASK, ASK, FILTER_CHECK, "alone: other processes", only_self, FILTER_WITH_FIXED_CPUS,
	  FILTER_EPERM },
	NARROW("prlimit64", only_own_limits),

	METADATA("chmod", ASK, FILTER_CHECK, filter_check_mode_1),
	METADATA("fchmod", ASK, FILTER_CHECK, filter_check_mode_1),
	METADATA("fchmodat", ASK, FILTER_CHECK, filter_check_mode_2),
	METADATA("fchmodat2", 452, FILTER_CHECK, filter_check_mode_2),
	METADATA("chown", ASK, FILTER_ALLOW, NULL),
	METADATA("fchown", ASK, FILTER_ALLOW, NULL),
	METADATA("lchown", ASK, FILTER_ALLOW, NULL),
	METADATA("fchownat", ASK, FILTER_ALLOW, NULL),
	METADATA("utime", ASK, FILTER_ALLOW, NULL),
	METADATA("utimes", ASK, FILTER_ALLOW, NULL),
	METADATA("futimesat", ASK, FILTER_ALLOW, NULL),
	METADATA("utimensat", ASK, FILTER_ALLOW, NULL),
	METADATA("setxattr", ASK, FILTER_ALLOW, NULL),
	METADATA("lsetxattr", ASK, FILTER_ALLOW, NULL),
	METADATA("fsetxattr", ASK, FILTER_ALLOW, NULL),
	METADATA("removexattr", ASK, FILTER_ALLOW, NULL),
	METADATA("lremovexattr", ASK, FILTER_ALLOW, NULL),
	METADATA("fremovexattr", ASK, FILTER_ALLOW, NULL),
	/* Newer than any program needs: they fall back to those above. */
	{ "setxattrat", 463, 463, FILTER_ENOSYS, "alone: metadata", NULL, FILTER_ALWAYS, FILTER_ENOSYS },
	{ "removexattrat", 466, 466, FILTER_ENOSYS, "alone: metadata", NULL, FILTER_ALWAYS, FILTER_ENOSYS },
	{ "file_setattr", 469, 469, FILTER_ENOSYS, "alone: metadata", NULL, FILTER_ALWAYS, FILTER_ENOSYS },
};
const size_t filter_alone_table_count = sizeof filter_alone_table / sizeof *filter_alone_table;

const struct filter_rule *filter_row_check(const struct filter_row *row, const struct filter_options *options)
{
	if (row->check != socket_none)
		return row->check;
	if (options->has_internet)
		return options->has_unix ? filter_check_socket : socket_internet;
	return options->has_unix ? socket_unix : socket_none;
}

bool filter_is_marked(void)
{
	/* The call itself: a descriptor that is none is what is meant here. */
	return syscall(SYS_ioctl, -1, FILTER_MARK_REQUEST) < 0 && errno == FILTER_MARK_ERRNO;
}
