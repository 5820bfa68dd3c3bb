/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a stored plan, which damage may have made anything. What is taken for a plan is written as the same bytes again, and
 * the evaluator can live with it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/plan/build.h"
#include "common/cache/plan_codec.h"
#include "common/base/text.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16 };

static void judge(struct plan *plan, const struct plan_stored *stored)
{
	static const char *const paths[] = { "/", "/home/ann/app", "/home/ann/app/.env", "/home/ann/app/a/b.pem",
					     "/usr/bin/sh" };
	static char *const nothing[] = { NULL };
	struct policy policy = { .environment = { .pass = stored->passed } };

	plan->context.fs = filesystem_host();
	plan->context.environment = nothing;
	plan->policy = &policy;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		for (int access = ACCESS_READ; access <= ACCESS_EXECUTE; access++) {
			struct verdict verdict = plan_check_path(plan, (enum access)access, paths[i], i == 1);
			PROPERTY(verdict.reason);
		}
	environment_restore(plan, &stored->own_variables);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct plan_stored stored;
	struct text again = { 0 };
	struct plan plan;

	if (size > INPUT_MAX)
		return 0;
	if (plan_decode(&arena, (const char *)data, size, &plan, &stored)) {
		PROPERTY(plan_encode(&plan, &stored, &again));
		PROPERTY(again.length == size && memcmp(again.data, data, size) == 0);
		judge(&plan, &stored);
	}
	text_free(&again);
	arena_free(&arena);
	return 0;
}
