/* SPDX-License-Identifier: Apache-2.0 */
/* The promises by name, the levels they can hold at, and the one rule that says when a run is refused. */
#ifndef BERM_COMMON_POLICY_GUARANTEE_H
#define BERM_COMMON_POLICY_GUARANTEE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

enum guarantee {
	GUARANTEE_WRITES,
	GUARANTEE_SECRETS,
	GUARANTEE_PLANTING,
	GUARANTEE_NETWORK,
	GUARANTEE_PROCESSES,
	GUARANTEE_IPC,
	GUARANTEE_ENVIRONMENT,
	GUARANTEE_LIMITS,
	GUARANTEE_KERNEL,
	GUARANTEE_INTEGRITY,
	GUARANTEE_COUNT
};

/* Ordered: a higher level satisfies a lower one. For secrets and planting, launch < repair < strict (= enforced). */
enum level { LEVEL_MISSING, LEVEL_PARTIAL, LEVEL_LAUNCH, LEVEL_REPAIR, LEVEL_STRICT, LEVEL_ENFORCED };

struct guarantee_info {
	const char *name;
	const char *promise; /* one line */
	bool is_guarded; /* judged by files.guard (launch, repair, strict) instead of partial/enforced */
	enum level default_level; /* what the default policy asks for */
};
extern const struct guarantee_info guarantee_table[GUARANTEE_COUNT];

/* How one limit of the policy is held here. */
struct limit_state {
	const char *mechanism; /* NULL: not set, or nothing holds it */
	bool is_hard; /* the kernel refuses more; else berm looks from time to time and ends the run */
	const char *reason; /* why it is not hard, or what the number means; or NULL */
};

/* What a backend can hold here for one plan. */
struct guarantee_state {
	enum level level;
	const char *mechanism; /* "mount namespace, Landlock" */
	const char *reason; /* why it is not higher, or NULL */
	const char *fix; /* what the user can do about it, or NULL */
	const struct limit_state
		*limits; /* of the guarantee `limits` after a probe: one for each limit, by its number; or NULL */
};

const char *level_name(enum guarantee guarantee, enum level level);
bool level_parse(const char *name, enum level *level);
bool guarantee_parse(const char *name, enum guarantee *guarantee);

/* Is this level less than what is asked for? Missing is, whatever is asked for. */
bool guarantee_falls_short(enum level required, enum level level);
/* The refusal rule. `required` and `accepted` are per guarantee; returns -1 with the first guarantee that falls short and is
 * not accepted weaker. A missing one is accepted only if `accepted` names it. */
int guarantee_judge(const enum level required[GUARANTEE_COUNT], const bool accepted[GUARANTEE_COUNT],
		    const struct guarantee_state states[GUARANTEE_COUNT], struct error *err);

#endif
