/* SPDX-License-Identifier: Apache-2.0 */
/* Which ports of this machine runs of a project publish: a locked file for each, in the project's
 * private state. Its lock ends with the run. Never opens a port. */
#ifndef BERM_COMMON_STATE_PORTS_H
#define BERM_COMMON_STATE_PORTS_H

#include "common/plan/plan.h"

/* Result of state_claim_port without an fd. */
enum { STATE_PORT_TAKEN = -1, STATE_PORT_UNKNOWN = -2 };

/* Claims a port for a run of the plan's project. `name` has its address and number and no slash.
 * Returns an fd, whose close ends the claim; STATE_PORT_TAKEN if another run of the project has it;
 * STATE_PORT_UNKNOWN if the state directory cannot be used: then the caller tries the port. */
int state_claim_port(const struct plan *plan, const char *name);

/* Removes the files of a project that no run is using. */
void state_forget_ports(int project);

/* The directory's name in the project's private state. */
extern const char state_ports[];

#endif
