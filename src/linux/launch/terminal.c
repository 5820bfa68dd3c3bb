/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and restores. Failures are ignored: a terminal that is gone needs no restoring. */
#include "linux/launch/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "linux/signals.h"

/* Nobody else of the group is to miss the terminal: not the script or `make` that runs berm and is the leader then, not the other
 * commands of a pipeline, which has one of the three. */
static bool is_job(const struct terminal *terminal, pid_t group)
{
	return terminal->fd == 0 && terminal->is_foreground && group == getpid() && tcgetpgrp(1) == group &&
	       tcgetpgrp(2) == group;
}

void terminal_save(struct terminal *terminal)
{
	terminal->fd = -1;
	terminal->is_job = false;
	for (int fd = 0; fd <= 2; fd++)
		terminal->flags[fd] = fcntl(fd, F_GETFL);
	for (int fd = 0; fd <= 2; fd++) {
		pid_t group = tcgetpgrp(fd);
		if (group < 0 || tcgetattr(fd, &terminal->modes) < 0)
			continue;
		terminal->fd = fd;
		terminal->is_foreground = group == getpgrp();
		terminal->is_job = is_job(terminal, group);
		return;
	}
}

bool terminal_is_ours(const struct terminal *terminal)
{
	return tcgetpgrp(terminal->fd) == getpgrp();
}

/* Whose is the terminal now? Ours, or a group's of the sandbox, which is dead by now; or somebody else's: the job was put into the
 * background meanwhile, and taking the terminal back would take it from the user's shell. */
static bool is_ours(const struct terminal *terminal)
{
	pid_t group = tcgetpgrp(terminal->fd);
	if (group < 0)
		return false;
	return group == getpgrp() || (group > 1 && kill(-group, 0) < 0 && errno == ESRCH);
}

/* A command that dies with O_NONBLOCK set leaves a shell that reads nothing any more. */
static void restore_flags(const struct terminal *terminal)
{
	for (int fd = 0; fd <= 2; fd++) {
		int now = fcntl(fd, F_GETFL);
		if (terminal->flags[fd] >= 0 && now >= 0 && now != terminal->flags[fd] && isatty(fd))
			fcntl(fd, F_SETFL, terminal->flags[fd]);
	}
}

void terminal_restore(const struct terminal *terminal)
{
	sigset_t block, saved;
	struct termios now;
	restore_flags(terminal);
	/* In the background at the start: the terminal was and is somebody else's. */
	if (terminal->fd < 0 || !terminal->is_foreground || !is_ours(terminal))
		return;
	sigemptyset(&block);
	sigaddset(&block, SIGTTOU);
	if (signals_mask(SIG_BLOCK, &block, &saved) < 0)
		return;
	if (tcgetpgrp(terminal->fd) != getpgrp())
		tcsetpgrp(terminal->fd, getpgrp());
	ioctl(terminal->fd, TIOCNXCL);
	/* A difference in padding alone costs one call. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	if (tcgetattr(terminal->fd, &now) == 0 && memcmp(&now, &terminal->modes, sizeof now) != 0)
		tcsetattr(terminal->fd, TCSADRAIN, &terminal->modes);
	signals_mask(SIG_SETMASK, &saved, NULL);
}
