/* SPDX-License-Identifier: Apache-2.0 */
/* The words after a failed command that seems to have tried to use the network in a way that the
 * sandbox does not offer. Its own error is a failed look-up of a name. */
#ifndef BERM_COMMON_CLI_NETWORK_ADVICE_H
#define BERM_COMMON_CLI_NETWORK_ADVICE_H

#include "common/base/error.h"
#include "common/plan/plan.h"

/* Sets the message and the fix, by the plan's network and the programs that the command names. */
void network_advice(const struct plan *plan, char *const *command, struct error *err);

#endif
