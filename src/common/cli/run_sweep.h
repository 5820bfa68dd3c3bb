/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run_sweep.c: prints what a sweep did, one line each. */
#ifndef BERM_COMMON_CLI_RUN_SWEEP_H
#define BERM_COMMON_CLI_RUN_SWEEP_H

#include "common/sweep/sweep.h"

/* Prints on stderr; nothing if nothing was new. */
void run_sweep_report(const struct plan *plan, const struct sweep_report *report);

#endif
