/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes of a copy must not reach the project: hidden and protected names, and everything
 * that the sweep after an ordinary run would move or edit. The plan and the sweep decide; this file
 * only asks them. */
#ifndef BERM_COMMON_CLI_COPY_JUDGE_H
#define BERM_COMMON_CLI_COPY_JUDGE_H

#include "common/cli/session.h"
#include "common/copies/copies.h"

/* Prepares the judge of a copy with the plan of a session that was opened for its project. -1 with
 * err: nothing of the copy may be applied. */
int copies_judge_open(struct session *session, const struct copy *copy, struct copy_judge *judge, struct error *err);

#endif
