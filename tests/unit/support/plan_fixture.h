/* SPDX-License-Identifier: Apache-2.0 */
/* What the plan's tests share: a described machine, policies from strings by layer, and short
 * questions about the result. */
#ifndef BERM_TESTS_UNIT_PLAN_FIXTURE_H
#define BERM_TESTS_UNIT_PLAN_FIXTURE_H

#include <stdbool.h>

#include "common/plan/plan.h"

struct plan_fixture {
	struct arena arena;
	struct context context;
	struct policy policy;
	struct plan plan;
	struct diagnostics diagnostics;
	struct error error;
	int status; /* of plan_resolve; -2: the context or a policy is wrong, see fixture_says */
};

/* One layer's policy, without its `version: 1`; a list ends with a NULL text. */
struct plan_layer {
	enum layer layer;
	const char *text;
};

/* `machine` is what follows "user: ann, uid: 1000, home: /home/ann, project: /home/ann/app" in a
 * context file; may be "". */
void plan_fixture_make(struct plan_fixture *fixture, const char *machine, const struct plan_layer *layers);
/* A whole context file and layers. */
void plan_fixture_make_for(struct plan_fixture *fixture, const char *context, const struct plan_layer *layers);
/* The built-in floor and default, and a user's policy (may be NULL). */
void plan_fixture_default(struct plan_fixture *fixture, const char *machine, const char *user);
void plan_fixture_free(struct plan_fixture *fixture);

/* Is there a complaint or (for a plan without complaints) a note with this in it? */
bool plan_fixture_complained(const struct plan_fixture *fixture, const char *part);
bool plan_fixture_noted(const struct plan_fixture *fixture, enum note_kind kind, const char *part);
const char *plan_fixture_says(struct plan_fixture *fixture);

/* "write", "read", "system", or "none" if there is no grant of exactly this path. */
const char *plan_fixture_grant(const struct plan_fixture *fixture, const char *path);
bool plan_fixture_allows(const struct plan_fixture *fixture, enum access access, const char *path);
/* The paths of a list, separated by blanks. */
const char *plan_fixture_paths(struct plan_fixture *fixture, const struct plan_matches *matches);
/* The value, or "(unset)". */
const char *plan_fixture_variable(const struct plan_fixture *fixture, const char *name);

#endif
