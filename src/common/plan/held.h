/* SPDX-License-Identifier: Apache-2.0 */
/* The guarantees of a sandbox as a document for a berm inside it, which has neither mounts nor a
 * listener. It is INSIDE_HELD in the view: only the launcher can have put it there
 * (common/context/inside.h). */
#ifndef BERM_COMMON_PLAN_HELD_H
#define BERM_COMMON_PLAN_HELD_H

#include <stdbool.h>

#include "common/plan/plan.h"

/* The part of a plan that the sandbox around it holds already. */
struct held {
	/* Nothing but the sandbox's own home, /tmp and devices is writable that this plan does not
	 * let the command write. */
	bool are_writes_same;
	/* The level at which it holds this plan's protected names that do not exist: LEVEL_LAUNCH
	 * if it has other names, or looks in other directories. */
	enum level planting;
	/* The same for the plan's denied names, LEVEL_LAUNCH or LEVEL_REPAIR. */
	enum level secrets;
};

/* The document's text, in the plan's arena. */
const char *held_text(const struct plan *plan);
/* Compares the text of an outer sandbox with an inner plan. is_guard_alive: its guard answers. A
 * text that cannot be understood proves nothing. */
void held_compare(const struct plan *plan, const char *text, bool is_guard_alive, struct held *held);

#endif
