/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as bytes and back: what a run needs of it, for plan_store.c. The same walk over the struct writes and reads, so the two cannot
 * drift apart. Reading checks every length and every enum against its range and never trusts a byte further than that. */
#ifndef BERM_COMMON_CACHE_PLAN_CODEC_H
#define BERM_COMMON_CACHE_PLAN_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include "common/cache/dependencies.h"
#include "common/plan/plan.h"
#include "common/base/text.h"

/* What is stored beside the plan. */
struct plan_stored {
	struct facts_list {
		struct fact *items;
		size_t count;
	} facts;
	/* Variables that the policy or berm sets; those of the caller are passed anew at every launch. */
	struct plan_variables own_variables;
	struct rules passed; /* environment.pass */
	const void *blob; /* what the backend prepared: the filter program */
	size_t blob_size;
};

/* What the codec was written for, on 64-bit machines: a field that it does not know would be lost, so a test compares. */
enum { PLAN_CODEC_PLAN_SIZE = 1160, PLAN_CODEC_PATTERN_SIZE = 24, PLAN_CODEC_CONTEXT_SIZE = 96 };

/* Can this plan be stored? Only where it is made by the system it is for. */
bool plan_codec_fits(const struct plan *plan);
/* False if it is larger than what plan_decode takes. */
bool plan_encode(const struct plan *plan, const struct plan_stored *stored, struct text *out);
/* `bytes` must outlive the plan. False if they are not what plan_encode wrote. Fills everything but policy, and the context's environment and file system. */
bool plan_decode(struct arena *arena, const char *bytes, size_t length, struct plan *plan, struct plan_stored *stored);

#endif
