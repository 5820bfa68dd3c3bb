/* SPDX-License-Identifier: Apache-2.0 */
/* Tries every mechanism in throwaway children: the result of a stage is 0, or the errno of the call
 * that was refused. */
#ifndef BERM_LINUX_PROBE_TRIAL_H
#define BERM_LINUX_PROBE_TRIAL_H

#include "linux/probe/causes.h"

enum { TRIAL_UNTRIED = -1 }; /* an earlier stage failed, or the child did not finish */

struct trial {
	int number[STAGE_COUNT]; /* 0: works */
	int landlock_abi;
	int network; /* 1: tried with a new network namespace */
};

/* Runs all trials. Leaves nothing behind. has_host_network: as for a run that shares the
 * network. */
void trial_run(bool has_host_network, struct trial *trial);
/* Returns the first failed stage that every launch needs; STAGE_NONE if all of them work. */
enum stage trial_failure(const struct trial *trial);

/* trial_notify.c: tries a seccomp filter, listener, ADDFD, ADDFD_SEND and WAIT_KILLABLE. The caller
 * must be a throwaway child. */
void trial_notify_run(struct trial *trial);

#endif
