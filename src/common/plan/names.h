/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the plan's enumerations, as the printed page and the JSON show them. */
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

/* One list of PLAN_LISTS in the order of its rows: lists.c. */
struct plan_list_info {
	const char *name, *member, *title, *nothing; /* see PLAN_LISTS */
	size_t offset; /* of the field in struct plan */
};
extern const struct plan_list_info plan_list_table[];
extern const size_t plan_list_count;

/* Returns the list of a row. */
static inline const struct plan_items *plan_list(const struct plan *plan, const struct plan_list_info *info)
{
	return (const struct plan_items *)(const void *)((const char *)plan + info->offset);
}

/* True if `run` accepts these states; otherwise err has the refusal of guarantee_judge. */
bool plan_would_run(const struct plan *plan, const struct guarantee_state *states, struct error *err);

#endif
