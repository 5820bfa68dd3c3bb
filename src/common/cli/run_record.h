/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one run into the record, from what the launch knows anyway. */
#ifndef BERM_COMMON_CLI_RUN_RECORD_H
#define BERM_COMMON_CLI_RUN_RECORD_H

#include "common/backend.h"
#include "common/cli/session.h"
#include "common/record/record.h"
#include "common/sweep/sweep.h"

struct run_record {
	struct record record;
	bool is_required; /* by the policy: nothing may run without it */
	struct error problem; /* why there is no record, or not all of it */
};

/* Before anything runs: opens the record and writes its first line. `left` is what an earlier run
 * left, or NULL. -1 with err: the policy requires a record, and there is none. */
int run_record_begin(struct run_record *own, const struct session *session, char *const *command,
		     const struct guarantee_state states[GUARANTEE_COUNT], const struct sweep_report *left, struct error *err);
/* While the command runs. */
void run_record_meanwhile(struct run_record *own);
/* An attempt in which nothing ran. */
void run_record_refused(struct run_record *own, const struct error *err);
/* The results of a sweep. */
void run_record_sweep(struct run_record *own, const struct sweep_report *report, bool is_leftover);
/* The end of the run. False if the policy requires a complete record and it is not. */
bool run_record_end(struct run_record *own, const struct run_result *result, int exit_code);

/* Files of the project that are hidden, as far as a rule of a policy hides them: the next match at
 * or after *at, or NULL. */
const struct plan_match *run_record_hidden(const struct plan *plan, size_t *at);

#endif
