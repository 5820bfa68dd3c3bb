/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing here can fail a launch: where a call is refused, the scheduler decides as always. */
#include "linux/processors.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"

/* "0.41 0.35 0.22 1/161 4711": the fourth says how many run or could, of how many there are. This process is one. */
static bool is_alone_running(void)
{
	autoclose int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	const char *at;
	if (length <= 0)
		return false;
	text[length] = '\0';
	at = strchr(text, '/');
	while (at && at > text && at[-1] != ' ')
		at--;
	return at && strncmp(at, "1/", 2) == 0;
}

/* A machine with more processors than a cpu_set_t can tell of is refused by the call. */
void processors_read(struct processors *processors)
{
	processors->has_idle = sched_getaffinity(0, sizeof processors->allowed, &processors->allowed) == 0 &&
			       CPU_COUNT(&processors->allowed) > 1 && is_alone_running();
}

void processors_send_away(const struct processors *processors, pid_t child)
{
	cpu_set_t others = processors->allowed;
	int mine = sched_getcpu();
	if (!processors->has_idle || mine < 0 || mine >= CPU_SETSIZE)
		return;
	CPU_CLR((size_t)mine, &others);
	if (CPU_COUNT(&others) > 0)
		sched_setaffinity(child, sizeof others, &others);
}

void processors_free(const struct processors *processors)
{
	if (processors->has_idle)
		sched_setaffinity(0, sizeof processors->allowed, &processors->allowed);
}
