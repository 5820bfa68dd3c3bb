/* SPDX-License-Identifier: Apache-2.0 */
/* Runs getent with a pipe for its output. */
#include "common/context/name_service.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"

enum { LINE_BYTES = 16384, FIELDS = 7 };

/* Never found by PATH. The last is NixOS's. */
static const char *const programs[] = { "/usr/bin/getent", "/bin/getent", "/run/current-system/sw/bin/getent" };

static const char *find_program(void)
{
	struct stat info;
	for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
		if (stat(programs[i], &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == 0 && !(info.st_mode & 022))
			return programs[i];
	return NULL;
}

static int start(const char *program, char *const *words, int output, pid_t *pid)
{
	char *const environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	int number = posix_spawn_file_actions_init(&actions);
	if (number)
		return number;
	number = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!number)
		number = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (!number)
		number = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (!number)
		number = posix_spawn(pid, program, &actions, NULL, words, environment);
	posix_spawn_file_actions_destroy(&actions);
	return number;
}

/* Reads to the end. False if there is more than a line may have. */
static bool read_line(int fd, char line[LINE_BYTES])
{
	size_t length = 0;
	ssize_t count;
	while ((count = read(fd, line + length, LINE_BYTES - 1 - length)) != 0) {
		if (count < 0 && errno != EINTR)
			return false;
		length += count > 0 ? (size_t)count : 0;
		if (length == LINE_BYTES - 1)
			return false;
	}
	line[length] = '\0';
	return true;
}

bool name_service_parse(struct arena *arena, const char *line, uid_t uid, struct name_service_user *user)
{
	char *rest = arena_copy_n(arena, line, strcspn(line, "\n")), *fields[FIELDS], expected[16];
	size_t count = 0;
	while (count < FIELDS && (fields[count] = strsep(&rest, ":")))
		count++;
	snprintf(expected, sizeof expected, "%lu", (unsigned long)uid);
	if (count < FIELDS || rest || !fields[0][0] || strcmp(fields[2], expected) != 0)
		return false;
	*user = (struct name_service_user){ fields[0], fields[5] };
	return true;
}

bool name_service_find(struct arena *arena, uid_t uid, struct name_service_user *user)
{
	const char *program = find_program();
	char name[] = "getent", database[] = "passwd", number[16], line[LINE_BYTES];
	char *const words[] = { name, database, number, NULL };
	int ends[2], status = -1;
	bool is_read;
	pid_t pid;

	snprintf(number, sizeof number, "%lu", (unsigned long)uid);
	if (!program || pipe(ends) < 0)
		return false;
	if (fcntl(ends[0], F_SETFD, FD_CLOEXEC) < 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) < 0 ||
	    start(program, words, ends[1], &pid) != 0) {
		close(ends[0]);
		close(ends[1]);
		return false;
	}
	close(ends[1]);
	is_read = read_line(ends[0], line);
	close(ends[0]);
	if (!is_read)
		kill(pid, SIGKILL);
	return child_wait(pid, &status) == 0 && status == 0 && is_read && name_service_parse(arena, line, uid, user);
}
