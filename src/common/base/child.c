/* SPDX-License-Identifier: Apache-2.0 */
/* waitpid() with a retry after each signal. */
#include "common/base/child.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>

#include "common/base/progress.h"

int child_wait(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return 0;
}

int child_wait_long(pid_t pid, int *status)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	pid_t found;

	while ((found = waitpid(pid, status, WNOHANG)) == 0 || (found < 0 && errno == EINTR)) {
		progress_tick();
		nanosleep(&pause, NULL);
	}
	return found < 0 ? -1 : 0;
}

void child_end(pid_t pid)
{
	/* kill() with 0 or less would reach a process group. */
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	(void)child_wait(pid, NULL);
}
