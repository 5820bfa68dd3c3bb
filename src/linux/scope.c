/* SPDX-License-Identifier: Apache-2.0 */
/* Has systemd asked for a scope, and believes the kernel only; scope.h has the theory. */
#include "linux/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"

enum { PATIENCE_MS = 2000 };

static const char system_bus[] = "/run/dbus/system_bus_socket";

static bool is_own(const char *path, uid_t uid, mode_t type)
{
	struct stat info;
	return lstat(path, &info) == 0 && (info.st_mode & S_IFMT) == type && info.st_uid == uid;
}

/* Another user's runtime directory, which sudo may leave in the environment, is none. */
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

bool scope_can_ask(uid_t uid)
{
	char path[SCOPE_SOCKET_MAX];
	return scope_bus_is_built() && find_bus(uid, path);
}

static int64_t now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Dies with the launcher, or by it. */
_Noreturn static void ask(const struct scope_request *request, int answer, pid_t launcher)
{
	struct error err = { 0 };
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != launcher)
		_exit(1);
	if (scope_bus_ask(request, &err) < 0 && !error_is_set(&err))
		error_set(&err, "systemd could not be asked for a scope");
	_exit(write(answer, &err, sizeof err) == (ssize_t)sizeof err ? 0 : 1);
}

/* An answer is smaller than PIPE_BUF: it comes whole or not at all. */
static int take_answer(int answer, struct error *err)
{
	struct pollfd watched = { .fd = answer, .events = POLLIN };
	int64_t end = now_ms() + PATIENCE_MS, left;
	struct error said;
	int ready = 0;

	while ((left = end - now_ms()) > 0) {
		ready = poll(&watched, 1, (int)left);
		if (ready >= 0 || errno != EINTR)
			break;
	}
	if (ready <= 0)
		return error_set(err, "systemd did not make a scope within %d seconds", PATIENCE_MS / 1000);
	if (read(answer, &said, sizeof said) != (ssize_t)sizeof said)
		return error_set(err, "systemd could not be asked for a scope");
	if (!error_is_set(&said))
		return 0;
	*err = said;
	return -1;
}

static int ask_in_child(const struct scope_request *request, struct error *err)
{
	int ends[2];
	pid_t child, launcher = getpid();
	int result;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, errno, "cannot ask systemd for a scope");
	child = fork();
	if (child == 0)
		ask(request, ends[1], launcher);
	close(ends[1]);
	result = child < 0 ? error_errno(err, errno, "cannot ask systemd for a scope") : take_answer(ends[0], err);
	close(ends[0]);
	if (child > 0) {
		kill(child, SIGKILL);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return result;
}

int scope_make(pid_t pid, uid_t uid, const struct cgroup_limits *limits, struct cgroup *group, struct error *err)
{
	struct scope_request request = { .uid = uid, .pid = pid, .limits = *limits };
	struct timespec time;

	*group = (struct cgroup){ .base = -1, .outer = -1, .inner = -1 };
	if (!find_bus(uid, request.socket))
		return error_set(err, "the bus on which systemd was to be asked for a scope is gone");
	/* Never the name of an earlier one: what is found under it is of this run. */
	clock_gettime(CLOCK_BOOTTIME, &time);
	snprintf(request.name, sizeof request.name, "berm-%d-%lld%09ld.scope", (int)getpid(), (long long)time.tv_sec,
		 time.tv_nsec);
	if (ask_in_child(&request, err) < 0)
		return -1;
	return cgroup_adopt(pid, request.name, limits, group, err);
}
