/* SPDX-License-Identifier: Apache-2.0 */
/* One line on stderr for work that takes longer than a second, removed when the work is done.
 * Nothing if stderr is not a terminal, or berm is in the background. */
#ifndef BERM_COMMON_CLI_PROGRESS_H
#define BERM_COMMON_CLI_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#include "common/plan/plan.h"

struct progress {
	const char *what; /* "searching the project" */
	int64_t started_ms, shown_s;
	size_t width; /* of the line on the screen; 0: none */
};

/* Starts to watch the work that follows. The struct must stay valid until progress_end. */
void progress_begin(struct progress *progress, const char *what);
/* Removes the line. */
void progress_end(struct progress *progress);
/* plan_scan() with a line. */
int progress_scan(struct plan *plan, struct error *err);

#endif
