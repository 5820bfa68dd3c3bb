/* SPDX-License-Identifier: Apache-2.0 */
/* For profile_cases: random machines and policies, and mutations of a profile. */
#ifndef BERM_TESTS_MACOS_CASES_H
#define BERM_TESTS_MACOS_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/plan/plan.h"
#include "common/base/text.h"
#include "macos/profile/profile.h"

enum { CASES_PROXY_PORT = 49152 };

struct cases {
	uint64_t state;
	struct arena arena;
	struct context context;
	struct policy policy;
	struct plan plan;
	size_t questions, refused;
	bool has_odd;
};

/* Returns a number from 0 to below end. */
unsigned cases_below(struct cases *cases, unsigned end);
/* Makes a new machine, policy and scanned plan, and frees the last one. False if the policy was
 * refused. */
bool cases_make(struct cases *cases);
/* Returns a path to query, often one that a rule matches. Absolute; may contain a symlink. */
const char *cases_path(struct cases *cases);

/* Makes policy `index` of a list, without or with a hostile name; false after the last. */
bool cases_make_plain(struct cases *cases, size_t index);
bool cases_make_hostile(struct cases *cases, size_t index);
extern const char *const cases_plain_paths[];

/* cases_mutate.c: applies the named mutation to the printed profile; aborts on an unknown name. */
void cases_mutate(struct cases *cases, const char *mutation, const struct profile *profile, struct text *printed);

#endif
