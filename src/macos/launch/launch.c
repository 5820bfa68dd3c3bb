/* SPDX-License-Identifier: Apache-2.0 */
/* Starts sandbox-exec. A failure between fork and execve is written to a close-on-exec pipe and
 * reported by the parent. */
#include "macos/launch/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"

/* A failure of the child, as sent through the pipe. */
struct failure {
	int number;
	char step[32];
};

static int set_limit(int resource, uint64_t value)
{
	struct rlimit limit;
	if (getrlimit(resource, &limit) < 0)
		return -1;
	if (value > limit.rlim_max)
		return 0; /* the caller's limit is lower */
	limit.rlim_cur = limit.rlim_max = value;
	return setrlimit(resource, &limit);
}

/* Not memory and processes: the kernel ignores RLIMIT_AS, and RLIMIT_NPROC counts all processes of
 * the user. */
static int set_limits(const struct plan *plan)
{
	const struct setting *files = &plan->limits[LIMIT_OPEN_FILES];
	if (set_limit(RLIMIT_CORE, 0) < 0)
		return -1;
	return files->is_set ? set_limit(RLIMIT_NOFILE, files->value) : 0;
}

static int keep_descriptor(int fd)
{
	int flags = fcntl(fd, F_GETFD);
	return flags < 0 ? -1 : fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC);
}

/* Gives the proof pipe the fd `number`. Moves `report` if it has that fd. */
static int place_proof(int proof, int number, int *report)
{
	if (*report == number) {
		int moved = fcntl(*report, F_DUPFD_CLOEXEC, SANDBOX_EXEC_PROOF_MAX + 1);
		if (moved < 0)
			return -1;
		*report = moved;
	}
	if (proof == number)
		return keep_descriptor(proof);
	return dup2(proof, number) < 0 ? -1 : 0;
}

_Noreturn static void child_main(const struct mac_launch *launch, int proof, int report)
{
	struct failure failure = { 0 };
	const char *step = "process group";
	ssize_t ignored;

	if (launch->has_own_group && setpgid(0, 0) < 0)
		goto failed;
	/* Parent and child both do this, so that the command never runs without the terminal. */
	if (launch->has_own_group)
		mac_terminal_give(launch->terminal, getpid());
	step = "limits";
	if (set_limits(launch->plan) < 0)
		goto failed;
	step = "working directory";
	if (chdir(launch->directory) < 0)
		goto failed;
	step = "descriptors";
	if (place_proof(proof, launch->proof, &report) < 0)
		goto failed;
	for (size_t i = 0; i < launch->request->pass_fd_count; i++)
		if (keep_descriptor(launch->request->pass_fds[i]) < 0)
			goto failed;
	mac_signals_restore(&launch->signals);
	step = SANDBOX_EXEC_PATH;
	execve(SANDBOX_EXEC_PATH, launch->arguments, launch->environment);
failed:
	failure.number = errno;
	strlcpy(failure.step, step, sizeof failure.step);
	ignored = write(report, &failure, sizeof failure);
	(void)ignored;
	_exit(EXIT_REFUSED);
}

static int open_pipe(int ends[2])
{
	if (pipe(ends) < 0)
		return -1;
	for (int i = 0; i < 2; i++)
		if (fcntl(ends[i], F_SETFD, FD_CLOEXEC) < 0)
			return -1;
	return 0;
}

/* Returns 0 once sandbox-exec runs. */
static int read_report(int report, pid_t child, struct error *err)
{
	struct failure failure;
	ssize_t got;
	do
		got = read(report, &failure, sizeof failure);
	while (got < 0 && errno == EINTR);
	if (got == 0)
		return 0;
	(void)child_wait(child, NULL);
	if (got != (ssize_t)sizeof failure)
		return error_set(err, "the command could not be started");
	failure.step[sizeof failure.step - 1] = '\0';
	return error_errno(err, failure.number, "cannot start the command: %s", failure.step);
}

pid_t mac_launch_start(const struct mac_launch *launch, int *proof, struct error *err)
{
	int proof_ends[2] = { -1, -1 }, report_ends[2] = { -1, -1 };
	autoclose int proof_in = -1, proof_out = -1, report_in = -1, report_out = -1;
	pid_t child;

	if (open_pipe(proof_ends) < 0 || open_pipe(report_ends) < 0)
		return error_errno(err, errno, "cannot create a pipe");
	proof_in = proof_ends[0];
	proof_out = proof_ends[1];
	report_in = report_ends[0];
	report_out = report_ends[1];
	child = fork();
	if (child == 0)
		child_main(launch, proof_out, report_out);
	if (child < 0)
		return error_errno(err, errno, "cannot start a process");
	if (launch->has_own_group) {
		setpgid(child, child); /* fails harmlessly once the child has executed something */
		mac_terminal_give(launch->terminal, child);
	}
	close(report_out);
	report_out = -1;
	if (read_report(report_in, child, err) < 0)
		return -1;
	*proof = steal_fd(&proof_in);
	return child;
}
