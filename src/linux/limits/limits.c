/* SPDX-License-Identifier: Apache-2.0 */
/* Applies limits from inside: rlimits, CPU affinity, sysctls of the namespaces. Never raises a
 * limit above the one with which berm was started. */
#include "linux/limits/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"

enum {
	/* RLIMIT_DATA of one process, as a multiple of the limit. Thread stacks and heaps count
	 * with their reserved size, not with their use. And polling, which can report the reason,
	 * should come first. */
	DATA_FACTOR = 2,
};

static int set_limit(int resource, uint64_t value, const char *name, struct error *err)
{
	struct rlimit limit;
	if (getrlimit(resource, &limit) < 0)
		return error_errno(err, errno, "cannot read the limit on %s", name);
	if (limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max)
		limit.rlim_max = value;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	if (setrlimit(resource, &limit) < 0)
		return error_errno(err, errno, "cannot limit %s", name);
	return 0;
}

/* The host's core_pattern could send a core file with the command's memory anywhere. If it is a
 * pipe, the kernel starts its program at a limit of 0, too: only 1, which is too small for any
 * file, means no dump (core(5)). The filter keeps the command from changing it. A hard limit of 0
 * cannot be raised. */
static int refuse_core_files(struct error *err)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_CORE, &limit) < 0)
		return error_errno(err, errno, "cannot read the limit on core files");
	if (limit.rlim_max > 1)
		limit.rlim_max = 1;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_CORE, &limit) < 0 ? error_errno(err, errno, "cannot limit core files") : 0;
}

/* Restricts the process to `count` of berm's CPUs, beginning with the current one, so that parallel
 * sandboxes do not all share the first. */
static int set_affinity(uint64_t count, struct error *err)
{
	cpu_set_t mine, chosen;
	int here = sched_getcpu();

	if (sched_getaffinity(0, sizeof mine, &mine) < 0)
		return error_errno(err, errno, "cannot read the CPU affinity");
	if ((uint64_t)CPU_COUNT(&mine) <= count)
		return 0;
	CPU_ZERO(&chosen);
	for (int i = here < 0 ? 0 : here; count > 0; i++) {
		int processor = i % CPU_SETSIZE;
		if (CPU_ISSET(processor, &mine)) {
			CPU_SET(processor, &chosen);
			count--;
		}
	}
	if (sched_setaffinity(0, sizeof chosen, &chosen) < 0)
		return error_errno(err, errno, "cannot set the CPU affinity");
	return 0;
}

int limits_apply(const struct plan *plan, const struct limits_choice *choice, struct error *err)
{
	const struct setting *limits = plan->limits;
	if (refuse_core_files(err) < 0)
		return -1;
	if (limits[LIMIT_OPEN_FILES].is_set && set_limit(RLIMIT_NOFILE, limits[LIMIT_OPEN_FILES].value, "open files", err) < 0)
		return -1;
	if (limits[LIMIT_FILE_SIZE].is_set && set_limit(RLIMIT_FSIZE, limits[LIMIT_FILE_SIZE].value, "file sizes", err) < 0)
		return -1;
	/* Only if it counts this sandbox alone. A group is better, because its refusals can be
	 * reported. */
	if (choice->holds[LIMIT_PROCESSES] == HOLD_RLIMIT &&
	    set_limit(RLIMIT_NPROC, limits[LIMIT_PROCESSES].value, "processes", err) < 0)
		return -1;
	/* RLIMIT_AS would break programs that reserve address space (java, node's WebAssembly). */
	if (choice->holds[LIMIT_MEMORY] == HOLD_WATCH && limits[LIMIT_MEMORY].value <= UINT64_MAX / DATA_FACTOR &&
	    set_limit(RLIMIT_DATA, limits[LIMIT_MEMORY].value * DATA_FACTOR, "memory", err) < 0)
		return -1;
	return limits[LIMIT_CPUS].is_set ? set_affinity(limits[LIMIT_CPUS].value, err) : 0;
}

/* Before 6.14 the whole machine has one pid_max, and root would change that. A different inode
 * proves that this is another one. */
static int bound_pids(uint64_t pid_max, unsigned long host_inode, struct error *err)
{
	static const char path[] = "/proc/sys/kernel/pid_max";
	autoclose int fd = openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
	struct stat info;
	char text[32];
	int length = snprintf(text, sizeof text, "%llu", (unsigned long long)pid_max);

	if (fd < 0 || fstat(fd, &info) < 0)
		return error_errno(err, errno, "cannot open %s", path);
	if (info.st_ino == host_inode)
		return error_set(err, "%s belongs to the whole machine and is not changed", path);
	if (write(fd, text, (size_t)length) != length)
		return error_errno(err, errno, "cannot limit processes: %s", path);
	return 0;
}

/* Ignores failures. */
static void write_number(const char *path, unsigned long long value)
{
	autoclose int fd = openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
	char text[32];
	int length = snprintf(text, sizeof text, "%llu", value);
	if (fd >= 0 && write(fd, text, (size_t)length) != length)
		return;
}

/* Bounds System V shared memory. A segment that no process has attached is in no process's memory,
 * so polling cannot see it. Kernels before 5.19 refuse this, a gap that is part of `best
 * effort`. */
static void bound_segments(uint64_t memory)
{
	write_number("/proc/sys/kernel/shmall", (unsigned long long)memory / (unsigned long long)sysconf(_SC_PAGESIZE));
}

/* The limits of this user namespace, and those of the host, which hold in each. In the first user
 * namespace both are one. */
static const struct {
	const char *own, *host;
} inotify_files[LIMITS_INOTIFY_COUNT] = {
	{ "/proc/sys/user/max_inotify_instances", "/proc/sys/fs/inotify/max_user_instances" },
	{ "/proc/sys/user/max_inotify_watches", "/proc/sys/fs/inotify/max_user_watches" },
};

/* Returns 0 if the file does not exist. */
static uint64_t read_number(const char *path)
{
	autoclose int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	char text[32] = "";
	return fd >= 0 && read(fd, text, sizeof text - 1) > 0 ? strtoull(text, NULL, 10) : 0;
}

void limits_inotify_read(struct limits_inotify *inotify)
{
	for (size_t i = 0; i < LIMITS_INOTIFY_COUNT; i++) {
		inotify->maximum[i] = read_number(inotify_files[i].own);
		/* A nested user namespace begins without a limit. */
		if (inotify->maximum[i] >= INT_MAX)
			inotify->maximum[i] = read_number(inotify_files[i].host);
	}
}

/* Leaves half of the user's inotify instances and watches to programs outside: an editor or a file
 * manager without one does not report it. The kernel counts in every user namespace up to the
 * host's. If /proc/sys is read-only, as in containers, nothing is bounded. */
static void bound_inotify(const struct limits_inotify *inotify)
{
	for (size_t i = 0; i < LIMITS_INOTIFY_COUNT; i++)
		if (inotify->maximum[i] > 0)
			write_number(inotify_files[i].own, inotify->maximum[i] / 2);
}

int limits_bound_namespaces(const struct plan *plan, const struct limits_choice *choice, const struct limits_inotify *inotify,
			    struct error *err)
{
	const struct setting *limits = plan->limits;
	bound_inotify(inotify);
	if (choice->holds[LIMIT_MEMORY] == HOLD_WATCH)
		bound_segments(limits[LIMIT_MEMORY].value);
	return choice->pid_max ? bound_pids(choice->pid_max, choice->pid_max_inode, err) : 0;
}
