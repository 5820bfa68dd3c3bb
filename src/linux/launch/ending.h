/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run as the user reads it. */
#ifndef BERM_LINUX_LAUNCH_ENDING_H
#define BERM_LINUX_LAUNCH_ENDING_H

#include "linux/launch/launch.h"

/* Facts about the end that the supervisor collects. */
struct ending_facts {
	bool has_failed; /* the set-up failed and err is set; nothing ran */
	bool has_status; /* the result has the command's exit status, or the errno of execve */
	bool is_time_over, is_killed;
	/* Killed because poll failed: the run could not be supervised any more. */
	bool is_unwatched;
	int init_status; /* as of waitpid */
};

/* Fills the result after init is reaped and every process inside has ended. -1 with err if nothing
 * ran. */
int ending_report(const struct supervision *supervision, const struct ending_facts *facts, const struct cgroup_events *events,
		  struct run_result *result, struct error *err);
/* Adds a note to the result if the command ended at its file size limit. */
void ending_note_file_size(const struct plan *plan, struct run_result *result);
/* Fills the result of a command that reached the time limit. */
void ending_time_over(const struct plan *plan, struct run_result *result);
/* Adds a name that the guard has refused. */
struct message;
void ending_note_refused(const struct message *message, struct run_result *result);

#endif
