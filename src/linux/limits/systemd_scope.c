/* SPDX-License-Identifier: Apache-2.0 */
/* Asks systemd for a scope and trusts only the kernel; systemd_scope.h has the theory of
 * operation. */
#include "linux/limits/systemd_scope.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "linux/limits/systemd_bus.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* on every architecture, since 5.9; before, no keeper and so no scope */
#endif

enum { TIMEOUT_MS = 2000 };

static const char system_bus[] = "/run/dbus/system_bus_socket";

static bool is_own(const char *path, uid_t uid, mode_t type)
{
	struct stat info;
	return lstat(path, &info) == 0 && (info.st_mode & S_IFMT) == type && info.st_uid == uid;
}

/* Another user's runtime directory, which sudo may leave in the environment, is ignored. */
static bool find_bus(uid_t uid, char path[SCOPE_SOCKET_MAX])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int length;
	if (uid == 0)
		length = snprintf(path, SCOPE_SOCKET_MAX, "%s", system_bus);
	else if (runtime && runtime[0] == '/' && is_own(runtime, uid, S_IFDIR))
		length = snprintf(path, SCOPE_SOCKET_MAX, "%s/bus", runtime);
	else
		return false;
	return length < SCOPE_SOCKET_MAX && is_own(path, uid, S_IFSOCK);
}

bool systemd_scope_can_ask(uid_t uid)
{
	char path[SCOPE_SOCKET_MAX];
	return find_bus(uid, path);
}

/* The child: killed with the launcher, or by it. */
_Noreturn static void ask(struct systemd_scope_request *request, int reply, pid_t launcher)
{
	sigset_t all;
	struct error err = { 0 };
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != launcher)
		_exit(1);
	request->keeper = getpid();
	if (systemd_bus_ask(request, &err) < 0 && !error_is_set(&err))
		error_set(&err, "systemd could not be asked for a scope");
	if (write(reply, &err, sizeof err) != (ssize_t)sizeof err || error_is_set(&err))
		_exit(1);
	/* From here on it is the keeper, without any descriptor of the caller, the sandbox or the
	 * bus. */
	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0 || syscall(SYS_close_range, 0U, ~0U, 0U) < 0)
		_exit(1);
	for (;;)
		pause();
}

/* A reply is smaller than PIPE_BUF, so it arrives complete or not at all. */
static int read_reply(int reply, struct error *err)
{
	struct pollfd watched = { .fd = reply, .events = POLLIN };
	int64_t end = clock_ms() + TIMEOUT_MS, left;
	struct error said;
	int ready = 0;

	while ((left = end - clock_ms()) > 0) {
		ready = poll(&watched, 1, (int)left);
		if (ready >= 0 || errno != EINTR)
			break;
	}
	if (ready <= 0)
		return error_set(err, "systemd did not make a scope within %d seconds", TIMEOUT_MS / 1000);
	if (read(reply, &said, sizeof said) != (ssize_t)sizeof said)
		return error_set(err, "systemd could not be asked for a scope");
	if (!error_is_set(&said))
		return 0;
	*err = said;
	return -1;
}

/* Returns the pid of the child, which reported success. On failure the child has been killed: -1
 * with err. */
static pid_t ask_in_child(struct systemd_scope_request *request, struct error *err)
{
	int ends[2];
	struct cgroup group = { 0 };
	pid_t launcher = getpid();
	int result;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, errno, "cannot ask systemd for a scope");
	group.keeper = fork();
	if (group.keeper == 0)
		ask(request, ends[1], launcher);
	close(ends[1]);
	result = group.keeper < 0 ? error_errno(err, errno, "cannot ask systemd for a scope") : read_reply(ends[0], err);
	close(ends[0]);
	if (result == 0)
		return group.keeper;
	cgroup_end_keeper(&group);
	return -1;
}

int systemd_scope_make(pid_t pid, uid_t uid, const struct cgroup_limits *limits, struct cgroup *group, struct error *err)
{
	struct systemd_scope_request request = { .uid = uid, .pid = pid, .limits = *limits };
	struct timespec time;
	pid_t keeper;

	*group = (struct cgroup){ .base = -1, .outer = -1, .inner = -1 };
	if (!find_bus(uid, request.socket))
		return error_set(err, "cannot ask systemd for a scope: its bus has disappeared");
	/* A name that no earlier scope had: a group of that name belongs to this run. */
	clock_gettime(CLOCK_BOOTTIME, &time);
	snprintf(request.name, sizeof request.name, "berm-%d-%lld%09ld.scope", (int)getpid(), (long long)time.tv_sec,
		 time.tv_nsec);
	keeper = ask_in_child(&request, err);
	if (keeper < 0)
		return -1;
	if (cgroup_adopt(pid, keeper, request.name, limits, group, err) == 0)
		return 0;
	group->keeper = keeper;
	cgroup_end_keeper(group);
	return -1;
}
