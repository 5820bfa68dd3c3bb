/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests a session takes. A stream that leads out of the sandbox, or that a background
 * process must not keep, is refused. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "linux/session/internal.h"

enum { MAJOR_MEMORY = 1 }; /* of /dev/null and the like */

/* null, zero, full, random, urandom. */
static bool is_harmless_device(dev_t device)
{
	unsigned number = minor(device);
	return major(device) == MAJOR_MEMORY && (number == 3 || number == 5 || number == 7 || number == 8 || number == 9);
}

/* A background process would read the user's later input from a terminal. */
static const char *refused_kind(int fd)
{
	struct stat info;
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fstat(fd, &info) < 0)
		return "a closed one";
	if (flags & O_PATH)
		return "a path without a file";
	if (S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) ||
	    (S_ISCHR(info.st_mode) && is_harmless_device(info.st_rdev)))
		return NULL;
	if (S_ISDIR(info.st_mode))
		return "a directory";
	return S_ISCHR(info.st_mode) ? "a terminal or a device" : "no file, pipe or socket";
}

int vet_streams(const int *streams, size_t count, struct error *err)
{
	if (count != SESSION_STREAMS)
		return error_set(err, "a request without stdin, stdout and stderr");
	for (size_t i = 0; i < count; i++) {
		const char *kind = refused_kind(streams[i]);
		if (!kind)
			continue;
		error_set(err, "a session takes files, pipes and sockets; file descriptor %zu is %s", i, kind);
		return error_hint(err, "in a terminal: berm run, or redirect all three: </dev/null 2>&1 | cat");
	}
	return 0;
}

/* The limit of file locks marks processes (linux/guard/lineage.h), core files are never written. */
static bool is_compared(int limit)
{
	return limit != RLIMIT_LOCKS && limit != RLIMIT_CORE;
}

int vet_caller(const struct session_caller *own, const struct session_caller *caller, struct error *err)
{
	for (int i = 0; i < SESSION_LIMITS; i++)
		if (is_compared(i) && caller->hard[i] > own->hard[i])
			return error_set(err, "the session was started with lower resource limits (ulimit)");
	if (caller->nice < own->nice)
		return error_set(err, "the session was started with a lower priority (nice)");
	/* Init cannot write it for the command: the files of a process that is not dumpable are
	 * root's. */
	if (caller->oom_score_adj != own->oom_score_adj)
		return error_set(err, "the session was started with another oom_score_adj");
	if (caller->scheduler != own->scheduler || caller->processors != own->processors)
		return error_set(err, "the session was started with other processors or another scheduler");
	return 0;
}
