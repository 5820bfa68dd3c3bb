/* SPDX-License-Identifier: Apache-2.0 */
/* Blocking and restoring. A signal that the caller ignores stays ignored (nohup), because blocking does not change that. */
#include "linux/signals.h"

#include <errno.h>
#include <sys/signalfd.h>

/* Everything whose default ends or stops a process and that somebody may send to berm meaning the command. Not the synchronous
 * faults, not SIGKILL and SIGSTOP, not SIGTTIN and SIGTTOU (berm does not touch the terminal while the command runs). */
static const int forwarded[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,   SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP,
				 SIGCONT, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO,	 SIGPWR };

static void forwarded_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
		sigaddset(set, forwarded[i]);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		sigaddset(set, number);
}

int signals_take(struct signal_state *saved, struct error *err)
{
	struct sigaction by_default = { .sa_handler = SIG_DFL }, ignored = { .sa_handler = SIG_IGN };
	sigset_t set;
	int fd;

	forwarded_set(&set);
	/* With SIGCHLD ignored by the caller the kernel would reap init itself, and its status would be lost. */
	if (sigaction(SIGCHLD, &by_default, &saved->child) < 0 || sigaction(SIGPIPE, &ignored, &saved->pipe) < 0 ||
	    sigprocmask(SIG_BLOCK, &set, &saved->mask) < 0)
		return error_errno(err, errno, "cannot set up signals");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return error_errno(err, errno, "cannot watch signals");
	return fd;
}

int signals_watch_children(struct error *err)
{
	sigset_t set;
	int fd;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return error_errno(err, errno, "cannot block SIGCHLD");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return error_errno(err, errno, "cannot watch children");
	return fd;
}

void signals_give_back(const struct signal_state *saved)
{
	sigaction(SIGCHLD, &saved->child, NULL);
	sigaction(SIGPIPE, &saved->pipe, NULL);
	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

bool signals_is_from_terminal(int code)
{
	return code == SI_KERNEL;
}
