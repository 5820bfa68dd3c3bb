/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what the kernel logged about this run. Runs /usr/bin/log, by its absolute path and outside the sandbox, with an empty
 * environment; it only ever reports. */
#include "macos/launch/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRAGGLERS_MS = 300, BLOCK = 4096 };

static char *const no_environment[] = { NULL };

static int spawn_log(struct mac_log *log, char *const *words, int output)
{
	posix_spawn_file_actions_t actions;
	int status;
	if (posix_spawn_file_actions_init(&actions) != 0)
		return -1;
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, output, 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	status = posix_spawn(&log->pid, words[0], &actions, NULL, words, no_environment);
	posix_spawn_file_actions_destroy(&actions);
	return status == 0 ? 0 : -1;
}

void mac_log_start(struct mac_log *log, struct arena *arena, const char *tag)
{
	char *words[] = {
		arena_copy(arena, "/usr/bin/log"),
		arena_copy(arena, "stream"),
		arena_copy(arena, "--style"),
		arena_copy(arena, "ndjson"),
		arena_copy(arena, "--predicate"),
		/* The tag is berm's own: letters, digits and a dash. */
		arena_printf(arena, "eventMessage ENDSWITH \"%s\"", tag),
		NULL,
	};
	int ends[2];

	*log = (struct mac_log){ .pid = -1, .fd = -1 };
	if (pipe(ends) < 0)
		return;
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	if (spawn_log(log, words, ends[1]) < 0) {
		log->pid = -1;
		close(ends[0]);
	} else {
		log->fd = ends[0];
	}
	close(ends[1]);
}

static bool read_block(struct mac_log *log, struct violations *violations)
{
	char block[BLOCK];
	ssize_t got = read(log->fd, block, sizeof block);
	if (got > 0)
		violations_feed(violations, block, (size_t)got);
	return got > 0;
}

void mac_log_read(struct mac_log *log, struct violations *violations, bool is_last)
{
	struct pollfd readable = { .fd = log->fd, .events = POLLIN };
	if (log->pid < 0)
		return;
	while (read_block(log, violations))
		;
	if (!is_last)
		return;
	while (poll(&readable, 1, STRAGGLERS_MS) > 0 && read_block(log, violations))
		;
	kill(log->pid, SIGKILL);
	while (waitpid(log->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(log->fd);
	*log = (struct mac_log){ .pid = -1, .fd = -1 };
}
