/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal berm was started on: remembered before the run and put back after it, because a command can be killed while it has
 * the terminal in raw mode or in another process group's hands. */
#ifndef BERM_LINUX_LAUNCH_TERMINAL_H
#define BERM_LINUX_LAUNCH_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct terminal {
	int fd; /* -1: no controlling terminal on 0, 1 or 2 */
	bool is_foreground; /* berm's group had the terminal */
	bool is_job; /* besides, berm leads that group, and standard input, output and error are all the terminal */
	struct termios modes;
	int flags[3]; /* of 0, 1 and 2: open file descriptions are shared with the caller; -1: closed */
};

void terminal_save(struct terminal *terminal);
/* Has berm's own group the terminal now? */
bool terminal_is_ours(const struct terminal *terminal);
/* After everything inside has ended. Leaves the terminal alone if another job has it now. */
void terminal_restore(const struct terminal *terminal);

#endif
