/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks that read nothing and plant nothing: they leave the user's machine less usable than
 * before. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Raw mode too: restoring it waits for output that never leaves. */
static void run_stop_terminal(char **arguments)
{
	struct winsize size = { .ws_row = 1, .ws_col = 1 };
	struct termios settings;
	(void)arguments;
	if (tcgetattr(STDIN_FILENO, &settings) == 0) {
		cfmakeraw(&settings);
		report("raw", result_of(tcsetattr(STDIN_FILENO, TCSANOW, &settings)));
	}
	report("size", result_of(ioctl(STDIN_FILENO, TIOCSWINSZ, &size)));
	report("stop", result_of(tcflow(STDIN_FILENO, TCOOFF)));
}

static long watch_here(void *argument)
{
	int fd = inotify_init1(IN_CLOEXEC);
	(void)argument;
	return fd < 0 ? -errno : result_of(inotify_add_watch(fd, ".", IN_CREATE));
}

static void run_watch_one(char **arguments)
{
	(void)arguments;
	probe("inotify", watch_here, NULL, NULL);
}

enum { HOG_MAX = 400, HOG_S = 20 };

static void hog_watches(int fd)
{
	char name[32];
	for (int i = 0; i < HOG_MAX; i++) {
		snprintf(name, sizeof name, "watched-%d", i);
		int file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (file < 0 || inotify_add_watch(fd, name, IN_MODIFY) < 0)
			return;
		close(file);
	}
}

/* READY WHAT: takes all instances or all watches, creates READY, and keeps them until its parent is
 * gone. */
static void run_hog_inotify(char **arguments)
{
	int first = inotify_init1(IN_CLOEXEC), count = 1;
	if (strcmp(arguments[1], "watches") == 0)
		hog_watches(first);
	else
		while (count < HOG_MAX && inotify_init1(IN_CLOEXEC) >= 0)
			count++;
	close(open(arguments[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	for (int i = 0; i < HOG_S * 10 && access(arguments[0], F_OK) == 0; i++)
		usleep(100000);
}

static long has_limit_changed(void)
{
	struct rlimit now;
	if (syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &now) < 0)
		return -errno;
	return now.rlim_cur == 0 ? 0 : -EPERM;
}

static const struct rlimit none = { 0, 0 };

static long by_setrlimit(void *resource)
{
	long result = result_of(syscall(SYS_setrlimit, *(uint64_t *)resource, &none));
	return result < 0 ? result : has_limit_changed();
}

static long by_prlimit(void *resource)
{
	long result = result_of(syscall(SYS_prlimit64, 0, *(uint64_t *)resource, &none, NULL));
	return result < 0 ? result : has_limit_changed();
}

static long by_prlimit_with_old(void *resource)
{
	struct rlimit old;
	long result = result_of(syscall(SYS_prlimit64, 0, *(uint64_t *)resource, &none, &old));
	return result < 0 ? result : has_limit_changed();
}

/* A parent changes its child, which looks at itself. */
static long of_child(void *resource)
{
	int gate[2], status = 0;
	char byte;
	if (pipe2(gate, O_CLOEXEC))
		return -errno;
	pid_t child = fork();
	if (child == 0) {
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) == 0 && has_limit_changed() == 0 ? 0 : 1);
	}
	long result = result_of(syscall(SYS_prlimit64, child, *(uint64_t *)resource, &none, NULL));
	close(gate[1]);
	waitpid(child, &status, 0);
	return result < 0 ? result : WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPERM;
}

static long is_high(void *argument)
{
	struct rlimit now;
	(void)argument;
	if (getrlimit(RLIMIT_CORE, &now) < 0)
		return -errno;
	return now.rlim_max > 1 ? 0 : -EPERM;
}

/* At 0 a core_pattern that is a pipe gets the core all the same. */
static void run_core_limit(char **arguments)
{
	uint64_t plain = RLIMIT_CORE, high = 0xdeadbeef00000000u | RLIMIT_CORE;
	(void)arguments;
	probe("core-large", is_high, NULL, NULL);
	probe("core-setrlimit", by_setrlimit, &plain, NULL);
	probe("core-setrlimit-high", by_setrlimit, &high, NULL);
	probe("core-prlimit", by_prlimit, &plain, NULL);
	probe("core-prlimit-high", by_prlimit, &high, NULL);
	probe("core-prlimit-old", by_prlimit_with_old, &plain, NULL);
	probe("core-child", of_child, &plain, NULL);
}

/* DIRECTORY COUNT: that many denied names. */
static void run_fill(char **arguments)
{
	long count = strtol(arguments[1], NULL, 10);
	char name[32];
	int directory;
	mkdir(arguments[0], 0755);
	directory = open(arguments[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (long i = 0; i < count; i++) {
		snprintf(name, sizeof name, ".env.%ld", i);
		if (mknodat(directory, name, S_IFREG | 0644, 0) < 0) {
			report("fill", -errno);
			return;
		}
	}
	report_reached("fill");
}

const struct attack attacks_harm[] = {
	{ "stop-terminal", run_stop_terminal, "stops the terminal's output, shrinks its window to nothing" },
	{ "watch-one", run_watch_one, "one inotify instance with one watch" },
	{ "hog-inotify", run_hog_inotify, "READY instances|watches: takes all of them until READY is removed" },
	{ "fill", run_fill, "DIRECTORY COUNT: files with denied names" },
	{ "core-limit", run_core_limit, "sets the limit on core files to 0" },
	{ NULL, NULL, NULL },
};
