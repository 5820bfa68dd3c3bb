/* SPDX-License-Identifier: Apache-2.0 */
/* Resource limits of the plan that the kernel keeps per process or per user namespace. The time limit is the supervisor's. */
#ifndef BERM_LINUX_LIMITS_H
#define BERM_LINUX_LIMITS_H

#include "common/error.h"
#include "common/plan.h"

/* In init, after the user namespace: RLIMIT_NPROC then counts this sandbox only. */
int limits_apply(const struct plan *plan, struct error *err);

#endif
