/* SPDX-License-Identifier: Apache-2.0 */
/* The level of each guarantee on Linux: one table per tier. docs/tiers.md shows the table of the
 * tier landlock, and a unit test compares the two. `limits` has no rows: limits.h decides its level
 * in every tier. */
#ifndef BERM_LINUX_PROBE_GUARANTEES_H
#define BERM_LINUX_PROBE_GUARANTEES_H

#include "common/plan/held.h"
#include "common/policy/guarantee.h"
#include "common/plan/plan.h"

/* The facts that select a row. The names are set in the tier landlock only. */
struct guarantee_inputs {
	const struct plan *plan;
	int abi; /* of Landlock */
	bool has_listener; /* init can check changes of metadata */
	const struct held *held; /* by a berm around this one */
	/* Lists of names as the user would write them; "" if there are none. */
	const char *secrets; /* denied, in a writable directory */
	const char *plants; /* protected, in a writable directory */
	const char *own; /* policies, state or program of berm in a writable directory */
	const char *read_only; /* granted for reading inside a directory that is granted for writing */
	const char *unheld; /* a setting of git that names what must stay writable; in every tier */
	const char *unlisted; /* why the host's sockets could not be listed; in every tier */
};

/* The first row of a guarantee that applies decides. */
struct guarantee_row {
	enum guarantee guarantee;
	const char *when; /* the condition in words; "otherwise" for the last row of a guarantee */
	bool (*applies)(const struct guarantee_inputs *inputs); /* NULL: always */
	enum level level;
	const char *mechanism; /* or NULL */
	const char *reason; /* or NULL */
	const char *fix; /* or NULL */
	size_t names; /* offset in struct guarantee_inputs of the names to add to the reason; 0: none */
};
extern const struct guarantee_row guarantees_full[];
extern const size_t guarantees_full_count;
extern const struct guarantee_row guarantees_landlock[];
extern const size_t guarantees_landlock_count;

/* Fixes of rows that depend on the host. backend_expect and backend_probe compare the pointers and
 * replace them with the command or option for this machine. */
extern const char guarantees_fix_namespaces[];
extern const char guarantees_fix_landlock[];

/* Fills in every state but that of `limits`, for the plan's tier. Needs a scanned plan. */
void guarantees_expect(const struct plan *plan, int abi, bool has_listener, const struct held *held,
		       struct guarantee_state states[GUARANTEE_COUNT]);

#endif
