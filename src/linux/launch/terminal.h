/* SPDX-License-Identifier: Apache-2.0 */
/* Saves the terminal's state before the run and restores it afterwards: a command can be killed
 * while the terminal is in raw mode or belongs to another process group. */
#ifndef BERM_LINUX_LAUNCH_TERMINAL_H
#define BERM_LINUX_LAUNCH_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>

struct terminal {
	int fd; /* -1 if none of 0, 1 and 2 is the controlling terminal */
	bool is_foreground; /* berm's group had the terminal */
	bool is_job; /* also, berm leads that group, and fds 0, 1 and 2 are all the terminal */
	struct termios modes;
	struct winsize size;
	int64_t saved_at; /* monotonic milliseconds */
	int flags[3]; /* of 0, 1 and 2, which the caller shares; -1 if closed */
};

/* Finds the controlling terminal and saves its state. */
void terminal_save(struct terminal *terminal);
/* True if berm's group has the terminal now. */
bool terminal_is_ours(const struct terminal *terminal);
/* Restores the terminal after every process inside has ended, before anything is written to it. If
 * another job has the terminal now, only stopped output is started again. The modes stay if another
 * process of the job reads the command's output. */
void terminal_restore(const struct terminal *terminal);

#endif
