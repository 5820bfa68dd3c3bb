/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that a run prints on stderr about itself: weaker guarantees, ignored policies, and what
 * was refused. Never changes the run. */
#ifndef BERM_COMMON_CLI_RUN_REPORT_H
#define BERM_COMMON_CLI_RUN_REPORT_H

#include "common/backend.h"
#include "common/cli/session.h"

/* Messages that were already printed, so that an attempt in a lower tier does not repeat them. */
struct printed {
	const char *weaker[GUARANTEE_COUNT]; /* the reasons */
	enum level full[GUARANTEE_COUNT]; /* of the full tier, which the host refused */
	bool has_tier, has_untrusted, has_unmet;
};

void run_report_weaker(const struct plan *plan, const struct guarantee_state *states, const char *printed[GUARANTEE_COUNT]);
void run_report_tier(const struct guarantee_state *states, struct printed *printed);
/* Reports an untrusted policy of the project, once per content. */
void run_report_untrusted(struct session *session, struct printed *printed);
void run_report_ignored(const struct session *session, struct printed *printed);
/* Reports grants that grant nothing, once per content of the policies. */
void run_report_unmet(struct session *session, struct printed *printed);
/* Called when the command has ended. */
void run_report_result(const struct session *session, char *const *command, const struct run_result *result,
		       const struct printed *printed);

#endif
