/* SPDX-License-Identifier: Apache-2.0 */
/* What a process of the sandbox is bounded by from inside: rlimits, processors, the sysctls of its namespaces. Never raises a limit
 * above what berm itself was started with. */
#include "linux/limits/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"

enum {
	/* How much more than the limit one process may reserve: berm's own look at the total comes first and says what happened,
	 * and stacks of threads and heaps count here with what they reserve, not with what they use. */
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

/* `count` of the processors that berm may use, beginning with the one it is on: sandboxes side by side do not all share the first. */
static int choose_processors(uint64_t count, struct error *err)
{
	cpu_set_t mine, chosen;
	int here = sched_getcpu();

	if (sched_getaffinity(0, sizeof mine, &mine) < 0)
		return error_errno(err, errno, "cannot ask which processors there are");
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
		return error_errno(err, errno, "cannot choose processors");
	return 0;
}

int limits_apply(const struct plan *plan, const struct limits_choice *choice, struct error *err)
{
	const struct setting *limits = plan->limits;
	/* A core file would carry the command's memory to wherever the host's core_pattern sends it. */
	if (set_limit(RLIMIT_CORE, 0, "core files", err) < 0)
		return -1;
	if (limits[LIMIT_OPEN_FILES].is_set && set_limit(RLIMIT_NOFILE, limits[LIMIT_OPEN_FILES].value, "open files", err) < 0)
		return -1;
	if (limits[LIMIT_FILE_SIZE].is_set && set_limit(RLIMIT_FSIZE, limits[LIMIT_FILE_SIZE].value, "file sizes", err) < 0)
		return -1;
	/* Only where it counts this sandbox alone. A group counts what it refuses, and then it can be told. */
	if (choice->holds[LIMIT_PROCESSES] == HOLD_RLIMIT &&
	    set_limit(RLIMIT_NPROC, limits[LIMIT_PROCESSES].value, "processes", err) < 0)
		return -1;
	/* RLIMIT_AS would break programs that reserve address space (java, node's WebAssembly). */
	if (choice->holds[LIMIT_MEMORY] == HOLD_WATCH && limits[LIMIT_MEMORY].value <= UINT64_MAX / DATA_FACTOR &&
	    set_limit(RLIMIT_DATA, limits[LIMIT_MEMORY].value * DATA_FACTOR, "memory", err) < 0)
		return -1;
	return limits[LIMIT_CPUS].is_set ? choose_processors(limits[LIMIT_CPUS].value, err) : 0;
}

/* Before 6.14 there is one pid_max for the whole machine, and root would change that: another inode is the proof of another value. */
static int bound_pids(uint64_t pid_max, unsigned long host_inode, struct error *err)
{
	static const char path[] = "/proc/sys/kernel/pid_max";
	autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct stat info;
	char text[32];
	int length = snprintf(text, sizeof text, "%llu", (unsigned long long)pid_max);

	if (fd < 0 || fstat(fd, &info) < 0)
		return error_errno(err, errno, "cannot open %s", path);
	if (info.st_ino == host_inode)
		return error_set(err, "%s is the whole machine's: it is left alone", path);
	if (write(fd, text, (size_t)length) != length)
		return error_errno(err, errno, "cannot limit processes: %s", path);
	return 0;
}

/* Segments that nobody has attached are in no process's memory: what the watch cannot see is bounded here. A kernel that refuses it
 * (before 5.19) leaves this gap, which is part of `best effort`. */
static void bound_segments(uint64_t memory)
{
	autoclose int fd = open("/proc/sys/kernel/shmall", O_WRONLY | O_CLOEXEC);
	char text[32];
	int length =
		snprintf(text, sizeof text, "%llu", (unsigned long long)memory / (unsigned long long)sysconf(_SC_PAGESIZE));
	if (fd >= 0 && write(fd, text, (size_t)length) != length)
		return;
}

int limits_bound_namespaces(const struct plan *plan, const struct limits_choice *choice, struct error *err)
{
	const struct setting *limits = plan->limits;
	if (choice->holds[LIMIT_MEMORY] == HOLD_WATCH)
		bound_segments(limits[LIMIT_MEMORY].value);
	return choice->pid_max ? bound_pids(choice->pid_max, choice->pid_max_inode, err) : 0;
}
