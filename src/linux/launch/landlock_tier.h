/* SPDX-License-Identifier: Apache-2.0 */
/* Init's stages in the tier landlock, where neither namespaces nor mounts can be had. Landlock and the filter are all the wall there is. */
#ifndef BERM_LINUX_LAUNCH_LANDLOCK_TIER_H
#define BERM_LINUX_LAUNCH_LANDLOCK_TIER_H

#include "linux/launch/launch.h"

/* Is there something in the plan that only mounts can do and no guarantee stands for? */
int alone_judge(const struct plan *plan, struct error *err);
/* Forks init, in the host's namespaces. As fork(2), with a pidfd. */
pid_t alone_fork(int *pidfd, struct error *err);
/* Init: everything up to, but without, the filter. After it init can open what the plan grants and nothing else. */
int alone_enter(struct launch *launch, struct error *err);
/* The command between vfork and execve: what init itself must stay free of. */
int alone_lock_command(const struct launch *launch, struct error *err);
/* Init, once the command runs: the listener that it made. -1 if there is none. */
int alone_take_listener(const struct launch *launch, struct error *err);
/* Init, when all is to end. */
void alone_end_all(const struct launch *launch);

#endif
