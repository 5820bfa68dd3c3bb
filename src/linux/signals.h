/* SPDX-License-Identifier: Apache-2.0 */
/* The signals of a run: berm blocks and forwards them; the command starts with the caller's mask
 * and dispositions. */
#ifndef BERM_LINUX_SIGNALS_H
#define BERM_LINUX_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include "common/base/error.h"

struct signal_state {
	sigset_t mask; /* the caller's */
	struct sigaction child, pipe; /* the caller's dispositions of SIGCHLD and SIGPIPE */
	bool is_hangup_ignored; /* nohup: a hangup of the terminal does not end the run */
};

/* sigprocmask() without a C library's filtering: `before` has every bit of the kernel's mask, so
 * that it can be restored. Async-signal-safe. */
int signals_mask(int how, const sigset_t *set, sigset_t *before);
/* Called by the launcher: blocks the signals that are forwarded, sets the dispositions of SIGCHLD
 * and SIGPIPE, and saves the caller's in `saved`. Returns a signalfd that the caller closes, or -1
 * with nothing changed. */
int signals_take(struct signal_state *saved, struct error *err);
/* Called by init: returns a signalfd of SIGCHLD and of the signals that are forwarded, or -1. Init
 * shares the launcher's process group, so a signal that reaches init from outside was sent to the
 * whole group. */
int signals_watch_inside(struct error *err);
/* True if a SIGCONT is pending. It is blocked, so the one that ended a stop stays pending.
 * Async-signal-safe. */
bool signals_was_continued(void);
/* Restores the caller's mask and dispositions. Called by the command between vfork and execve:
 * async-signal-safe. */
void signals_give_back(const struct signal_state *saved);
/* True if the terminal driver sent this signal to the foreground process group, of which the
 * command may be a member. */
bool signals_is_from_terminal(int number, int code);

#endif
