/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of a plan, by which a command finds a session with the same sandbox. It is made from
 * the encoded plan, so that no field can be forgotten. */
#include <string.h>

#include "common/cache/plan_codec.h"
#include "common/context/identity.h"

/* Commands of one session can read each other's variables. Those that the built-in policies pass or
 * that berm sets itself are no secrets. */
static void add_variables(struct sha256 *hash, const struct plan *plan)
{
	for (size_t i = 0; i < plan->environment.count; i++) {
		const struct plan_variable *variable = &plan->environment.items[i];
		if (!variable->rule || variable->rule->layer < LAYER_USER)
			continue;
		sha256_add(hash, variable->name, strlen(variable->name) + 1);
		sha256_add(hash, variable->value, strlen(variable->value) + 1);
	}
}

bool plan_identity(const struct plan *plan, const void *prepared, size_t size, char identity[SHA256_HEX + 1])
{
	struct cached_plan cached = { .passed = plan->policy->environment.pass, .blob = prepared, .blob_size = size };
	struct plan copy = *plan;
	struct text bytes = { 0 };
	struct sha256 hash;
	bool is_known;

	/* The codec leaves these out. */
	if (!plan_codec_fits(plan) || plan->added.count > 0 || plan->commands.are_walled)
		return false;
	copy.context.working_directory = NULL;
	sha256_start(&hash);
	is_known = identity_add_program(&hash) && identity_add_boot(&hash) && plan_encode(&copy, &cached, &bytes);
	if (is_known) {
		sha256_add(&hash, bytes.data, bytes.length);
		add_variables(&hash, plan);
		sha256_finish_hex(&hash, identity);
	}
	text_free(&bytes);
	return is_known;
}
