/* SPDX-License-Identifier: Apache-2.0 */
/* An init that is born before its plan is known. Most of the time that a sandbox takes to make goes into namespaces, which are the same for
 * all usual plans: so they are made while the launcher still looks for the stored plan and reads it.
 *
 * What the launcher makes of the plan lies in memory that both have at the same address: the place is reserved before init is forked. What is
 * older is init's as a copy, as after every fork. When all is there the launcher says so once; init then sees that memory as it is, private
 * and read-only, and the launcher writes no more to it. */
#ifndef BERM_LINUX_LAUNCH_PREFORK_H
#define BERM_LINUX_LAUNCH_PREFORK_H

#include "common/backend.h"
#include "linux/launch/launch.h"

/* What backend_begin has made. */
struct begun {
	struct launch launch; /* as far as it goes without a plan */
	struct terminal terminal;
	int signals, pidfd;
	int memory; /* -1: it is in init's hands */
	pid_t init; /* 0: it was used, or ended */
	struct arena *arena;
};

/* Is everything that has to be known before the fork the same as for any other plan of which this is true? */
bool early_fits(const struct plan *plan, const struct limits_choice *limits);
/* Launcher: the launch is complete but for what the scan finds; init may have it. -1: it could not be handed over; init has been told nothing. */
int early_hand_over(struct begun *begun, const struct launch *launch);
/* Init: waits for it. The launch then has a plan, which lives in `plan` and allocates from `arena`. Never returns if there will be none. */
void early_await(struct launch *launch, struct plan *plan, struct arena *arena);

#endif
