/* SPDX-License-Identifier: Apache-2.0 */
/* Known limits of a program in a Seatbelt sandbox, in one sentence with the way out. Portable.
 * Judges by the name of the program and changes nothing. */
#ifndef BERM_MACOS_PROFILE_ADVICE_H
#define BERM_MACOS_PROFILE_ADVICE_H

#include "common/plan/plan.h"

/* Returns the sentence for this command, or NULL if none is known. Allocated in the arena. */
const char *advice_for(struct arena *arena, const struct plan *plan, char *const *argv);

#endif
