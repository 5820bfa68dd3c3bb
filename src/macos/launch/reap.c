/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing survives the command, as far as this system lets it be found: by process group, and by the tree of parents. */
#include "macos/launch/internal.h"

#include <libproc.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 20, /* a process that forks faster than it is found must not hold berm for ever */
	CHILDREN_MAX = 4096,
	DEPTH_MAX = 64,
	PAUSE_NS = 5000000,
};

/* Stopped first, so that it cannot start others while its children are looked for. Returns how many there were. */
static int end_descendants(pid_t parent, int depth)
{
	static const int entry = sizeof(pid_t);
	pid_t children[CHILDREN_MAX];
	int count = proc_listchildpids(parent, children, CHILDREN_MAX * entry);
	int found = 0;
	for (int i = 0; i < count && depth < DEPTH_MAX; i++) {
		if (children[i] <= 1)
			continue;
		kill(children[i], SIGSTOP);
		found += 1 + end_descendants(children[i], depth + 1);
		kill(children[i], SIGKILL);
	}
	return found;
}

void mac_sweep(pid_t child, bool has_own_group)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	for (int round = 0; round < ROUNDS; round++) {
		int found = end_descendants(child, 0);
		if (has_own_group && killpg(child, SIGKILL) == 0)
			found++;
		if (found == 0)
			return;
		nanosleep(&pause, NULL);
	}
}
