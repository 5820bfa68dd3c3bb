/* SPDX-License-Identifier: Apache-2.0 */
/* Which guarantees hold in the tier landlock: one table, which docs/tiers.md shows and a test compares with it. */
#ifndef BERM_LINUX_PROBE_LANDLOCK_TIER_H
#define BERM_LINUX_PROBE_LANDLOCK_TIER_H

#include "common/policy/guarantee.h"
#include "common/plan/plan.h"

/* What a row is judged by. */
struct tier_facts {
	const struct plan *plan;
	int abi; /* of Landlock */
	bool has_listener; /* init can judge changes of metadata */
	/* What was found, as the user would write it; "" if nothing was. */
	const char *secrets; /* denied, in a directory that is writable */
	const char *plants; /* protected, in a directory that is writable */
	const char *own; /* policies, state or program of berm in a directory that is writable */
	const char *read_only; /* granted for reading inside what is granted for writing */
};

/* For each guarantee the first row that applies says how it stands. `limits` are judged by limits.h in every tier. */
struct tier_row {
	enum guarantee guarantee;
	const char *when; /* in words; "otherwise" for the last row of a guarantee */
	bool (*applies)(const struct tier_facts *facts); /* NULL: always */
	enum level level;
	const char *mechanism; /* or NULL */
	const char *reason; /* or NULL */
	const char *fix; /* or NULL */
	size_t named; /* offset in struct tier_facts of the names that belong to the reason; 0: none */
};
/* The fix of rows that namespaces would mend; backend_probe knows more about it. */
extern const char tier_allow_namespaces[];
extern const struct tier_row tier_table[];
extern const size_t tier_table_count;

/* Needs a scanned plan. */
void tier_judge(const struct plan *plan, int abi, bool has_listener, struct guarantee_state states[GUARANTEE_COUNT]);

/* tier_held.c: is this protected file read-only, or this denied one unreadable, by mounts that nothing in here can change? */
bool tier_is_held_outside(const struct plan *plan, const char *path, bool is_secret);

#endif
