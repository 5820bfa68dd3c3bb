/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts that only macOS knows; empty on other systems. Compiled for macOS, never run on a
 * Mac. */
#include "common/doctor/doctor.h"

#ifdef __APPLE__
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/clonefile.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/doctor/internal.h"

enum { PATH_SIZE = 4096 };

/* Reached if the file has the token. */
static int read_token(const struct doctor_world *world, const char *path)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[256] = "";
	if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
		return errno;
	return strstr(text, world->token) ? ATTEMPT_REACHED : ENODATA;
}

int attempt_clone_directory(const struct doctor_world *world)
{
	const char *directory = getenv("TMPDIR");
	char clone[PATH_SIZE], path[PATH_SIZE + 8];
	snprintf(clone, sizeof clone, "%s/clone-%s", directory ? directory : "/tmp", world->round);
	if (clonefile(world->project, clone, 0) < 0)
		return errno;
	snprintf(path, sizeof path, "%s/.env", clone);
	return read_token(world, path);
}

int attempt_data_volume(const struct doctor_world *world)
{
	char path[PATH_SIZE];
	snprintf(path, sizeof path, "/System/Volumes/Data%s/.env", world->project);
	return read_token(world, path);
}
#endif
