/* SPDX-License-Identifier: Apache-2.0 */
/* What the scan found (struct plan: masked, locked, pinned), from the launcher to init: init is forked before that is known, and
 * builds the rest of the view meanwhile. */
#ifndef BERM_LINUX_LAUNCH_SCAN_RESULTS_H
#define BERM_LINUX_LAUNCH_SCAN_RESULTS_H

#include "common/base/error.h"
#include "common/plan/plan.h"

/* As bytes; the caller frees them. */
void findings_encode(const struct plan *plan, struct text *out);
/* Into the plan, in its arena, without rules, which nobody inside asks for. False, with nothing changed, if they are not whole. */
bool findings_decode(const char *bytes, size_t length, struct plan *plan);

/* -1 with errno: init is gone. */
int findings_send(int channel, const struct plan *plan);
/* Waits for them. */
int findings_receive(int channel, struct plan *plan, struct error *err);

#endif
