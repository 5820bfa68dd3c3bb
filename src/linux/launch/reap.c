/* SPDX-License-Identifier: Apache-2.0 */
/* Two ways to leave nothing behind. With Landlock's signal scope, kill(-1) reaches exactly what runs inside. Without, the children of a
 * subreaper are ended until there are none: what forks faster than that can outlive it. Never signals a process that is not below. */
#include "linux/launch/reap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"

enum { ROUND_NS = 2000000 };

int sweep_adopt(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

bool sweep_is_scoped(pid_t outside)
{
	return outside > 1 && kill(outside, 0) < 0 && errno == EPERM;
}

void sweep_scope(void)
{
	kill(-1, SIGKILL);
}

/* The parent's number stands after the name, which may hold anything, and the state. */
static pid_t parent_of(const char *pid)
{
	char path[64], text[512];
	autoclose int fd = -1;
	const char *end;
	ssize_t count;

	snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	count = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (count <= 0)
		return -1;
	text[count] = '\0';
	end = strrchr(text, ')');
	/* ") S 123": a blank, the state, a blank. */
	return end && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : -1;
}

static void close_directory(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

static void signal_children(pid_t parent, int number)
{
	__attribute__((cleanup(close_directory))) DIR *directory = opendir("/proc");
	const struct dirent *entry;
	while (directory && (entry = readdir(directory))) {
		long pid = strtol(entry->d_name, NULL, 10);
		if (pid > 1 && parent_of(entry->d_name) == parent)
			kill((pid_t)pid, number);
	}
}

void sweep_continue(pid_t parent)
{
	signal_children(parent, SIGCONT);
}

/* True if there are no children any more. */
static bool reap(void)
{
	pid_t pid;
	do
		pid = waitpid(-1, NULL, WNOHANG);
	while (pid > 0 || (pid < 0 && errno == EINTR));
	return pid < 0 && errno == ECHILD;
}

bool sweep_children(int patience_ms)
{
	const struct timespec round = { .tv_nsec = ROUND_NS };
	int64_t end = clock_ms() + patience_ms;
	while (!reap()) {
		if (clock_ms() >= end)
			return false;
		signal_children(getpid(),
				SIGKILL); /* a child cannot vanish before it is waited for, so its number is its own */
		if (reap())
			return true;
		nanosleep(&round, NULL);
	}
	return true;
}
