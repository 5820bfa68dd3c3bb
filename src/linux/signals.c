/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks, watches and restores signals. The kernel queues a blocked signal even if the caller
 * ignores it (nohup), so berm reads and forwards ignored signals too. The command ignores them
 * until it sets a handler, as without berm. */
#include "linux/signals.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Signals that may be sent to berm and are meant for the command: all whose default action ends or
 * stops a process. Not the synchronous faults, not SIGKILL and SIGSTOP, not SIGTTIN and SIGTTOU:
 * berm does not use the terminal while the command runs. */
static const int forwarded[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,   SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP,
				 SIGCONT, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO,	 SIGPWR,  SIGWINCH };

/* The real-time signals that glibc leaves to programs. musl reserves one more, which its SIGRTMIN,
 * sigaddset and sigprocmask leave out. A command linked with glibc may use that one, so this file
 * works on the kernel's set. */
enum { REALTIME_FIRST = 34, REALTIME_LAST = 64 };

/* The kernel's set is the beginning of a sigset_t in every C library. */
_Static_assert(sizeof(sigset_t) >= sizeof(uint64_t), "the kernel's set fits");

static void forwarded_set(sigset_t *set)
{
	uint64_t bits = 0;
	for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
		bits |= UINT64_C(1) << (forwarded[i] - 1);
	for (int number = REALTIME_FIRST; number <= REALTIME_LAST; number++)
		bits |= UINT64_C(1) << (number - 1);
	sigemptyset(set);
	memcpy(set, &bits, sizeof bits);
}

int signals_mask(int how, const sigset_t *set, sigset_t *before)
{
	if (before)
		sigemptyset(before);
	return (int)syscall(SYS_rt_sigprocmask, how, set, before, sizeof(uint64_t));
}

int signals_take(struct signal_state *saved, struct error *err)
{
	struct sigaction by_default = { .sa_handler = SIG_DFL }, ignored = { .sa_handler = SIG_IGN }, hangup;
	sigset_t set;
	int fd;

	forwarded_set(&set);
	if (sigaction(SIGHUP, NULL, &hangup) < 0)
		return error_errno(err, errno, "cannot set up signals");
	saved->is_hangup_ignored = hangup.sa_handler == SIG_IGN;
	if (signals_mask(SIG_BLOCK, &set, &saved->mask) < 0)
		return error_errno(err, errno, "cannot set up signals");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	/* If the caller ignored SIGCHLD, the kernel would reap init itself and its status would be
	 * lost. */
	if (fd >= 0 && sigaction(SIGCHLD, &by_default, &saved->child) == 0 && sigaction(SIGPIPE, &ignored, &saved->pipe) == 0)
		return fd;
	error_errno(err, errno, fd < 0 ? "cannot watch signals" : "cannot set up signals");
	/* Another attempt needs the caller's mask. The dispositions need no undo: sigaction fails
	 * for no signal that exists. */
	signals_mask(SIG_SETMASK, &saved->mask, NULL);
	if (fd >= 0)
		close(fd);
	return -1;
}

int signals_watch_inside(struct error *err)
{
	sigset_t set;
	int fd;
	forwarded_set(&set);
	sigaddset(&set, SIGCHLD);
	if (signals_mask(SIG_BLOCK, &set, NULL) < 0)
		return error_errno(err, errno, "cannot block signals");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return error_errno(err, errno, "cannot watch signals");
	return fd;
}

bool signals_was_continued(void)
{
	sigset_t pending;
	return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1;
}

void signals_give_back(const struct signal_state *saved)
{
	sigaction(SIGCHLD, &saved->child, NULL);
	sigaction(SIGPIPE, &saved->pipe, NULL);
	signals_mask(SIG_SETMASK, &saved->mask, NULL);
}

bool signals_is_from_terminal(int number, int code)
{
	static const int sent[] = { SIGINT, SIGQUIT, SIGTSTP, SIGHUP, SIGCONT, SIGWINCH };
	/* The kernel sends others too: an alarm(2) that the caller set before it executed berm is
	 * meant for the command. */
	for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++)
		if (number == sent[i])
			return code == SI_KERNEL;
	return false;
}
