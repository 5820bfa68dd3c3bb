/* SPDX-License-Identifier: Apache-2.0 */
/* Which runs of the record a command line means. */
#ifndef BERM_COMMON_CLI_LOG_SELECT_H
#define BERM_COMMON_CLI_LOG_SELECT_H

#include "common/cli/session.h"
#include "common/record/describe.h"

/* A run that was chosen. Its arena has everything about it. */
struct log_run {
	struct arena arena;
	struct record_name name;
	struct record_run run;
};

/* Lists all runs, the newest first. Sets session->context. */
int log_names(struct session *session, struct record_names *names, struct error *err);
/* Reads the run that `word` names; without a word the last one of the current directory's project,
 * or the last one. The caller frees its arena. */
int log_choose(struct session *session, const char *word, struct log_run *chosen, struct error *err);
/* Goes through the runs that the options --project, --since, --denied and --host select: reads the
 * next one at or after names[*at]. False at the end. The caller frees its arena. A file that cannot
 * be read is skipped and counted in *unreadable. */
bool log_next(struct session *session, const struct record_names *names, size_t *at, struct log_run *next, size_t *unreadable);

#endif
