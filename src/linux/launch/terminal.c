/* SPDX-License-Identifier: Apache-2.0 */
/* Failures are ignored: a terminal that is gone needs no restoring. */
#include "linux/launch/terminal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "linux/signals.h"

enum {
	RESIZE_MS = 2000, /* in a shorter run a new window size is the command's doing */
	WINDOW_MIN = 2, /* no window has fewer rows or columns */
	WINDOW_MAX = 4096, /* nor more */
};

/* True if berm is the only user of the terminal in its group. Otherwise a script or `make` that
 * runs berm would lose the terminal, or other commands of a pipeline, which use one of the three
 * fds. */
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
		terminal->saved_at = clock_ms();
		if (ioctl(fd, TIOCGWINSZ, &terminal->size) < 0)
			terminal->size = (struct winsize){ 0 };
		terminal->is_foreground = group == getpgrp();
		terminal->is_job = is_job(terminal, group);
		return;
	}
}

bool terminal_is_ours(const struct terminal *terminal)
{
	return tcgetpgrp(terminal->fd) == getpgrp();
}

/* True if the terminal belongs to berm's group or to a group that has ended, which was one of the
 * sandbox. Otherwise the job was moved to the background, and the terminal is the shell's. */
static bool can_be_taken(const struct terminal *terminal)
{
	pid_t group = tcgetpgrp(terminal->fd);
	if (group < 0)
		return false;
	return group == getpgrp() || (group > 1 && kill(-group, 0) < 0 && errno == ESRCH);
}

/* A command that is killed with O_NONBLOCK set would leave the shell unable to read. */
static void restore_flags(const struct terminal *terminal)
{
	for (int fd = 0; fd <= 2; fd++) {
		int now = fcntl(fd, F_GETFL);
		if (terminal->flags[fd] >= 0 && now >= 0 && now != terminal->flags[fd] && isatty(fd))
			fcntl(fd, F_SETFL, terminal->flags[fd]);
	}
}

static bool is_real(const struct winsize *size)
{
	return size->ws_row >= WINDOW_MIN && size->ws_row <= WINDOW_MAX && size->ws_col >= WINDOW_MIN &&
	       size->ws_col <= WINDOW_MAX;
}

/* The kernel does not tell whether the user's window or the command set the size. The saved one is
 * restored after a short run, or if the new one is no window's. */
static void restore_size(const struct terminal *terminal)
{
	struct winsize now;
	if (!is_real(&terminal->size) || ioctl(terminal->fd, TIOCGWINSZ, &now) < 0)
		return;
	if (now.ws_row == terminal->size.ws_row && now.ws_col == terminal->size.ws_col)
		return;
	if (!is_real(&now) || clock_ms() - terminal->saved_at < RESIZE_MS)
		ioctl(terminal->fd, TIOCSWINSZ, &terminal->size);
}

/* True if berm's group has other processes. Those of the command have ended. */
static bool has_company(void)
{
	autoclosedir DIR *directory = opendir("/proc");
	const struct dirent *entry;
	while (directory && (entry = readdir(directory))) {
		long pid = strtol(entry->d_name, NULL, 10);
		if (pid > 1 && pid != getpid() && getpgid((pid_t)pid) == getpgrp())
			return true;
	}
	return false;
}

/* True if another process of this job reads the output, as in `berm run ... | less`. It may have
 * set the modes after they were saved, and it uses the terminal longer than the command. */
static bool is_read_by_job(void)
{
	struct pollfd output = { .fd = 1 };
	struct stat info;
	return fstat(1, &info) == 0 && S_ISFIFO(info.st_mode) && poll(&output, 1, 0) >= 0 && !(output.revents & POLLERR) &&
	       has_company();
}

/* The terminal belongs to berm's group. */
static void restore_modes(const struct terminal *terminal)
{
	struct termios now;
	if (tcgetpgrp(terminal->fd) != getpgrp())
		tcsetpgrp(terminal->fd, getpgrp());
	ioctl(terminal->fd, TIOCNXCL);
	/* A difference in padding only costs one call. */
	/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	if (tcgetattr(terminal->fd, &now) == 0 && memcmp(&now, &terminal->modes, sizeof now) != 0 && !is_read_by_job())
		tcsetattr(terminal->fd, TCSADRAIN, &terminal->modes);
}

void terminal_restore(const struct terminal *terminal)
{
	sigset_t block, saved;
	restore_flags(terminal);
	if (terminal->fd < 0)
		return;
	sigemptyset(&block);
	sigaddset(&block, SIGTTOU);
	if (signals_mask(SIG_BLOCK, &block, &saved) < 0)
		return;
	/* First, and for any job: output that the command has stopped (TCOOFF) blocks every
	 * writer, berm among them. Output that the user has stopped by a key stays stopped. */
	tcflow(terminal->fd, TCOON);
	/* If berm started in the background, the terminal belongs to another job. */
	if (terminal->is_foreground && can_be_taken(terminal)) {
		restore_size(terminal);
		restore_modes(terminal);
	}
	signals_mask(SIG_SETMASK, &saved, NULL);
}
