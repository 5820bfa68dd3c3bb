/* SPDX-License-Identifier: Apache-2.0 */
/* The report of names that a run has made in the private home beside the project. */
#ifndef BERM_COMMON_CLI_RUN_BESIDE_H
#define BERM_COMMON_CLI_RUN_BESIDE_H

#include "common/backend.h"

/* Prints one line, or nothing if there are none. */
void run_beside_report(const struct plan *plan, const struct run_beside *beside);

#endif
