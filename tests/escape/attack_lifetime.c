/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks that try to outlive the run, and small well-behaved commands that the tests of lifetime
 * need. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void touch(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		_exit(70);
	close(fd);
}

/* Writes a byte to HEARTBEAT every 20 ms for at most `seconds`: a process that beats is alive.
 * HEARTBEAT.stop ends it. */
static void beat(const char *heartbeat, int seconds)
{
	char stop[4200];
	snprintf(stop, sizeof stop, "%s.stop", heartbeat);
	for (int i = 0; i < seconds * 50 && access(stop, F_OK); i++) {
		touch(heartbeat, ".");
		usleep(20000);
	}
	_exit(0);
}

static void ignore_signals(void)
{
	for (int number = 1; number < 32; number++)
		signal(number, SIG_IGN);
}

/* Double fork, new session, every signal ignored. HEARTBEAT */
static void run_daemon(char **arguments)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		setsid();
		if (fork() == 0) {
			ignore_signals();
			for (int fd = 0; fd < 3; fd++)
				close(fd);
			beat(arguments[0], 60);
		}
		_exit(0);
	}
	waitpid(child, &status, 0);
	for (int i = 0; i < 3000 && access(arguments[0], F_OK); i++)
		usleep(10000);
	report("daemon", access(arguments[0], F_OK) ? -ENOENT : 0);
}

/* A family of four that beats until it is ended: HEARTBEAT */
static void run_family(char **arguments)
{
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			if (i == 1)
				setsid();
			if (i == 2)
				ignore_signals();
			beat(arguments[0], 60);
		}
	beat(arguments[0], 60);
}

/* Signals every process there is. If the given host process is in sight the wall has a hole: that
 * is reached, and nothing is sent. */
static void run_kill_all(char **arguments)
{
	if (kill(atoi(arguments[0]), 0) == 0 || errno == EPERM)
		report_reached("kill-all");
	else
		report("kill-all-sent", result_of(kill(-1, SIGKILL)) < 0 ? -errno : -ENODATA);
}

/* The process group is the one thing that is shared with the caller: zero names it, even from
 * another pid namespace. */
static void run_group(char **arguments)
{
	(void)arguments;
	signal(SIGTERM, SIG_IGN);
	setpriority(PRIO_PGRP, 0, 19);
	syscall(SYS_ioprio_set, 2 /* group */, 0, 3 << 13 /* idle */);
	kill(0, SIGTERM);
	killpg(0, SIGTERM);
	usleep(100000);
}

static volatile sig_atomic_t last_signal;

static void remember(int number)
{
	last_signal = number;
}

/* Writes the number of the signal that arrives to FILE, after writing "ready". */
static void run_await_signal(char **arguments)
{
	struct sigaction action = { .sa_handler = remember };
	int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCONT, SIGWINCH };
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaction(numbers[i], &action, NULL);
	touch(arguments[0], "ready\n");
	for (int i = 0; i < 6000 && !last_signal; i++)
		usleep(10000);
	char line[32];
	snprintf(line, sizeof line, "%d\n", (int)last_signal);
	touch(arguments[0], line);
	if (last_signal) {
		signal(last_signal, SIG_DFL);
		raise(last_signal);
	}
}

/* A victim: does nothing, for at most some minutes. */
static void run_idle(char **arguments)
{
	(void)arguments;
	alarm(300);
	for (;;)
		pause();
}

static void run_exit(char **arguments)
{
	_exit(atoi(arguments[0]));
}

/* Waits with a child in a new session; the argument is only a mark. */
static void run_family_idle(char **arguments)
{
	(void)arguments;
	if (fork() == 0)
		setsid();
	run_idle(arguments);
}

/* MARKER PATH...: records that it ran, then tries accesses that the sandbox must stop. */
static void run_marker_read(char **arguments)
{
	touch(arguments[0], "ran\n");
	for (char **path = arguments + 1; *path; path++) {
		bool is_protected = strstr(*path, ".git/") != NULL;
		char byte;
		int fd = open(*path, is_protected ? O_WRONLY | O_APPEND | O_CLOEXEC : O_RDONLY | O_CLOEXEC);
		report(labelled("read", *path), fd < 0 ? -errno : is_protected || read(fd, &byte, 1) == 1 ? 0 : -ENODATA);
	}
}

static void run_marker(char **arguments)
{
	touch(arguments[0], "ran\n");
	report_reached("marker");
}

/* Reads FILE again and again for MILLISECONDS: reached if it ever gave a byte. */
static void run_watch(char **arguments)
{
	long result = -EACCES;
	touch(arguments[2], "watching\n");
	for (int i = 0; i < atoi(arguments[1]); i++) {
		char byte;
		int fd = open(arguments[0], O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && read(fd, &byte, 1) == 1)
			result = 0;
		if (fd >= 0)
			close(fd);
		usleep(1000);
	}
	report(labelled("watch", arguments[0]), result);
}

const struct attack attacks_lifetime[] = {
	{ "daemon", run_daemon, "HEARTBEAT: a daemon that ignores every signal" },
	{ "family", run_family, "HEARTBEAT: processes that beat until they are ended" },
	{ "kill-all", run_kill_all, "HOSTPID: kill(-1, SIGKILL), unless that process is in sight" },
	{ "group", run_group, "signals and renices the whole process group" },
	{ "await-signal", run_await_signal, "FILE: writes which signal came, then dies of it" },
	{ "idle", run_idle, "waits to be attacked" },
	{ "exit", run_exit, "STATUS" },
	{ "family-idle", run_family_idle, "MARK: waits, with a child" },
	{ "marker-read", run_marker_read, "MARKER PATH...: a probe of the whole wall" },
	{ "marker", run_marker, "FILE: says that it ran" },
	{ "watch", run_watch, "FILE MILLISECONDS READY: reads in a loop" },
	{ NULL, NULL, NULL },
};
