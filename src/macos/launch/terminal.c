/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the command's process group the foreground group of the terminal, and berm's afterwards.
 * Failures are ignored: they mean that the terminal is gone. */
#include "macos/launch/internal.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_same_file(int left, int right)
{
	struct stat a, b;
	return fstat(left, &a) == 0 && fstat(right, &b) == 0 && a.st_rdev == b.st_rdev && a.st_ino == b.st_ino;
}

void mac_terminal_open(struct arena *arena, struct mac_terminal *terminal)
{
	*terminal = (struct mac_terminal){ .fd = -1 };
	for (int fd = 0; fd <= 2; fd++) {
		char name[256] = "";
		pid_t group = tcgetpgrp(fd);
		if (isatty(fd) && ttyname_r(fd, name, sizeof name) == 0)
			terminal->names[terminal->name_count++] = arena_copy(arena, name);
		if (terminal->fd >= 0 || group < 0 || tcgetattr(fd, &terminal->modes) < 0)
			continue;
		terminal->fd = fd;
		terminal->is_foreground = group == getpgrp();
	}
	terminal->is_whole = terminal->fd == 0 && isatty(1) && is_same_file(0, 1);
}

static void set_group(int fd, pid_t group)
{
	sigset_t block, saved;
	sigemptyset(&block);
	sigaddset(&block, SIGTTOU);
	if (sigprocmask(SIG_BLOCK, &block, &saved) < 0)
		return;
	tcsetpgrp(fd, group);
	sigprocmask(SIG_SETMASK, &saved, NULL);
}

void mac_terminal_give(const struct mac_terminal *terminal, pid_t group)
{
	if (terminal->fd >= 0 && terminal->is_foreground)
		set_group(terminal->fd, group);
}

void mac_terminal_restore(const struct mac_terminal *terminal, bool has_ended)
{
	struct termios now;
	if (terminal->fd < 0 || !terminal->is_foreground)
		return;
	set_group(terminal->fd, getpgrp());
	/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): a difference in padding alone
	 * costs one call */
	if (has_ended && tcgetattr(terminal->fd, &now) == 0 && memcmp(&now, &terminal->modes, sizeof now) != 0)
		tcsetattr(terminal->fd, TCSADRAIN, &terminal->modes);
}
