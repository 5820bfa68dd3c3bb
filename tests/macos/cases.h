/* SPDX-License-Identifier: Apache-2.0 */
/* What profile_cases is made of: random machines and policies, and ways to spoil a profile. */
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

/* A number from 0 to below end. */
unsigned cases_below(struct cases *cases, unsigned end);
/* A new machine, policy and scanned plan; frees the last one. False if the policy was refused. */
bool cases_make(struct cases *cases);
/* A path to ask about, often one that some rule is about. Absolute, perhaps with a symlink in it. */
const char *cases_path(struct cases *cases);

/* The index-th policy of a list without and with a hostile name; false past the last. */
bool cases_make_plain(struct cases *cases, size_t index);
bool cases_make_hostile(struct cases *cases, size_t index);
extern const char *const cases_plain_paths[];

/* cases_mutate.c: spoils the printed profile in the named way; an unknown name ends the program. */
void cases_mutate(struct cases *cases, const char *mutation, const struct profile *profile, struct text *printed);

#endif
