/* SPDX-License-Identifier: Apache-2.0 */
/* `berm state prune`, a verb of `berm state`. */
#ifndef BERM_COMMON_CLI_STATE_PRUNE_H
#define BERM_COMMON_CLI_STATE_PRUNE_H

#include "common/cli/session.h"
#include "common/state/list.h"

int state_prune(struct session *session, const char *word);
/* Prints what was removed and what was not. Returns the exit status. */
int state_report_removed(const struct state_reset *result);

#endif
