/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes the parts of a plan that a run needs, and scan results, as bytes and decodes them. The
 * same functions write and read, so the two directions cannot differ. Decoding checks every length,
 * every enum and every index against its range. */
#ifndef BERM_COMMON_CACHE_PLAN_CODEC_H
#define BERM_COMMON_CACHE_PLAN_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include "common/cache/dependencies.h"
#include "common/base/sha256.h"
#include "common/plan/plan.h"
#include "common/base/text.h"

/* Data that is cached with the plan. */
struct cached_plan {
	struct dependency_list {
		struct dependency *items;
		size_t count;
	} dependencies;
	/* Variables that the policy or berm sets. The caller's are read anew at every launch. */
	struct plan_variables own_variables;
	struct rules passed; /* environment.pass */
	const void *blob; /* the bytes of backend_prepare */
	size_t blob_size;
};

struct codec;

/* One field of a struct: coded by a function, or not coded for a reason. */
struct plan_codec_field {
	size_t offset, size;
	void (*code)(struct codec *codec, void *field); /* NULL: not coded */
	const char *reason; /* why not */
};

struct plan_codec_table {
	const struct plan_codec_field *fields;
	size_t count;
};

/* For the test that the tables cover every field. */
extern const struct plan_codec_table plan_codec_plan, plan_codec_context, plan_codec_pattern;

/* True if this plan can be cached: only plans for Linux. */
bool plan_codec_fits(const struct plan *plan);
/* False if the plan is larger than plan_decode accepts. The caller frees the text. */
bool plan_encode(const struct plan *plan, const struct cached_plan *cached, struct text *out);
/* False if the bytes are not a result of plan_encode. They must outlive the plan. Fills everything
 * but the policy and the context's environment and file system. */
bool plan_decode(struct arena *arena, const char *bytes, size_t length, struct plan *plan, struct cached_plan *cached);

/* plan_identity.c: hashes everything that a plan enforces, with the prepared bytes of the backend,
 * this program, this boot and the values of variables that only the user's own rules pass. Two runs
 * with the same identity have the same sandbox; the working directory is not part of it. False if
 * the plan has none. */
bool plan_identity(const struct plan *plan, const void *prepared, size_t size, char identity[SHA256_HEX + 1]);

/* Encodes the lists of a scan, without rules and notes, which init does not need. The caller frees
 * the text. */
void scan_results_encode(const struct scan_results *results, struct text *out);
/* False, with nothing changed, if the bytes are not a result of scan_results_encode. They must
 * outlive the results. */
bool scan_results_decode(struct arena *arena, const char *bytes, size_t length, struct scan_results *results);

#endif
