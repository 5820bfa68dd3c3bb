/* SPDX-License-Identifier: Apache-2.0 */
/* The stored plan: what a usual launch needs, in one private file, so that it parses no YAML and builds no filter. It is keyed by
 * everything a plan depends on that is not on the disk (user, directory, options, the variables that plans consult, the binary, the
 * boot), and holds the facts for the rest. Any difference means: make the plan anew. A damaged file is ignored.
 *
 * Only ever read from the user's own state directory at its usual place: whoever could write the file could write the policy, and
 * XDG_STATE_HOME can be set by an agent. */
#ifndef BERM_COMMON_CACHE_PLAN_CACHE_H
#define BERM_COMMON_CACHE_PLAN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "common/base/arena.h"
#include "common/cache/dependencies.h"
#include "common/plan/plan.h"
#include "common/base/sha256.h"
#include "common/cache/tree_index_file.h"

struct plan_key {
	const char *home; /* of the password database; NULL: nothing can be stored here (and nothing below is set) */
	const char *slot; /* the file's name among the stored plans */
	char hash[SHA256_HEX + 1];
};

/* `words` are the options of the command line, in order, ending with NULL. */
void plan_store_key(struct arena *arena, char *const *words, enum tier tier, struct plan_key *key);

struct plan_loaded {
	const struct fact *facts; /* what it was made from */
	size_t fact_count;
	const void *blob; /* what backend_prepare made */
	size_t blob_size;
	const char *reason; /* why it was not loaded: one clause */
	struct plan_file {
		int fd; /* -1: plan_store_load has read it */
		int directory; /* of all stored plans; plan_store_load closes it */
		struct stat info;
		uint32_t length; /* of what follows its head */
		uint64_t checksum; /* of that */
		bool can_begin; /* as it was saved */
	} file;
	struct walk_store walks; /* what earlier scans of this plan found */
};

/* Opens the file for this key and reads its head: loaded->file. False with loaded->reason. */
bool plan_store_open(const struct plan_key *key, struct plan_loaded *loaded);
/* The rest of it: true with a plan that is as good as a new one, if plan_store_confirm agrees. The environment is passed anew. */
bool plan_store_load(struct arena *arena, const struct plan_key *key, struct plan *plan, struct plan_loaded *loaded);
/* Looks again at all it was made from. False, with loaded->reason, if something changed. */
bool plan_store_confirm(struct arena *arena, struct plan_loaded *loaded);
/* What the backend says of a plan. */
struct plan_prepared {
	const void *blob;
	size_t blob_size;
	bool can_begin;
};
/* The directory of the stored plans below this home, or -1. */
int plan_store_directory(const char *home);
/* Best effort: a plan that cannot be stored (false) is made anew next time. Safe when several do it at once. `walks` is opened for it. */
bool plan_store_save(struct arena *arena, const struct plan_key *key, const struct plan *plan, const struct facts *facts,
		     const struct plan_prepared *prepared, struct walk_store *walks);

#endif
