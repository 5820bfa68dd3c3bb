/* SPDX-License-Identifier: Apache-2.0 */
/* What the policy tests share: policies from strings, files that exist only in a table, and the
 * question whether a complaint was made at a place. */
#ifndef BERM_TESTS_UNIT_POLICY_FIXTURE_H
#define BERM_TESTS_UNIT_POLICY_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/policy/policy.h"

struct policy_fixture {
	struct arena arena;
	struct policy policy;
	struct diagnostics diagnostics;
	int status;
};

/* A file that fixture_read finds; the list ends with a NULL path. A NULL text makes reading it fail
 * with EACCES. */
struct fixture_file {
	const char *path, *text;
};

void fixture_parse(struct policy_fixture *fixture, enum layer layer, const char *text);
void fixture_parse_n(struct policy_fixture *fixture, enum layer layer, const char *text, size_t length);
void fixture_load(struct policy_fixture *fixture, struct policy_request request, const struct fixture_file *files);
void fixture_free(struct policy_fixture *fixture);

/* Was something said about line:column with `part` in the message or the hint? */
bool fixture_complained(const struct policy_fixture *fixture, unsigned line, unsigned column, const char *part);
/* All complaints as one text, for a failing test's message; the caller does not free it. */
const char *fixture_complaints(struct policy_fixture *fixture);
const struct rule *fixture_rule(const struct rules *rules, const char *text);

#endif
