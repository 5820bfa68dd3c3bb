/* SPDX-License-Identifier: Apache-2.0 */
/* The properties that a command inherits from the process that starts it, read from the client. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/checksum.h"
#include "common/base/cleanup.h"
#include "linux/session/session.h"
#include "linux/signals.h"

enum { SIGNALS = 64 };

static int read_oom_score(void)
{
	char text[16] = "";
	autoclose int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	return got > 0 ? (int)strtol(text, NULL, 10) : 0;
}

static uint64_t ignored_signals(void)
{
	uint64_t ignored = 0;
	for (int number = 1; number <= SIGNALS; number++) {
		struct sigaction action;
		if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			ignored |= UINT64_C(1) << (number - 1);
	}
	return ignored;
}

void session_caller_read(struct session_caller *caller)
{
	cpu_set_t processors;
	sigset_t mask;
	struct rlimit limit;

	*caller = (struct session_caller){ .oom_score_adj = read_oom_score(),
					   .nice = getpriority(PRIO_PROCESS, 0),
					   .scheduler = sched_getscheduler(0),
					   .ignored = ignored_signals() };
	caller->umask = umask(077);
	umask(caller->umask);
	if (signals_mask(SIG_BLOCK, NULL, &mask) == 0)
		memcpy(&caller->blocked, &mask, sizeof caller->blocked);
	for (int i = 0; i < SESSION_LIMITS; i++)
		if (getrlimit(i, &limit) == 0) {
			caller->soft[i] = limit.rlim_cur;
			caller->hard[i] = limit.rlim_max;
		}
	CPU_ZERO(&processors);
	if (sched_getaffinity(0, sizeof processors, &processors) == 0)
		caller->processors = checksum_of((const char *)&processors, sizeof processors);
}
