/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the kernel's log messages about this run with /usr/bin/log, which runs outside the sandbox
 * with an empty environment. The messages are only reported: they decide nothing. Nothing is read
 * while the command runs: a stream would need as long to attach as many commands take, and would
 * outlive a launcher that is killed. */
#include "macos/launch/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/clock.h"

enum { PATIENCE_MS = 2000, BLOCK = 4096 };

static char *const no_environment[] = { NULL };

static int spawn_log(char *const *words, int output, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int status;
	if (posix_spawn_file_actions_init(&actions) != 0)
		return -1;
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, output, 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	status = posix_spawn(pid, words[0], &actions, NULL, words, no_environment);
	posix_spawn_file_actions_destroy(&actions);
	return status == 0 ? 0 : -1;
}

static pid_t start(struct arena *arena, const char *tag, int64_t since, int *output)
{
	char *words[] = {
		arena_copy(arena, "/usr/bin/log"),
		arena_copy(arena, "show"),
		arena_copy(arena, "--style"),
		arena_copy(arena, "ndjson"),
		arena_copy(arena, "--start"),
		arena_printf(arena, "@%lld", (long long)since),
		arena_copy(arena, "--predicate"),
		/* make_tag() uses letters, digits and a dash only. Some reports go on behind the
		 * tag. */
		arena_printf(arena, "eventMessage CONTAINS \"%s\"", tag),
		NULL,
	};
	int ends[2];
	pid_t pid = -1;

	if (pipe(ends) < 0)
		return -1;
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	if (spawn_log(words, ends[1], &pid) < 0) {
		close(ends[0]);
		pid = -1;
	} else {
		*output = ends[0];
	}
	close(ends[1]);
	return pid;
}

/* True if the program closed its output in time. */
static bool read_all(int output, struct violations *violations)
{
	struct pollfd readable = { .fd = output, .events = POLLIN };
	int64_t deadline = (int64_t)clock_ms() + PATIENCE_MS;
	for (;;) {
		char block[BLOCK];
		int64_t left = deadline - (int64_t)clock_ms();
		ssize_t got;
		if (left <= 0)
			return false;
		if (poll(&readable, 1, (int)left) <= 0)
			continue;
		got = read(output, block, sizeof block);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		violations_feed(violations, block, (size_t)got);
	}
}

const char *mac_log_read(struct arena *arena, const char *tag, int64_t since, struct violations *violations)
{
	int output = -1, status = 0;
	pid_t pid = start(arena, tag, since, &output);
	bool is_complete;

	if (pid < 0)
		return "/usr/bin/log cannot be started";
	is_complete = read_all(output, violations);
	close(output);
	if (!is_complete) {
		child_end(pid);
		return "/usr/bin/log takes too long";
	}
	if (child_wait(pid, &status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return "/usr/bin/log refuses, as it does for users who are not administrators";
	return NULL;
}
