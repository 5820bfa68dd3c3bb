/* SPDX-License-Identifier: Apache-2.0 */
/* The lines about masks and locks that were restored while the command ran. */
#ifndef BERM_COMMON_CLI_REPAIRED_H
#define BERM_COMMON_CLI_REPAIRED_H

#include "common/backend.h"

struct text;
/* Adds one line for each event, without "berm: ". `project` is taken off the paths. Files that the
 * command may have made itself are listed only with is_verbose. */
void repaired_describe(const struct repair_report *report, const char *project, bool is_verbose, struct arena *arena,
		       struct text *out);

#endif
