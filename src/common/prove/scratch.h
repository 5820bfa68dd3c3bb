/* SPDX-License-Identifier: Apache-2.0 */
/* The scratch directory of a proof, which a process of its own makes and removes: it goes with the
 * host's processes, also if berm is killed. Never removes another directory. Internal to
 * prove.h. */
#ifndef BERM_COMMON_PROVE_SCRATCH_H
#define BERM_COMMON_PROVE_SCRATCH_H

#include <sys/types.h>

#include "common/base/error.h"

struct prove_scratch {
	char path[32];
	int keeper_end; /* -1: none */
	pid_t keeper;
};

/* Makes the directory. The caller closes it with prove_scratch_close, also after a failure. */
int prove_scratch_open(struct prove_scratch *scratch, struct error *err);
/* Names the process group that is killed before the directory is removed; 0: none. */
void prove_scratch_guard(const struct prove_scratch *scratch, pid_t group);
/* Removes the directory and waits until it is gone. */
void prove_scratch_close(struct prove_scratch *scratch);

#endif
