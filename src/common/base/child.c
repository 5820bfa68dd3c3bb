/* SPDX-License-Identifier: Apache-2.0 */
/* waitpid() with a retry after each signal. */
#include "common/base/child.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

int child_wait(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return 0;
}

void child_end(pid_t pid)
{
	/* kill() with 0 or less would reach a process group. */
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	(void)child_wait(pid, NULL);
}
