/* SPDX-License-Identifier: Apache-2.0 */
/* Signals of a run: what berm changes for itself, and how the command gets them back exactly as the caller had them. */
#ifndef BERM_LINUX_SIGNALS_H
#define BERM_LINUX_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include "common/base/error.h"

struct signal_state {
	sigset_t mask; /* the caller's */
	struct sigaction child, pipe; /* the caller's dispositions of SIGCHLD and SIGPIPE */
	bool is_hangup_ignored; /* nohup: the end of the terminal is not the end of the run */
};

/* sigprocmask(), and nothing is left out of what the kernel says: what was so can be put back. Async-signal-safe. */
int signals_mask(int how, const sigset_t *set, sigset_t *before);
/* Launcher: blocks what is forwarded, makes SIGCHLD and SIGPIPE ours, keeps the caller's in `saved`; returns a signalfd.
 * -1: all is as it was. */
int signals_take(struct signal_state *saved, struct error *err);
/* Init: a signalfd of SIGCHLD and of what is forwarded. Init shares the command's process group at first, so what reaches init from
 * outside was sent to the group and needs no forwarding. */
int signals_watch_inside(struct error *err);
/* Is there a SIGCONT that nobody has taken? It is blocked: one that ended a stop is pending. Async-signal-safe. */
bool signals_was_continued(void);
/* The command, between vfork and execve: async-signal-safe. */
void signals_give_back(const struct signal_state *saved);
/* Was this signal sent by the terminal driver to the whole foreground group (so that the command has it already)? */
bool signals_is_from_terminal(int number, int code);

#endif
