/* SPDX-License-Identifier: Apache-2.0 */
/* Further denials of the landlock tier. No pid namespace hides the host's processes, no ipc
 * namespace its shared memory, no network namespace its sockets. Calls that reach one of these, and
 * that Landlock does not check, are refused here or restricted to the caller's own process.
 * docs/tiers.md gives the reasons. */
#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux/confine/filter_checks.h"
#include "linux/confine/filter_internal.h"

enum { ASK = -1 };

/* unsigned int cmd, of which bits 8 to 15 name the driver. Besides the requests that no tier
 * allows, these change files through a descriptor opened for reading, which Landlock grants:
 * attributes, verity and encryption ('f', 'X'; chattr), and the private requests of btrfs (0x94),
 * bcachefs (0xbc) and f2fs (0xf5), which create and remove subvolumes. Copies of extents and
 * queries stay allowed. */
static const struct filter_rule ioctl_rules[] = {
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

/* int family, int type, int protocol. Landlock does not check pathname sockets before ABI 9, so
 * AF_UNIX is refused unless the policy names a socket. A socketpair() reaches no other process. */
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

/* pid_t pid: 0 is the caller itself. */
static const struct filter_rule only_self[] = { { ALLOW, { IS(0, 0) } }, OTHERWISE(FAIL(EPERM)) };
/* int which, int id: this process only. IOPRIO_WHO_PROCESS is 1, PRIO_PROCESS is 0. */
static const struct filter_rule only_own_priority[] = { { ALLOW, { IS(0, 0), IS(1, 0) } }, OTHERWISE(FAIL(EPERM)) };
static const struct filter_rule only_own_io_priority[] = { { ALLOW, { IS(0, 1), IS(1, 0) } }, OTHERWISE(FAIL(EPERM)) };
/* pid_t pid, unsigned int resource, pointers to the new and the old limit: the limits of other
 * processes may be read but not set. The limit on core files is treated as in every tier. */
static const struct filter_rule only_own_limits[] = {
	{ ALLOW, { MASKED(2, POINTER_MASK, 0) } },
	{ FAIL(EPERM), { HAS_ANY(0, INT_MASK) } },
	{ FAIL(0), { IS(1, RLIMIT_CORE), MASKED(3, POINTER_MASK, 0) } },
	{ FAIL(EPERM), { IS(1, RLIMIT_CORE) } },
	OTHERWISE(ALLOW),
};

#define ROW(name_, class_, verdict_, check_)                                                                                   \
	{                                                                                                                      \
		name_, ASK, ASK, verdict_, class_, check_, FILTER_ALWAYS, verdict_                                             \
	}
#define CLOSED(name_) ROW(name_, "landlock tier: shared memory and queues", FILTER_ENOSYS, NULL)
#define NARROW(name_, check_) ROW(name_, "landlock tier: other processes", FILTER_CHECK, check_)
/* Init decides if it has the listener; else the call is treated as in every tier. */
#define METADATA(name_, number_, verdict_, check_)                                                                             \
	{                                                                                                                      \
		name_, number_, number_, verdict_, "landlock tier: metadata", check_, FILTER_WITH_METADATA_NOTIFY,             \
			FILTER_NOTIFY                                                                                          \
	}

const struct filter_row filter_landlock_tier_table[] = {
	ROW("socket", "landlock tier: sockets", FILTER_CHECK, socket_none), /* or another: filter_row_check */
	ROW("ioctl", "landlock tier: attributes of files", FILTER_CHECK, ioctl_rules),

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
	{ "sched_setaffinity", ASK, ASK, FILTER_CHECK, "landlock tier: other processes", only_self, FILTER_WITH_FIXED_CPUS,
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
	/* Programs fall back to the older calls above. */
	{ "setxattrat", 463, 463, FILTER_ENOSYS, "landlock tier: metadata", NULL, FILTER_ALWAYS, FILTER_ENOSYS },
	{ "removexattrat", 466, 466, FILTER_ENOSYS, "landlock tier: metadata", NULL, FILTER_ALWAYS, FILTER_ENOSYS },
	{ "file_setattr", 469, 469, FILTER_ENOSYS, "landlock tier: metadata", NULL, FILTER_ALWAYS, FILTER_ENOSYS },
};
const size_t filter_landlock_tier_table_count = sizeof filter_landlock_tier_table / sizeof *filter_landlock_tier_table;

/* Checks that are others with the guard. */
static const struct {
	const struct filter_rule *plain, *with_guard;
} guarded[] = {
	{ filter_check_node_1, filter_check_node_notify_1 },
	{ filter_check_node_2, filter_check_node_notify_2 },
	{ filter_check_setrlimit, filter_check_setrlimit_notify },
	{ filter_check_prlimit, filter_check_prlimit_notify },
};

const struct filter_rule *filter_row_check(const struct filter_row *row, const struct filter_options *options)
{
	for (size_t i = 0; options->has_create_notify && i < sizeof guarded / sizeof guarded[0]; i++)
		if (row->check == guarded[i].plain)
			return guarded[i].with_guard;
	if (row->check != socket_none)
		return row->check;
	if (options->has_internet)
		return options->has_unix ? filter_check_socket : socket_internet;
	return options->has_unix ? socket_unix : socket_none;
}

bool filter_is_marked(void)
{
	/* Without the C library's wrapper, for which -1 would be a mistake. */
	return syscall(SYS_ioctl, -1, FILTER_MARK_REQUEST) < 0 && errno == FILTER_MARK_ERRNO;
}
