/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and removes the control group of a run; cgroup.h has the theory of operation. Never
 * changes a group that was not made by or for berm. Moves no process but init and the keeper,
 * within an adopted group. */
#include "linux/limits/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"

#ifndef CGROUP2_SUPER_MAGIC
#define CGROUP2_SUPER_MAGIC 0x63677270
#endif

enum {
	REMOVE_TRIES = 20, /* killed processes leave the group a moment after init is reaped */
	REMOVE_WAIT_MS = 5,
	NAMES_MAX = 16,
	START_WORD = 20, /* words after the name: field 22 of proc_pid_stat(5) */
	CPU_PERIOD_US = 100000, /* the kernel's default */
};

static const struct {
	enum cgroup_controller bit;
	const char *name;
} controllers[] = { { CGROUP_MEMORY, "memory" }, { CGROUP_PIDS, "pids" }, { CGROUP_CPU, "cpu" } };

/* Mount points of version 2: alone, or beside version 1. */
static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

static const char inner_name[] = "run";
/* Groups in a scope. */
static const char limit_name[] = "limit", keeper_name[] = "keep";

static int make_directory(int parent, const char *name)
{
	return mkdirat(parent, name, 0755);
}

static int remove_directory(int parent, const char *name)
{
	return unlinkat(parent, name, AT_REMOVEDIR);
}

const struct cgroup_calls cgroup_kernel = { make_directory, remove_directory };

static bool read_at(int directory, const char *name, char *buffer, size_t size)
{
	autoclose int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t length = fd < 0 ? -1 : read(fd, buffer, size - 1);
	buffer[length > 0 ? length : 0] = '\0';
	return length >= 0;
}

static int write_at(int directory, const char *name, const char *text)
{
	autoclose int fd = openat(directory, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t length = strlen(text);
	return fd >= 0 && write(fd, text, length) == (ssize_t)length ? 0 : -1;
}

static int write_number(int directory, const char *name, uint64_t value)
{
	char text[32];
	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	return write_at(directory, name, text);
}

/* "cpu memory pids\n" */
static unsigned parse_controllers(char *list)
{
	unsigned found = 0;
	char *rest = NULL;
	for (const char *word = strtok_r(list, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
		for (size_t i = 0; i < sizeof controllers / sizeof controllers[0]; i++)
			if (strcmp(word, controllers[i].name) == 0)
				found |= (unsigned)controllers[i].bit;
	return found;
}

/* To move a process the kernel requires write access to cgroup.procs of the nearest common
 * ancestor, which is the base itself. */
static bool is_base(int directory, unsigned wanted, unsigned *found)
{
	char list[256];
	if (!read_at(directory, "cgroup.subtree_control", list, sizeof list))
		return false;
	*found = parse_controllers(list);
	return (*found & wanted) == wanted && faccessat(directory, ".", W_OK | X_OK, AT_EACCESS) == 0 &&
	       faccessat(directory, "cgroup.procs", W_OK, AT_EACCESS) == 0;
}

bool cgroup_find_in(const char *root, const char *own, unsigned wanted, struct cgroup_base *base)
{
	char path[PATH_MAX];
	size_t root_length = strlen(root);

	*base = (struct cgroup_base){ .fd = -1 };
	/* The path of a group outside this cgroup namespace begins with "/..". */
	if (own[0] != '/' || strstr(own, "/..") || snprintf(path, sizeof path, "%s%s", root, own) >= (int)sizeof path)
		return false;
	for (;;) {
		autoclose int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		char *slash = strrchr(path, '/');
		if (directory >= 0 && is_base(directory, wanted, &base->controllers)) {
			base->fd = steal_fd(&directory);
			return true;
		}
		if (!slash || (size_t)(slash - path) < root_length)
			return false;
		*slash = '\0';
	}
}

/* Reads the path in the line "0::/path" of /proc/PID/cgroup. */
static bool group_of(const char *file, char *path, size_t size)
{
	char text[8192];
	char *line, *end;
	if (!read_at(AT_FDCWD, file, text, sizeof text))
		return false;
	line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (!line)
		return false;
	line = strstr(line, "::") + 2;
	end = strchr(line, '\n');
	if (!end || (size_t)(end - line) >= size)
		return false;
	memcpy(path, line, (size_t)(end - line));
	path[end - line] = '\0';
	return true;
}

static const char *find_mount(void)
{
	for (size_t i = 0; i < sizeof mounts / sizeof mounts[0]; i++) {
		struct statfs info;
		if (statfs(mounts[i], &info) == 0 && info.f_type == CGROUP2_SUPER_MAGIC)
			return mounts[i];
	}
	return NULL;
}

bool cgroup_find(unsigned wanted, struct cgroup_base *base)
{
	char own[PATH_MAX];
	const char *mount;
	*base = (struct cgroup_base){ .fd = -1 };
	if (!group_of("/proc/self/cgroup", own, sizeof own) || !(mount = find_mount()))
		return false;
	return cgroup_find_in(mount, own, wanted, base);
}

/* Returns the start time of a process in clock ticks since boot, which with the pid identifies it
 * until the next boot. 0: no such process. */
static unsigned long long start_of(pid_t pid)
{
	char path[64], text[1024];
	const char *word;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (!read_at(AT_FDCWD, path, text, sizeof text))
		return 0;
	word = strrchr(text, ')'); /* the name may contain anything */
	for (int i = 0; word && i < START_WORD; i++)
		word = strchr(word + 1, ' ');
	return word ? strtoull(word, NULL, 10) : 0;
}

/* Pids are unique in one pid namespace only, and several may share a base. */
static unsigned long long own_namespace(void)
{
	struct stat info;
	return stat("/proc/self/ns/pid", &info) == 0 ? (unsigned long long)info.st_ino : 0;
}

/* Uses the next name if an earlier group of this process could not be removed. */
static int make_named(struct cgroup *group)
{
	unsigned long long start = start_of(getpid()), space = own_namespace();
	for (int i = 0; i < NAMES_MAX; i++) {
		snprintf(group->name, sizeof group->name, "berm-%d-%llu-%llu-%d", (int)getpid(), start, space, i);
		if (group->calls->make(group->base, group->name) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	group->name[0] = '\0';
	return -1;
}

/* "berm-PID-START-NAMESPACE-NUMBER" */
static bool parse_name(const char *name, unsigned long long numbers[4])
{
	if (strncmp(name, "berm", 4) != 0)
		return false;
	name += 4;
	for (int i = 0; i < 4; i++) {
		char *end;
		if (name[0] != '-' || name[1] < '0' || name[1] > '9')
			return false;
		numbers[i] = strtoull(name + 1, &end, 10);
		name = end;
	}
	return *name == '\0';
}

static bool is_abandoned(const char *name)
{
	unsigned long long numbers[4];
	if (!parse_name(name, numbers) || numbers[0] == 0 || numbers[0] > INT_MAX)
		return false;
	return numbers[2] == own_namespace() && start_of((pid_t)numbers[0]) != numbers[1];
}

/* The kernel refuses to remove a group with a running process. */
static int remove_group(int base, const char *name, const struct cgroup_calls *calls)
{
	autoclose int outer = openat(base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (outer < 0)
		return -1;
	if (calls->remove(outer, inner_name) < 0 && errno != ENOENT)
		return -1;
	return calls->remove(base, name);
}

void cgroup_remove_abandoned(int base, const struct cgroup_calls *calls)
{
	int fd = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclosedir DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	if (!list) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(list)))
		if (is_abandoned(entry->d_name))
			remove_group(base, entry->d_name, calls);
}

/* With swap the excess would only move to disk. A kernel without swap has no such file. */
static int limit_memory(int outer, uint64_t bytes)
{
	if (bytes == 0)
		return 0;
	if (write_number(outer, "memory.max", bytes) < 0)
		return -1;
	if (write_number(outer, "memory.swap.max", 0) < 0 && errno != ENOENT)
		return -1;
	/* Kill the whole group: the rest is of no use after the kernel has killed one process. */
	return write_number(outer, "memory.oom.group", 1);
}

static int write_limits(int outer, const struct cgroup_limits *limits)
{
	char quota[64];
	if (limit_memory(outer, limits->memory) < 0)
		return -1;
	/* Init counts too. */
	if (limits->processes > 0 && write_number(outer, "pids.max", limits->processes + 1) < 0)
		return -1;
	if (limits->cpus == 0)
		return 0;
	snprintf(quota, sizeof quota, "%llu %d", (unsigned long long)limits->cpus * CPU_PERIOD_US, CPU_PERIOD_US);
	return write_at(outer, "cpu.max", quota);
}

static int fill(struct cgroup *group, const struct cgroup_limits *limits)
{
	if (make_named(group) < 0)
		return -1;
	group->outer = openat(group->base, group->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (group->outer < 0 || write_limits(group->outer, limits) < 0 || group->calls->make(group->outer, inner_name) < 0)
		return -1;
	group->inner = openat(group->outer, inner_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return group->inner < 0 ? -1 : 0;
}

static void forget(struct cgroup *group)
{
	int *descriptors[] = { &group->inner, &group->outer, &group->base };
	for (size_t i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++) {
		if (*descriptors[i] >= 0)
			close(*descriptors[i]);
		*descriptors[i] = -1;
	}
}

int cgroup_make(struct cgroup_base *base, const struct cgroup_limits *limits, const struct cgroup_calls *calls,
		struct cgroup *group, struct error *err)
{
	*group = (struct cgroup){ .calls = calls, .base = base->fd, .outer = -1, .inner = -1 };
	base->fd = -1;
	cgroup_remove_abandoned(group->base, calls);
	if (fill(group, limits) == 0)
		return 0;
	error_errno(err, errno, "cannot create a control group");
	if (group->name[0])
		remove_group(group->base, group->name, calls);
	forget(group);
	return -1;
}

/* True if the file holds this number and not "max". */
static bool reads_exactly(int directory, const char *file, uint64_t value)
{
	char text[64], wanted[64];
	snprintf(wanted, sizeof wanted, "%llu\n", (unsigned long long)value);
	return read_at(directory, file, text, sizeof text) && strcmp(text, wanted) == 0;
}

/* Verifies the limits in the kernel's files; systemd's reply is not trusted. */
static int check_limits(int outer, const struct cgroup_limits *limits, struct error *err)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (limits->memory > 0 && !reads_exactly(outer, "memory.max", (limits->memory + CGROUP_KEEPER_BYTES) / page * page))
		return error_set(err, "systemd created a scope without the memory limit");
	if (limits->memory > 0 && faccessat(outer, "memory.swap.max", F_OK, 0) == 0 &&
	    !reads_exactly(outer, "memory.swap.max", 0))
		return error_set(err, "systemd created a scope that allows swap beyond the memory limit");
	if (limits->processes > 0 && !reads_exactly(outer, "pids.max", limits->processes + 2))
		return error_set(err, "systemd created a scope without the limit of processes");
	return 0;
}

/* Only a group without processes can enable controllers for its children. */
static int enter_inner(struct cgroup *group, pid_t pid, const struct cgroup_limits *limits)
{
	autoclose int keep = -1;
	if (group->calls->make(group->base, keeper_name) < 0 || group->calls->make(group->base, limit_name) < 0)
		return -1;
	snprintf(group->name, sizeof group->name, "%s", limit_name);
	keep = openat(group->base, keeper_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	group->outer = openat(group->base, limit_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (keep < 0 || group->outer < 0 || group->calls->make(group->outer, inner_name) < 0)
		return -1;
	group->inner = openat(group->outer, inner_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (group->inner < 0 || write_number(group->inner, "cgroup.procs", (uint64_t)pid) < 0 ||
	    write_number(keep, "cgroup.procs", (uint64_t)group->keeper) < 0)
		return -1;
	if (limits->memory > 0 && write_at(group->base, "cgroup.subtree_control", "+memory") < 0)
		return -1;
	if (limits->processes > 0 && write_at(group->base, "cgroup.subtree_control", "+pids") < 0)
		return -1;
	return write_limits(group->outer, limits);
}

static bool holds_both(int directory, pid_t one, pid_t other)
{
	char text[64], wanted[64], turned[64];
	snprintf(wanted, sizeof wanted, "%d\n%d\n", (int)one, (int)other);
	snprintf(turned, sizeof turned, "%d\n%d\n", (int)other, (int)one);
	return read_at(directory, "cgroup.procs", text, sizeof text) &&
	       (strcmp(text, wanted) == 0 || strcmp(text, turned) == 0);
}

int cgroup_adopt_in(const char *root, const char *path, pid_t pid, pid_t keeper, const char *name,
		    const struct cgroup_limits *limits, const struct cgroup_calls *calls, struct cgroup *group,
		    struct error *err)
{
	char full[PATH_MAX];
	const char *last = strrchr(path, '/');
	*group = (struct cgroup){ .calls = calls, .base = -1, .outer = -1, .inner = -1, .keeper = keeper };
	/* The name is unique to this run: a group of that name is new and not used by another. */
	if (!last || strcmp(last + 1, name) != 0 || path[0] != '/' || strstr(path, "/.."))
		return error_set(err, "systemd did not put the sandbox into the scope %s", name);
	if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full)
		return error_set(err, "the path of the scope %s is too long", name);
	group->base = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (group->base < 0)
		return error_errno(err, errno, "cannot open the scope %s", name);
	if (!holds_both(group->base, pid, keeper))
		error_set(err, "the sandbox is not alone in the scope %s", name);
	else if (check_limits(group->base, limits, err) == 0) {
		if (enter_inner(group, pid, limits) == 0)
			return 0;
		error_errno(err, errno, "cannot use the scope that systemd created");
	}
	forget(group);
	return -1;
}

int cgroup_adopt(pid_t pid, pid_t keeper, const char *name, const struct cgroup_limits *limits, struct cgroup *group,
		 struct error *err)
{
	char file[64], path[PATH_MAX], inner[PATH_MAX], rest[64];
	const char *mount = find_mount();
	size_t length;

	*group = (struct cgroup){ .base = -1, .outer = -1, .inner = -1 };
	snprintf(file, sizeof file, "/proc/%d/cgroup", (int)pid);
	if (!mount || !group_of(file, path, sizeof path))
		return error_set(err, "there is no cgroup v2 hierarchy with the scope");
	if (cgroup_adopt_in(mount, path, pid, keeper, name, limits, &cgroup_kernel, group, err) < 0)
		return -1;
	length = strlen(path);
	snprintf(rest, sizeof rest, "/%s/%s", limit_name, inner_name);
	if (group_of(file, inner, sizeof inner) && strncmp(inner, path, length) == 0 && strcmp(inner + length, rest) == 0)
		return 0;
	forget(group);
	return error_set(err, "the sandbox was not moved into its control group");
}

static uint64_t read_event(int directory, const char *file, const char *key)
{
	char text[1024];
	char *rest = NULL;
	size_t length = strlen(key);
	if (!read_at(directory, file, text, sizeof text))
		return 0;
	for (const char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strncmp(line, key, length) == 0 && line[length] == ' ')
			return strtoull(line + length + 1, NULL, 10);
	return 0;
}

static uint64_t read_number(int directory, const char *file)
{
	char text[64];
	return read_at(directory, file, text, sizeof text) ? strtoull(text, NULL, 10) : 0;
}

void cgroup_end_keeper(struct cgroup *group)
{
	child_end(group->keeper);
	group->keeper = 0;
}

void cgroup_end(struct cgroup *group, struct cgroup_events *events)
{
	*events = (struct cgroup_events){ 0 };
	if (group->outer < 0)
		return;
	events->killed_for_memory = read_event(group->outer, "memory.events", "oom_kill");
	events->refused_processes = read_event(group->outer, "pids.events", "max");
	events->memory_peak = read_number(group->outer, "memory.peak");
	events->is_lost = group->keeper > 0 && faccessat(group->outer, "cgroup.procs", F_OK, 0) < 0;
	/* All processes are killed with init; this is in case they are not. The file exists since
	 * 5.14. */
	write_at(group->outer, "cgroup.kill", "1");
	for (int i = 0; i < REMOVE_TRIES; i++) {
		if (remove_group(group->base, group->name, group->calls) == 0 || errno != EBUSY)
			break;
		poll(NULL, 0, REMOVE_WAIT_MS);
	}
	forget(group);
	cgroup_end_keeper(group);
}
