/* SPDX-License-Identifier: Apache-2.0 */
/* Checks single values of the policy language against their key. Shared by the parser, the loader
 * of command line options and the tests. Reads only the text. */
#ifndef BERM_COMMON_POLICY_VALUE_H
#define BERM_COMMON_POLICY_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/policy/keys.h"

/* Checks one scalar: a whole value, or one entry of a list. is_plain is true if it was written
 * without quotes, so that YAML may give it another type. Temporary data is allocated in the arena.
 * *value receives the number of keys that have one; it may be NULL. Returns -1 with a clause in err
 * that fits after "`key`: ". */
int policy_value_check(struct arena *arena, const struct key *key, const char *text, bool is_plain, uint64_t *value,
		       struct error *err);
/* True if the first length bytes of name are the name of an environment variable, in which `*` is
 * allowed with allows_wildcards. */
bool policy_value_is_variable(const char *name, size_t length, bool allows_wildcards);
/* Returns the choice with this name, or NULL. */
const struct key_choice *policy_value_choice(const struct key *key, const char *name);

#endif
