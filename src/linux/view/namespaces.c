/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the namespaces of one run. An error carries the stage that the host refused, from which
 * probe/causes.c derives the cause. */
#include "linux/view/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "common/base/cleanup.h"
#include "linux/stage.h"
#include "linux/syscalls.h"

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif
#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

pid_t namespaces_fork(const struct namespaces_options *options, int *pidfd, struct error *err)
{
	struct clone_args arguments = {
		.flags = CLONE_PIDFD | CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
			 (options->has_group   ? CLONE_INTO_CGROUP
			  : options->has_scope ? 0
					       : CLONE_NEWCGROUP),
		.pidfd = (uint64_t)(uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = options->has_group ? (uint64_t)options->group : 0,
	};
	pid_t pid = (pid_t)syscall(NR_CLONE3, &arguments, sizeof arguments);
	if (pid >= 0)
		return pid;
	error_errno(err, errno, "cannot create the sandbox's namespaces");
	err->stage = STAGE_NAMESPACES;
	return -1;
}

static int write_file(const char *path, const char *text, struct error *err)
{
	autoclose int fd = openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
	size_t length = strlen(text);
	if (fd >= 0 && write(fd, text, length) == (ssize_t)length)
		return 0;
	error_errno(err, errno, "cannot write %s", path);
	err->stage = STAGE_MAP; /* Ubuntu's restriction allows the namespace and refuses its map */
	return -1;
}

static int map_identity(uid_t uid, gid_t gid, struct error *err)
{
	char map[64];
	if (write_file("/proc/self/setgroups", "deny", err) < 0)
		return -1;
	snprintf(map, sizeof map, "%u %u 1", (unsigned)uid, (unsigned)uid);
	if (write_file("/proc/self/uid_map", map, err) < 0)
		return -1;
	snprintf(map, sizeof map, "%u %u 1", (unsigned)gid, (unsigned)gid);
	return write_file("/proc/self/gid_map", map, err);
}

static int raise_loopback(struct error *err)
{
	autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	if (fd < 0 && errno == EAFNOSUPPORT)
		return 0; /* a kernel without IPv4 has no loopback to bring up */
	if (fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0)
		return 0;
	error_errno(err, errno, "cannot bring up the sandbox's loopback");
	err->stage = STAGE_LOOPBACK;
	return -1;
}

/* The most expensive namespace. Created here, it does not delay the launcher. */
static int make_network(struct error *err)
{
	if (unshare(CLONE_NEWNET) == 0)
		return raise_loopback(err);
	error_errno(err, errno, "cannot create the sandbox's network namespace");
	err->stage = STAGE_NAMESPACES;
	return -1;
}

int namespaces_settle(const struct namespaces_options *options, uid_t uid, gid_t gid, struct error *err)
{
	if (map_identity(uid, gid, err) < 0)
		return -1;
	/* Created by clone3, its root would be berm's own group, in which limits could be
	 * raised. */
	if ((options->has_group || options->has_scope) && unshare(CLONE_NEWCGROUP) < 0)
		return error_errno(err, errno, "cannot create a cgroup namespace");
	return options->has_host_network ? 0 : make_network(err);
}
