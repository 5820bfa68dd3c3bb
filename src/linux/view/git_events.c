/* SPDX-License-Identifier: Apache-2.0 */
/* Receives and discards. Never blocks, never replies, stores nothing. */
#include "linux/view/git_events.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/base/cleanup.h"
#include "common/plan/plan.h"
#include "linux/view/view.h"

enum {
	LINE_BYTES = 8192, /* the sentence with a path of PATH_MAX; a longer one is cut and does not match */
	LINES_AT_ONCE = 64, /* a command that sends without end must not keep init busy */
};

int git_events_open(int root)
{
	static const char path[] = PLAN_GIT_EVENTS;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	_Static_assert(sizeof path <= sizeof address.sun_path, "the path of the socket is too long");
	memcpy(address.sun_path, path + 1, sizeof path - 1);
	/* bind() takes only a path, and the process's root is still the host's: hence a relative
	 * one. */
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

/* True for a configuration in a git directory, which may have any name. In a bare repository git
 * names it without a directory. */
static bool is_repository_config(const char *path, size_t length)
{
	static const char *const names[] = { "config", "config.worktree" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (ends(path, length, names[i]) && (length == strlen(names[i]) || path[length - strlen(names[i]) - 1] == '/'))
			return true;
	return false;
}

/* Only renaming the finished file over a mount point fails with EBUSY: git reports a lock of
 * another git, a full disk or a missing permission differently. Messages in another language are
 * not recognised, and berm then explains nothing. */
static bool is_config_refusal(const char *line, size_t length)
{
	static const char reason[] = ": Device or resource busy\n";
	if (!takes(&line, &length, "error could not write config file ") || !ends(line, length, reason))
		return false;
	return is_repository_config(line, length - strlen(reason));
}

/* git's complaints when it updates a working tree. A file of a locked directory is on a read-only
 * mount, a locked or hidden one is a mount point. */
static bool is_file_refusal(const char *line, size_t length)
{
	static const char *const complaints[] = { "error unable to unlink old '", "error unable to unlink '",
						  "error unable to create file " };
	bool is_complaint = false;
	for (size_t i = 0; i < sizeof complaints / sizeof complaints[0] && !is_complaint; i++)
		is_complaint = takes(&line, &length, complaints[i]);
	return is_complaint &&
	       (ends(line, length, ": Read-only file system\n") || ends(line, length, ": Device or resource busy\n"));
}

/* A directory for a worktree, a clone or a new repository, outside of the project. */
static bool is_refusal_beside(const char *line, size_t length)
{
	static const char *const complaints[] = { "error could not create leading directories of '",
						  "error could not create work tree dir '", "error cannot mkdir " };
	bool is_complaint = false;
	for (size_t i = 0; i < sizeof complaints / sizeof complaints[0] && !is_complaint; i++)
		is_complaint = takes(&line, &length, complaints[i]);
	return is_complaint && (takes(&line, &length, "../") || takes(&line, &length, "/")) &&
	       ends(line, length, ": Read-only file system\n");
}

unsigned git_events_refusal(const char *line, size_t length)
{
	if (is_config_refusal(line, length))
		return GIT_REFUSED_CONFIG;
	if (is_refusal_beside(line, length))
		return GIT_REFUSED_BESIDE;
	return is_file_refusal(line, length) ? GIT_REFUSED_FILES : 0;
}

unsigned git_events_take(int fd)
{
	char line[LINE_BYTES];
	unsigned refused = 0;
	for (int i = 0; i < LINES_AT_ONCE; i++) {
		ssize_t got = recv(fd, line, sizeof line, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		refused |= git_events_refusal(line, (size_t)got);
	}
	return refused;
}
