/* SPDX-License-Identifier: Apache-2.0 */
/* Kills the processes that the command left: its process group, and every process of the user that
 * has the run's mark. */
#include "macos/launch/internal.h"

#include <libproc.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 200, /* a process that forks faster than it is found must not block berm for ever */
	PROCESSES_MAX = 16384,
	PAUSE_NS = 5000000,
	UID_ONLY = 4, /* PROC_UID_ONLY of sys/proc_info.h */
};

/* Returns the number of marked processes, all of which it kills. */
static int kill_marked(const struct mac_launch *launch, pid_t child)
{
	static pid_t pids[PROCESSES_MAX];
	int bytes = proc_listpids(UID_ONLY, getuid(), pids, (int)sizeof pids);
	int count = bytes / (int)sizeof pids[0], found = 0;
	for (int i = 0; i < count; i++) {
		if (pids[i] <= 1 || pids[i] == child || pids[i] == getpid() || !mac_mark_has(&launch->mark, pids[i]))
			continue;
		if (kill(pids[i], SIGKILL) == 0)
			found++;
	}
	return found;
}

/* A process may fork while it is being looked for, so only a round without any ends it. Killed ones
 * are listed until their parent reaps them. */
void mac_kill_descendants(const struct mac_launch *launch, pid_t child)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	for (int round = 0; round < ROUNDS; round++) {
		if (launch->has_own_group)
			killpg(child, SIGKILL);
		if (kill_marked(launch, child) == 0)
			return;
		nanosleep(&pause, NULL);
	}
}
