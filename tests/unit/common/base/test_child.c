/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for children: the exit status, signals in between, and pids that must never be killed. */
#include <greatest.h>

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/child.h"
#include "unit/support/scratch.h"

static volatile sig_atomic_t interruptions;

static void count(int number)
{
	(void)number;
	interruptions++;
}

static pid_t start(unsigned microseconds, int status)
{
	pid_t pid = fork();
	if (pid == 0) {
		usleep(microseconds);
		_exit(status);
	}
	return pid;
}

TEST waits_through_signals(void)
{
	const struct sigaction action = { .sa_handler = count };
	const struct itimerval often = { { 0, 5000 }, { 0, 5000 } }, never = { 0 };
	int status = 0;
	pid_t pid = start(100000, 7);
	ASSERT(pid > 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	ASSERT_EQ(0, child_wait(pid, &status));
	setitimer(ITIMER_REAL, &never, NULL);
	ASSERT(interruptions > 0);
	ASSERT(WIFEXITED(status));
	ASSERT_EQ(7, WEXITSTATUS(status));
	ASSERT_EQ(-1, child_wait(pid, NULL));
	ASSERT_EQ(ECHILD, errno);
	PASS();
}

TEST ends_a_child(void)
{
	pid_t pid = start(10000000, 0);
	ASSERT(pid > 0);
	child_end(pid);
	ASSERT_EQ(-1, kill(pid, 0));
	ASSERT_EQ(ESRCH, errno);
	PASS();
}

/* In a new process group, which kill(0) would end. */
static int end_no_child(void *data)
{
	(void)data;
	EXPECT(setpgid(0, 0) == 0);
	child_end(0);
	child_end(-1);
	return 3;
}

TEST kills_no_process_group(void)
{
	ASSERT_EQ(3, scratch_child(end_no_child, NULL));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(waits_through_signals);
	RUN_TEST(ends_a_child);
	RUN_TEST(kills_no_process_group);
	GREATEST_MAIN_END();
}
