/* SPDX-License-Identifier: Apache-2.0 */
/* Scratch directories and throwaway children. Aborts if the machine does not give them: a test
 * without its ground is no test. */
#include "unit/support/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILD_SECONDS = 60 };

static char directory[64];
static pid_t owner;
static char errors[8192];

static void give_up(const char *what)
{
	perror(what);
	abort();
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *position)
{
	(void)info;
	(void)type;
	(void)position;
	return remove(path);
}

static int open_up(const char *path, const struct stat *info, int type, struct FTW *position)
{
	(void)info;
	(void)position;
	if (type == FTW_D || type == FTW_DNR)
		chmod(path, 0700);
	return 0;
}

static void clean(void)
{
	if (getpid() != owner)
		return;
	nftw(directory, open_up, 16, FTW_PHYS);
	nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_directory(void)
{
	if (directory[0])
		return directory;
	const char *place = getenv("BERM_UNIT_PLACE");
	int length = snprintf(directory, sizeof directory, "%s/berm-unit.XXXXXX", place ? place : "/tmp");
	if (length >= (int)sizeof directory || !mkdtemp(directory))
		give_up("mkdtemp");
	owner = getpid();
	atexit(clean);
	return directory;
}

const char *scratch_path(const char *format, ...)
{
	static char buffers[8][512];
	static unsigned next;
	char *buffer = buffers[next++ % 8];
	int used = snprintf(buffer, sizeof buffers[0], "%s/", scratch_directory());
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(buffer + used, sizeof buffers[0] - (size_t)used, format, arguments);
	va_end(arguments);
	return buffer;
}

void scratch_write(const char *path, const char *text, size_t length, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, length) != (ssize_t)length || fchmod(fd, mode) < 0)
		give_up(path);
	close(fd);
}

/* Reads until the child's end closes; false if the time is over first. */
static int collect(int fd)
{
	time_t end = time(NULL) + CHILD_SECONDS;
	size_t used = 0;
	for (;;) {
		struct pollfd watched = { .fd = fd, .events = POLLIN };
		ssize_t count;
		if (time(NULL) >= end)
			return 0;
		if (poll(&watched, 1, 200) <= 0)
			continue;
		count = read(fd, errors + used, sizeof errors - 1 - used);
		if (count <= 0)
			return 1;
		used += (size_t)count;
		errors[used] = '\0';
		if (used == sizeof errors - 1)
			return 1;
	}
}

int scratch_child(int (*body)(void *data), void *data)
{
	int ends[2], status, is_in_time;
	pid_t pid;
	errors[0] = '\0';
	fflush(NULL);
	if (pipe2(ends, O_CLOEXEC) < 0)
		give_up("pipe");
	pid = fork();
	if (pid < 0)
		give_up("fork");
	if (pid == 0) {
		dup2(ends[1], 2);
		close(ends[1]);
		close(ends[0]);
		_exit(body(data));
	}
	close(ends[1]);
	is_in_time = collect(ends[0]);
	close(ends[0]);
	if (!is_in_time)
		kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		give_up("waitpid");
	if (!is_in_time)
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
		fprintf(stderr, "%s", errors); /* an EXPECT that did not hold */
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

const char *scratch_errors(void)
{
	return errors;
}
