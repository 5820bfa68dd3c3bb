/* SPDX-License-Identifier: Apache-2.0 */
/* What `run`, `plan` and `check` share: from the options to a resolved plan. */
#ifndef BERM_COMMON_SESSION_H
#define BERM_COMMON_SESSION_H

#include "common/arena.h"
#include "common/context.h"
#include "common/options.h"
#include "common/plan.h"
#include "common/policy.h"

struct session {
	struct arena arena;
	struct options options;
	struct context context;
	struct policy policy;
	struct plan plan;
	struct diagnostics diagnostics;
};

/* Options already parsed into session->options. -1: either err is set, or session->diagnostics has entries. Does not scan. */
int session_open(struct session *session, struct error *err);
void session_close(struct session *session);

#endif
