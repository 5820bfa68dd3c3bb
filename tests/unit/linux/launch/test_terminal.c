/* SPDX-License-Identifier: Apache-2.0 */
/* Saving and restoring the terminal. Each case leads a session on a new pseudo-terminal. */
#include <greatest.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/launch/terminal.h"
#include "unit/support/scratch.h"

/* Makes the caller the leader of a new session on a new terminal. Returns the terminal's fd. */
static int open_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int terminal;
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 || setsid() < 0)
		return -1;
	terminal = open(ptsname(master), O_RDWR | O_CLOEXEC);
	if (terminal < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0)
		return -1;
	dup2(terminal, 0);
	return terminal;
}

static bool is_echoing(int terminal)
{
	struct termios modes;
	return tcgetattr(terminal, &modes) == 0 && (modes.c_lflag & ECHO);
}

static void make_raw(int terminal)
{
	struct termios modes;
	tcgetattr(terminal, &modes);
	cfmakeraw(&modes);
	tcsetattr(terminal, TCSANOW, &modes);
}

/* Forks a process that leads its own group. */
static pid_t start_group(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		pause();
		_exit(0);
	}
	setpgid(pid, pid);
	return pid;
}

static int modes_come_back(void *data)
{
	int tty = open_terminal();
	struct terminal terminal;
	(void)data;
	EXPECT(tty >= 0);
	terminal_save(&terminal);
	EXPECT(terminal.fd == 0 && terminal.is_foreground);
	make_raw(tty);
	EXPECT(!is_echoing(tty));
	terminal_restore(&terminal);
	EXPECT(is_echoing(tty));
	return 0;
}

TEST restores_modes(void)
{
	ASSERT_EQ(0, scratch_child(modes_come_back, NULL));
	PASS();
}

/* A job of the sandbox had the terminal when it was killed. */
static int dead_group_loses(void *data)
{
	int tty = open_terminal(), status;
	struct terminal terminal;
	pid_t job;
	(void)data;
	EXPECT(tty >= 0);
	terminal_save(&terminal);
	job = start_group();
	EXPECT(tcsetpgrp(tty, job) == 0);
	make_raw(tty);
	kill(job, SIGKILL);
	EXPECT(waitpid(job, &status, 0) == job);
	EXPECT(tcgetpgrp(tty) == job);
	terminal_restore(&terminal);
	EXPECT(tcgetpgrp(tty) == getpgrp());
	EXPECT(is_echoing(tty));
	return 0;
}

TEST takes_the_terminal_back_from_a_group_that_ended(void)
{
	ASSERT_EQ(0, scratch_child(dead_group_loses, NULL));
	PASS();
}

/* After Ctrl-Z and bg the shell or its next job has the terminal. */
static int living_group_keeps(void *data)
{
	int tty = open_terminal(), status;
	struct terminal terminal;
	pid_t job;
	(void)data;
	EXPECT(tty >= 0);
	terminal_save(&terminal);
	job = start_group();
	make_raw(tty); /* an editor's modes */
	EXPECT(tcsetpgrp(tty, job) == 0);
	terminal_restore(&terminal);
	EXPECT(tcgetpgrp(tty) == job);
	EXPECT(!is_echoing(tty));
	kill(job, SIGKILL);
	EXPECT(waitpid(job, &status, 0) == job);
	return 0;
}

TEST leaves_another_job_alone(void)
{
	ASSERT_EQ(0, scratch_child(living_group_keeps, NULL));
	PASS();
}

static int background_touches_nothing(void *data)
{
	int tty = open_terminal(), status;
	struct terminal terminal;
	pid_t job;
	(void)data;
	EXPECT(tty >= 0);
	job = start_group();
	EXPECT(tcsetpgrp(tty, job) == 0);
	terminal_save(&terminal);
	EXPECT(terminal.fd == 0 && !terminal.is_foreground);
	kill(job, SIGKILL);
	EXPECT(waitpid(job, &status, 0) == job);
	terminal_restore(&terminal);
	EXPECT(tcgetpgrp(tty) == job);
	return 0;
}

TEST changes_nothing_if_started_in_the_background(void)
{
	ASSERT_EQ(0, scratch_child(background_touches_nothing, NULL));
	PASS();
}

/* The shell of a script leads the group and waits: the group must keep the terminal. */
static bool is_job_in_child(void)
{
	struct terminal terminal;
	int status;
	pid_t child = fork();
	if (child == 0) {
		terminal_save(&terminal);
		_exit(terminal.is_foreground && terminal.is_job);
	}
	return waitpid(child, &status, 0) == child && status != 0;
}

static int leads_alone(void *data)
{
	int tty = open_terminal();
	struct terminal terminal;
	(void)data;
	EXPECT(tty >= 0);
	terminal_save(&terminal);
	/* A pipeline: stdout and stderr are not the terminal. */
	EXPECT(terminal.is_foreground && !terminal.is_job);
	dup2(tty, 1);
	terminal_save(&terminal);
	EXPECT(!terminal.is_job);
	dup2(tty, 2);
	terminal_save(&terminal);
	EXPECT(terminal.is_job && terminal_is_ours(&terminal));
	EXPECT(!is_job_in_child());
	return 0;
}

TEST is_a_job_if_nothing_shares_the_terminal(void)
{
	ASSERT_EQ(0, scratch_child(leads_alone, NULL));
	PASS();
}

static int no_terminal(void *data)
{
	struct terminal terminal;
	(void)data;
	setsid();
	terminal_save(&terminal);
	EXPECT(terminal.fd == -1);
	terminal_restore(&terminal);
	return 0;
}

TEST works_without_a_terminal(void)
{
	ASSERT_EQ(0, scratch_child(no_terminal, NULL));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(restores_modes);
	RUN_TEST(takes_the_terminal_back_from_a_group_that_ended);
	RUN_TEST(leaves_another_job_alone);
	RUN_TEST(changes_nothing_if_started_in_the_background);
	RUN_TEST(is_a_job_if_nothing_shares_the_terminal);
	RUN_TEST(works_without_a_terminal);
	GREATEST_MAIN_END();
}
