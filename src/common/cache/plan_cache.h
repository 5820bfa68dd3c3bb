/* SPDX-License-Identifier: Apache-2.0 */
/* The cached plan: one private file with everything a usual launch needs, so that it parses no YAML
 * and builds no filter. The key covers everything a plan depends on that is not a file: user,
 * directory, options, variables that plans consult, binary, boot. The file lists the dependencies
 * on other files. Any difference means that a new plan is made. A damaged file is ignored.
 *
 * The file is read only from the default state directory, not from XDG_STATE_HOME, which an agent
 * can set: write access to the file would be write access to the policy. */
#ifndef BERM_COMMON_CACHE_PLAN_CACHE_H
#define BERM_COMMON_CACHE_PLAN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/cache/dependencies.h"
#include "common/plan/plan.h"
#include "common/base/sha256.h"
#include "common/cache/tree_index_file.h"

/* A plan is in one of two slots, so that two plans that share one do not replace each other in
 * turn. */
enum { PLAN_SLOTS = 2 };

struct plan_key {
	/* Of the password database; NULL: no plan can be cached, nothing below is set. */
	const char *home;
	const char *slots[PLAN_SLOTS]; /* file names in the directory of plans */
	char hash[SHA256_HEX + 1];
};

/* Computes the key. `words` are the options of the command line, in order, ending with NULL. */
void plan_cache_key(struct arena *arena, char *const *words, enum tier tier, struct plan_key *key);

struct plan_loaded {
	struct dependency *dependencies; /* of the plan */
	size_t dependency_count;
	const void *blob; /* the bytes of backend_prepare */
	size_t blob_size;
	const char *reason; /* why it was not loaded or is outdated: one clause */
	struct tree_index_file index; /* of this plan's scans */
};

/* Reads and decodes the plan for this key. False with loaded->reason. The plan is valid only if
 * plan_cache_verify() returns true. The caller's variables that the policy passes are read anew. */
bool plan_cache_load(struct arena *arena, const struct plan_key *key, struct plan *plan, struct plan_loaded *loaded);
/* Checks all dependencies. False, with loaded->reason, if one has changed. */
bool plan_cache_verify(struct arena *arena, struct plan_loaded *loaded);
/* The bytes of backend_prepare. */
struct plan_prepared {
	const void *blob;
	size_t blob_size;
};
/* Writes the plan's file and opens `index` for it. False if it cannot be written: the next launch
 * makes a new plan. Safe if several processes do it at the same time. */
bool plan_cache_save(struct arena *arena, const struct plan_key *key, const struct plan *plan,
		     const struct dependencies *dependencies, const struct plan_prepared *prepared,
		     struct tree_index_file *index);

#endif
