/* SPDX-License-Identifier: Apache-2.0 */
/* The command in a session: finds one with the same plan, starts one if the policy asks for it, and
 * joins it. Whatever fails before the command has started ends in a cold launch, or in a refusal of
 * `berm session exec`. */
#ifndef BERM_COMMON_CLI_RUN_JOINED_H
#define BERM_COMMON_CLI_RUN_JOINED_H

#include "common/backend.h"
#include "common/cli/session.h"

/* The name of a session that the user does not name. */
#define SESSION_NAME_DEFAULT "default"

/* True if the command is to be tried in a session, or a session is to be started. */
bool run_joined_applies(const struct session *session, const struct run_request *request);
/* Runs the command there, or starts the session and returns RUN_DONE in the process that asked for
 * it. `ended` sweeps after a session, in the process that held it. RUN_ELSEWHERE: nothing ran, with
 * err. */
enum run_outcome run_joined(struct session *session, struct run_request *request,
			    void (*ended)(void *self, const struct run_result *result), struct run_result *result,
			    struct error *err);

#endif
