/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a running host was started before berm was set up. Reads /proc; where there is none, the
 * answer is no. */
#include "common/setup/setup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"

enum { START_FIELD = 22, FIRST_FIELD = 3 }; /* of /proc/PID/stat; the third follows the name */

static bool read_small(const char *path, char *buffer, size_t size)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t count = fd < 0 ? -1 : read(fd, buffer, size - 1);
	if (count <= 0)
		return false;
	buffer[count] = '\0';
	return true;
}

/* Seconds since 1970 at which the system started, or -1. */
static int64_t boot_time(void)
{
	char text[16384];
	const char *line = read_small("/proc/stat", text, sizeof text) ? strstr(text, "\nbtime ") : NULL;
	return line ? strtoll(line + strlen("\nbtime "), NULL, 10) : -1;
}

/* Milliseconds since 1970 at which the process started, or -1. */
static int64_t start_time(const char *pid)
{
	char path[64], text[4096];
	const char *at;
	int64_t boot = boot_time();
	long ticks = sysconf(_SC_CLK_TCK);

	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	at = read_small(path, text, sizeof text) ? strrchr(text, ')') : NULL;
	for (int field = FIRST_FIELD - 1; at && field < START_FIELD; field++)
		at = strchr(at + 1, ' ');
	return at && boot >= 0 && ticks > 0 ? boot * 1000 + strtoll(at + 1, NULL, 10) * 1000 / ticks : -1;
}

bool setup_is_older_session(struct arena *arena, const struct context *context, const struct setup_host *host)
{
	const char *pid = getenv("CLAUDE_PID"), *file = setup_host_file(arena, host, context), *real;
	struct error ignored = { 0 };
	uint64_t number;
	int64_t written, started;

	if (!pid || !text_parse_u64(pid, INT32_MAX, &number) || !file ||
	    path_resolve(context->fs, arena, file, &real, NULL, NULL, &ignored) < 0)
		return false;
	written = setup_record_time(arena, context, host->name, real);
	started = start_time(pid);
	/* btime is rounded to seconds. */
	return written >= 0 && started >= 0 && started + 1000 < written;
}
