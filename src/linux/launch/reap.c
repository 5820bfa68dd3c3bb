/* SPDX-License-Identifier: Apache-2.0 */
/* Two ways to end every process. With Landlock's signal scope, kill(-1) reaches exactly the
 * processes inside. Without it, the children of a subreaper are killed until there are none;
 * processes that fork faster can survive. Never signals a process that is not below. */
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

int reap_adopt(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

bool reap_is_scoped(pid_t outside)
{
	return outside > 1 && kill(outside, 0) < 0 && errno == EPERM;
}

void reap_scope(void)
{
	kill(-1, SIGKILL);
}

/* Returns the parent's pid, or -1. In /proc/PID/stat it follows the name, which may contain any
 * character, and the state. */
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
	/* ") S 123": a space, the state, a space. */
	return end && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : -1;
}

static void signal_children(pid_t parent, int number)
{
	autoclosedir DIR *directory = opendir("/proc");
	const struct dirent *entry;
	while (directory && (entry = readdir(directory))) {
		long pid = strtol(entry->d_name, NULL, 10);
		if (pid > 1 && parent_of(entry->d_name) == parent)
			kill((pid_t)pid, number);
	}
}

void reap_continue(pid_t parent)
{
	signal_children(parent, SIGCONT);
}

/* Reaps all children that have exited. True if no child is left. */
static bool reap(void)
{
	pid_t pid;
	do
		pid = waitpid(-1, NULL, WNOHANG);
	while (pid > 0 || (pid < 0 && errno == EINTR));
	return pid < 0 && errno == ECHILD;
}

bool reap_children(int timeout_ms)
{
	const struct timespec round = { .tv_nsec = ROUND_NS };
	int64_t end = clock_ms() + timeout_ms;
	while (!reap()) {
		if (clock_ms() >= end)
			return false;
		/* A child's pid cannot be reused before it is waited for. */
		signal_children(getpid(), SIGKILL);
		if (reap())
			return true;
		nanosleep(&round, NULL);
	}
	return true;
}
