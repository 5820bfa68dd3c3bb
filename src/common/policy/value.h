/* SPDX-License-Identifier: Apache-2.0 */
/* One value of the policy language, judged by its key. Shared by the parser, the command line's layer and the tests. */
#ifndef BERM_COMMON_POLICY_VALUE_H
#define BERM_COMMON_POLICY_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/policy/policy.h"

/* `text` is one scalar: a whole value, or one entry of a list. is_plain says that it was written without quotes, so that YAML has
 * an opinion on its type. The arena takes what has to be built on the way. *value gets the number for keys that have one. -1 with a clause in err that fits after "`key`: ". */
int policy_value_check(struct arena *arena, const struct key *key, const char *text, bool is_plain, uint64_t *value,
		       struct error *err);
/* The name of an environment variable, without wildcards; what environment.set takes as a key. */
bool policy_value_is_variable(const char *name);
/* The choice of this name, or NULL. */
const struct key_choice *policy_value_choice(const struct key *key, const char *name);

/* How a key's field is stored in struct policy. */
enum key_storage { STORAGE_NONE, STORAGE_RULES, STORAGE_ASSIGNMENTS, STORAGE_SETTING };
enum key_storage policy_key_storage(const struct key *key);

#endif
