/* SPDX-License-Identifier: Apache-2.0 */
/* A likely cause of a failure that the program itself reports as a missing permission. */
#ifndef BERM_COMMON_CLI_HIDDEN_ADVICE_H
#define BERM_COMMON_CLI_HIDDEN_ADVICE_H

#include "common/plan/plan.h"

/* Returns a sentence about files of the project that are hidden, or NULL if there is none. Sets
 * *is_named if a word of the command has the name of one. After the scan. */
const char *hidden_advice(const struct plan *plan, char *const *command, bool *is_named);

#endif
