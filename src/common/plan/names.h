/* SPDX-License-Identifier: Apache-2.0 */
/* The words that `plan` and `check` use for the plan's enumerations, shared by the page and the JSON. */
#ifndef BERM_COMMON_PLAN_NAMES_H
#define BERM_COMMON_PLAN_NAMES_H

#include "common/plan/plan.h"

static const char *const file_type_names[] = {
	[FILE_ABSENT] = "absent", [FILE_REGULAR] = "file",  [FILE_DIRECTORY] = "directory", [FILE_SYMLINK] = "symlink",
	[FILE_SOCKET] = "socket", [FILE_DEVICE] = "device", [FILE_FIFO] = "fifo",	    [FILE_UNKNOWN] = "unknown",
};

static const char *const home_mode_names[] = { [HOME_PRIVATE] = "private", [HOME_EMPTY] = "empty", [HOME_HOST] = "host" };
static const char *const tmp_mode_names[] = { [TMP_PRIVATE] = "private", [TMP_EMPTY] = "empty" };
static const char *const network_mode_names[] = { [NETWORK_NONE] = "none", [NETWORK_ALLOW] = "allow", [NETWORK_ALL] = "all" };

static const char *const limit_names[LIMIT_COUNT] = {
	[LIMIT_MEMORY] = "memory", [LIMIT_PROCESSES] = "processes",   [LIMIT_CPUS] = "cpus",	       [LIMIT_TIME] = "time",
	[LIMIT_DISK] = "disk",	   [LIMIT_OPEN_FILES] = "open_files", [LIMIT_FILE_SIZE] = "file_size",
};

/* Is the level held enough for the level asked for? The refusal rule itself is guarantee_judge. */
bool plan_would_run(const struct plan *plan, const struct guarantee_state *states, struct error *err);

#endif
