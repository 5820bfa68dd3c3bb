/* SPDX-License-Identifier: Apache-2.0 */
/* A process beside the launcher that writes a refreshed login back soon after the agent has it: the
 * API may have withdrawn the old one, and a launcher that is killed cannot write. Ends with the
 * launcher. Holds none of its descriptors and is in no group of the terminal. */
#include "common/agents/agents.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/base/descriptors.h"
#include "common/base/file_time.h"

enum {
	LOOK_MS = 2000,
	NR_PIDFD = 434, /* pidfd_open: musl 1.2.3 has neither it nor the function */
};

#ifdef __linux__
/* The time of the newest copy. Only a hint: agent_box_write_back judges the content. */
static bool has_changed(const struct agent_box *box, struct timespec *seen)
{
	bool result = false;
	for (const struct agent_copy *copy = box->agent->copies; copy->path; copy++) {
		struct stat info;
		char path[4096];
		if (!copy->is_login || !path_join_into(path, sizeof path, box->private_home, copy->path) ||
		    lstat(path, &info) < 0)
			continue;
		if (info.st_mtim.tv_sec == seen->tv_sec && info.st_mtim.tv_nsec == seen->tv_nsec)
			continue;
		*seen = info.st_mtim;
		result = true;
	}
	return result;
}

static void look(const struct agent_box *box)
{
	struct text told = { 0 };
	struct arena arena = { 0 };
	struct agent_box own = *box;
	own.arena = &arena;
	agent_box_write_back(&own, false, &told);
	text_free(&told);
	arena_free(&arena);
}

static _Noreturn void keep(const struct agent_box *box, int launcher)
{
	struct pollfd end = { .fd = launcher, .events = POLLIN };
	struct timespec seen = { 0 };

	has_changed(box, &seen);
	for (;;) {
		int status = poll(&end, 1, LOOK_MS);
		if (status > 0 || (status < 0 && errno != EINTR))
			break;
		if (has_changed(box, &seen))
			look(box);
	}
	look(box);
	_exit(0);
}

/* Leaves the terminal and every descriptor of the launcher but one. */
static int detach(int *launcher)
{
	struct error ignored = { 0 };
	if (setsid() < 0 || chdir("/") < 0 || signal(SIGHUP, SIG_IGN) == SIG_ERR)
		return -1;
	return descriptors_keep_only(launcher, 1, &ignored);
}
#endif

/* The second fork gives the process to init, so that the launcher never waits for it. */
int agent_keeper_start(const struct agent_box *box, struct error *err)
{
#ifdef __linux__
	autoclose int launcher = (int)syscall(NR_PIDFD, getpid(), 0);
	pid_t pid;

	if (launcher < 0)
		return 0; /* before Linux 5.3; the launcher writes back at the end */
	pid = fork();
	if (pid < 0)
		return error_errno(err, errno, "cannot fork");
	if (pid == 0) {
		if (fork() == 0 && detach(&launcher) == 0)
			keep(box, launcher);
		_exit(0);
	}
	if (child_wait(pid, NULL) < 0)
		return error_errno(err, errno, "cannot wait for a process");
#else
	(void)box;
	(void)err;
#endif
	return 0;
}
