/* SPDX-License-Identifier: Apache-2.0 */
/* Every mechanism tried out in throwaway children: each stage ends with 0, or with the errno of the call that was refused. */
#ifndef BERM_LINUX_PROBE_TRIAL_H
#define BERM_LINUX_PROBE_TRIAL_H

#include "linux/probe/causes.h"

enum { TRIAL_UNTRIED = -1 }; /* an earlier stage failed, or the child died */

struct probe_trial {
	int number[STAGE_COUNT]; /* 0: works */
	int landlock_abi;
	int network; /* the chain was tried with a network namespace of its own */
};

/* Changes nothing that outlives it. has_host_network: as for a run that shares the network. */
void probe_trial_run(bool has_host_network, struct probe_trial *trial);
/* The first stage that every launch needs and that does not work; STAGE_NONE if there is none. */
enum stage probe_trial_failure(const struct probe_trial *trial);

/* probe_notify.c: listener, ADDFD, ADDFD_SEND, WAIT_KILLABLE. In a child of the caller's own. */
void probe_notify_run(struct probe_trial *trial);

#endif
