/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences for the user while the command runs: printed at once, or at the end if the command
 * draws on the terminal. */
#ifndef BERM_COMMON_CLI_RUN_NOTICES_H
#define BERM_COMMON_CLI_RUN_NOTICES_H

#include "common/base/text.h"

struct run_notices {
	struct text later; /* lines */
};

/* Prints the sentence, or keeps it for run_notices_end. */
void run_notices_add(struct run_notices *notices, const char *sentence);
/* Prints what was kept. */
void run_notices_end(struct run_notices *notices);

#endif
