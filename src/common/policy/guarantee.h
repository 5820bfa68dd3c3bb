/* SPDX-License-Identifier: Apache-2.0 */
/* The guarantees, the levels at which each can hold, and the rule by which a run is refused.
 * Nothing else in berm decides whether a run may start with less than the policy requires. */
#ifndef BERM_COMMON_POLICY_GUARANTEE_H
#define BERM_COMMON_POLICY_GUARANTEE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

/* Ordered: a higher level satisfies a lower one. For secrets and planting: launch < repair <
 * strict, and strict equals enforced. */
enum level { LEVEL_MISSING, LEVEL_PARTIAL, LEVEL_LAUNCH, LEVEL_REPAIR, LEVEL_STRICT, LEVEL_ENFORCED };

/* The levels that a policy can require of a guarantee, besides those that every state can have
 * (missing, partial). */
enum level_scale {
	SCALE_PLAIN, /* partial, enforced */
	SCALE_LAUNCH, /* launch, enforced */
	SCALE_GUARD, /* launch, repair, strict: those of files.guard */
};

/* All guarantees: X(constant, name, scale, default_level, promise). The enum, guarantee_table,
 * the keys require.* and the choices of accept_weaker are generated from this list. Secrets
 * and planting are required at LEVEL_REPAIR where berm can mount; plan/resolve.c requires less
 * elsewhere. For ipc `launch` means the sockets that exist at launch. */
#define GUARANTEE_LIST(X)                                                                                                      \
	X(WRITES, "writes", SCALE_PLAIN, LEVEL_ENFORCED, "nothing outside the writable set changes: content, metadata, names") \
	X(SECRETS, "secrets", SCALE_GUARD, LEVEL_REPAIR,                                                                       \
	  "what files.deny names cannot be read, written, renamed, linked or replaced into view")                              \
	X(PLANTING, "planting", SCALE_GUARD, LEVEL_REPAIR,                                                                     \
	  "what the host would run later (hooks, editor tasks, settings) is not changed or created")                           \
	X(NETWORK, "network", SCALE_PLAIN, LEVEL_ENFORCED,                                                                     \
	  "only allowed destinations are reached; names are resolved only if allowed")                                         \
	X(PROCESSES, "processes", SCALE_PLAIN, LEVEL_PARTIAL,                                                                  \
	  "host processes are neither seen nor signalled; nothing survives the command")                                       \
	X(IPC, "ipc", SCALE_LAUNCH, LEVEL_LAUNCH,                                                                              \
	  "no host socket, bus, agent, shared memory or keyring is reachable unless named")                                    \
	X(ENVIRONMENT, "environment", SCALE_PLAIN, LEVEL_ENFORCED, "only named variables are passed")                          \
	X(LIMITS, "limits", SCALE_PLAIN, LEVEL_PARTIAL,                                                                        \
	  "what the policy sets for memory, processes, CPU, time, disk and files is not exceeded")                             \
	X(KERNEL, "kernel", SCALE_PLAIN, LEVEL_PARTIAL, "dangerous and unknown system calls fail")                             \
	X(INTEGRITY, "integrity", SCALE_PLAIN, LEVEL_ENFORCED, "policy, cached plan and state cannot be changed from inside")  \
	X(AUDIT, "audit", SCALE_PLAIN, LEVEL_PARTIAL, "each run is recorded, with what berm refused, moved and ended")

enum guarantee {
#define GUARANTEE_CONSTANT(constant, ...) GUARANTEE_##constant,
	GUARANTEE_LIST(GUARANTEE_CONSTANT)
#undef GUARANTEE_CONSTANT
		GUARANTEE_COUNT
};

struct guarantee_info {
	const char *name;
	const char *promise; /* one line */
	enum level_scale scale;
	enum level default_level; /* required unless the policy requires more */
};
extern const struct guarantee_info guarantee_table[GUARANTEE_COUNT];

/* How one limit of the policy is enforced on this machine. */
struct limit_state {
	const char *mechanism; /* NULL: the policy does not set it, or no mechanism exists */
	bool is_hard; /* held by the kernel; else berm measures at intervals and ends the run */
	const char *reason; /* why it is not hard, or what the figure means; or NULL */
};

/* The level at which a backend enforces one guarantee for one plan. */
struct guarantee_state {
	enum level level;
	const char *mechanism; /* "mount namespace, Landlock" */
	const char *reason; /* why it is not higher, or NULL */
	const char *fix; /* how the user can raise it, or NULL */
	/* Of GUARANTEE_LIMITS after a probe: LIMIT_COUNT entries. */
	const struct limit_state *limits;
};

/* Returns the level's name on the guarantee's scale: SCALE_GUARD has strict where others have
 * enforced. */
const char *level_name(enum guarantee guarantee, enum level level);
/* Finds a guarantee by its full name; false if there is none. */
bool guarantee_parse(const char *name, enum guarantee *guarantee);

/* True if the level is below the required one. LEVEL_MISSING always is. */
bool guarantee_falls_short(enum level required, enum level level);
/* Applies the refusal rule. Returns 0, or -1 with an error about the first guarantee that falls
 * short and is not accepted; the hints name the others. */
int guarantee_judge(const enum level required[GUARANTEE_COUNT], const bool accepted[GUARANTEE_COUNT],
		    const struct guarantee_state states[GUARANTEE_COUNT], struct error *err);

#endif
