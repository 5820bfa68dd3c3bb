/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing here can fail a launch: where a call is refused, the scheduler decides as always. */
#include "linux/cpu_placement.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"

/* This process and its child. */
enum { OWN_MAX = 2 };

unsigned processors_count(void)
{
	cpu_set_t allowed;
	int count = sched_getaffinity(0, sizeof allowed, &allowed) < 0 ? 1 : CPU_COUNT(&allowed);
	return count > 1 ? (unsigned)count : 1;
}

/* "0.41 0.35 0.22 2/161 4711": the fourth says how many run or could, of how many there are. */
bool processors_are_idle(void)
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
	return at && strtol(at, NULL, 10) <= OWN_MAX;
}

/* A machine with more processors than a cpu_set_t can tell of is refused by the call. */
void processors_part(struct processors *processors, pid_t child)
{
	cpu_set_t others;
	int mine = sched_getcpu();

	processors->has_parted = false;
	if (mine < 0 || mine >= CPU_SETSIZE || sched_getaffinity(0, sizeof processors->allowed, &processors->allowed) < 0)
		return;
	others = processors->allowed;
	CPU_CLR((size_t)mine, &others);
	if (CPU_COUNT(&others) > 0)
		processors->has_parted = sched_setaffinity(child, sizeof others, &others) == 0;
}

void processors_join(const struct processors *processors, pid_t child)
{
	if (processors->has_parted)
		sched_setaffinity(child, sizeof processors->allowed, &processors->allowed);
}
