/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and forgets. Never blocks, never answers, keeps nothing. */
#include "linux/view/git_events.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/plan/plan.h"

enum {
	LINE_BYTES = 8192, /* the sentence with a path of PATH_MAX; what is longer is cut off and therefore is something else */
	LINES_AT_ONCE = 64, /* a command that sends without end must not keep init from its other duties */
};

int git_events_open(int root)
{
	static const char path[] = PLAN_GIT_EVENTS;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	_Static_assert(sizeof path <= sizeof address.sun_path, "the name of the socket is too long");
	memcpy(address.sun_path, path + 1, sizeof path - 1);
	/* A socket is bound by name only, and the process's root is still the host's. */
	if (fd < 0 || fchdir(root) < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
		return -1;
	return steal_fd(&fd);
}

static bool takes(const char **at, size_t *length, const char *prefix)
{
	size_t size = strlen(prefix);
	if (*length < size || memcmp(*at, prefix, size) != 0)
		return false;
	*at += size;
	*length -= size;
	return true;
}

static bool ends(const char *at, size_t length, const char *suffix)
{
	size_t size = strlen(suffix);
	return length >= size && memcmp(at + length - size, suffix, size) == 0;
}

/* A file of a git directory, not any file that `git config --file` may name. */
static bool is_repository_config(const char *path, size_t length)
{
	bool is_inside = (length > 5 && memcmp(path, ".git/", 5) == 0) || memmem(path, length, "/.git/", 6);
	return is_inside && (ends(path, length, "/config") || ends(path, length, "/config.worktree"));
}

/* Renaming the finished file over a mount point is EBUSY, and nothing else of git's is: a lock that another git holds, a full disk or a
 * missing right read differently. With messages in another language git is not understood, and berm says nothing. */
bool git_events_is_refusal(const char *line, size_t length)
{
	static const char reason[] = ": Device or resource busy\n";
	if (!takes(&line, &length, "error could not write config file ") || !ends(line, length, reason))
		return false;
	return is_repository_config(line, length - strlen(reason));
}

bool git_events_take(int fd)
{
	char line[LINE_BYTES];
	bool is_refused = false;
	for (int i = 0; i < LINES_AT_ONCE; i++) {
		ssize_t got = recv(fd, line, sizeof line, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		is_refused = is_refused || git_events_is_refusal(line, (size_t)got);
	}
	return is_refused;
}
