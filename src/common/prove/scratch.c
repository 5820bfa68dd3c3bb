/* SPDX-License-Identifier: Apache-2.0 */
#include "common/prove/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/fs/path.h"
#include "common/state/remove_tree.h"

enum { PARENT_POLL_MS = 500, REMOVE_TRIES = 50, REMOVE_PAUSE_MS = 100 };

/* In /tmp, which is private in a sandbox; TMPDIR may be in the project. */
static const char place[] = "/tmp", pattern[] = "/tmp/berm-proof.XXXXXX";

/* A killed process may still be writing into the directory. */
static void remove_all(const char *path)
{
	autoclose int parent = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; parent >= 0 && i < REMOVE_TRIES; i++) {
		struct error ignored = { 0 };
		(void)state_remove(parent, path_base_name(path), path, &ignored);
		if (faccessat(parent, path_base_name(path), F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
			return;
		(void)poll(NULL, 0, REMOVE_PAUSE_MS);
	}
}

/* The signals of a terminal or of `timeout` end berm, not its keeper. */
static void stand_apart(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	(void)setsid();
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		(void)dup2(null, fd);
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

/* Waits for the end of berm. Other children of berm may hold its end of the socket, so that its pid
 * counts too. Returns the group to kill, or 0. */
static pid_t wait_for_end(int end, pid_t parent)
{
	pid_t group = 0;
	while (getppid() == parent) {
		struct pollfd wanted = { .fd = end, .events = POLLIN };
		ssize_t length;
		if (poll(&wanted, 1, PARENT_POLL_MS) <= 0)
			continue;
		length = recv(end, &group, sizeof group, 0);
		if (length == 0 || (length < 0 && errno != EINTR))
			break;
	}
	return group;
}

/* Runs in the keeper. */
static void keep(int end, pid_t parent)
{
	char path[sizeof pattern];
	pid_t group;

	stand_apart();
	strcpy(path, pattern);
	if (!mkdtemp(path))
		return;
	(void)send(end, path, sizeof path, 0);
	group = wait_for_end(end, parent);
	if (group > 1)
		kill(-group, SIGKILL);
	remove_all(path);
}

int prove_scratch_open(struct prove_scratch *scratch, struct error *err)
{
	int ends[2];
	pid_t parent = getpid();
	ssize_t length;

	*scratch = (struct prove_scratch){ .keeper_end = -1, .keeper = -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return error_errno(err, errno, "cannot create a socket");
	if (fcntl(ends[0], F_SETFD, FD_CLOEXEC) < 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) < 0)
		return error_errno(err, errno, "cannot create a socket");
	scratch->keeper = fork();
	if (scratch->keeper == 0) {
		close(ends[0]);
		keep(ends[1], parent);
		_exit(0);
	}
	close(ends[1]);
	scratch->keeper_end = ends[0];
	if (scratch->keeper < 0)
		return error_errno(err, errno, "cannot start a process");
	do {
		length = recv(ends[0], scratch->path, sizeof pattern, MSG_WAITALL);
	} while (length < 0 && errno == EINTR);
	return length == sizeof pattern ? 0 : error_set(err, "cannot create a directory in %s", place);
}

void prove_scratch_guard(const struct prove_scratch *scratch, pid_t group)
{
	(void)send(scratch->keeper_end, &group, sizeof group, 0);
}

void prove_scratch_close(struct prove_scratch *scratch)
{
	if (scratch->keeper_end >= 0)
		close(scratch->keeper_end);
	scratch->keeper_end = -1;
	if (scratch->keeper > 0)
		(void)child_wait(scratch->keeper, NULL);
	scratch->keeper = -1;
}
