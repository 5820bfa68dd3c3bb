/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing here fails a launch: if a call is refused, the scheduler decides as usual. */
#include "linux/cpu_placement.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"

enum { OWN_TASKS = 2 }; /* this process and its child */

unsigned cpu_placement_count(void)
{
	cpu_set_t allowed;
	int count = sched_getaffinity(0, sizeof allowed, &allowed) < 0 ? 1 : CPU_COUNT(&allowed);
	return count > 1 ? (unsigned)count : 1;
}

/* "0.41 0.35 0.22 2/161 4711": the fourth field is the number of runnable tasks, a slash, and the
 * number of all tasks. */
bool cpu_placement_is_idle(void)
{
	autoclose int fd = openat(AT_FDCWD, "/proc/loadavg", O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	const char *at;
	if (length <= 0)
		return false;
	text[length] = '\0';
	at = strchr(text, '/');
	while (at && at > text && at[-1] != ' ')
		at--;
	return at && strtol(at, NULL, 10) <= OWN_TASKS;
}

/* sched_getaffinity fails on a machine with more CPUs than a cpu_set_t holds. */
void cpu_placement_separate(struct cpu_placement *placement, pid_t child)
{
	cpu_set_t others;
	int mine = sched_getcpu();

	placement->is_separated = false;
	if (mine < 0 || mine >= CPU_SETSIZE || sched_getaffinity(0, sizeof placement->allowed, &placement->allowed) < 0)
		return;
	others = placement->allowed;
	CPU_CLR((size_t)mine, &others);
	if (CPU_COUNT(&others) > 0)
		placement->is_separated = sched_setaffinity(child, sizeof others, &others) == 0;
}

void cpu_placement_restore(const struct cpu_placement *placement, pid_t child)
{
	if (placement->is_separated)
		sched_setaffinity(child, sizeof placement->allowed, &placement->allowed);
}
