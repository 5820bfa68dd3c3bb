/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the scan results from the launcher to init, which is forked before the scan and builds the
 * rest of the view meanwhile. */
#ifndef BERM_LINUX_LAUNCH_SCAN_RESULTS_H
#define BERM_LINUX_LAUNCH_SCAN_RESULTS_H

#include "common/base/error.h"
#include "common/plan/plan.h"

/* Sends the results. Returns 0, or -1 with errno. */
int scan_results_send(int channel, const struct scan_results *results);
/* Waits for the results. Their strings are in the arena. */
int scan_results_receive(int channel, struct arena *arena, struct scan_results *results, struct error *err);

#endif
