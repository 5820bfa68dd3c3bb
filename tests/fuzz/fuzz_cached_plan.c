/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged bytes of a cached plan. The input is tried as the bytes themselves, and as edits of a
 * valid plan: records of an offset in two bytes, the lower one first, and a value. The valid plan
 * is encoded anew in each process, so no seed goes stale when the plan gets another field. Bytes
 * that decode are encoded as the same bytes again, and the evaluator accepts the plan. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/plan/plan.h"
#include "common/cache/plan_codec.h"
#include "common/base/text.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16 };

static void judge(struct plan *plan, const struct cached_plan *stored)
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

static void try_bytes(const char *bytes, size_t size)
{
	struct arena arena = { 0 };
	struct cached_plan stored;
	struct text again = { 0 };
	struct plan plan;

	if (plan_decode(&arena, bytes, size, &plan, &stored)) {
		PROPERTY(plan_encode(&plan, &stored, &again));
		PROPERTY(again.length == size && memcmp(again.data, bytes, size) == 0);
		judge(&plan, &stored);
	}
	text_free(&again);
	arena_free(&arena);
}

/* A plan with an item in each kind of list. Two rules share their key and source. */
static void encode_valid(struct text *out)
{
	static struct rule rules[] = {
		{ "files.write", ".", { "p.yml", 1, 1 }, LAYER_USER, NULL },
		{ "files.deny", ".env", { "p.yml", 2, 1 }, LAYER_USER, NULL },
		{ "files.deny", "/home/ann/app/a/*.pem", { "p.yml", 3, 1 }, LAYER_USER, NULL },
		{ "environment.pass", "LANG", { "q.yml", 1, 1 }, LAYER_USER, NULL },
	};
	static struct plan_grant grants[] = { { "/home/ann/app", GRANT_WRITE, FILE_DIRECTORY, &rules[0] },
					      { "/usr", GRANT_SYSTEM, FILE_DIRECTORY, &rules[0] } };
	static struct plan_pattern patterns[] = {
		{ { .text = "/home/ann/app/.env", .literal_prefix = 18, .is_literal = true }, &rules[1] },
		{ { .text = "/home/ann/app/a/*.pem", .literal_prefix = 16 }, &rules[2] },
	};
	static struct plan_match named[] = { { "/usr/secret", FILE_REGULAR, &rules[1] } };
	static struct plan_search searches[] = { { "/usr", 1 } };
	static struct plan_item items[] = { { "/run/a.sock", &rules[0] } };
	static struct destination allow[] = { { .kind = DESTINATION_NAME, .host = "example.org", .rule = &rules[0] } };
	static struct plan_port local[] = { { 1, 2, &rules[0] } };
	static struct plan_publish publish[] = { { .host_port = 1, .port = 2, .rule = &rules[0] } };
	static struct plan_variable variables[] = { { "CI", "true", NULL } };
	static struct dependency dependencies[] = { { .path = "/etc/passwd", .is_content = true } };
	const struct plan plan = {
		.context = { .user = "ann",
			     .home = "/home/ann",
			     .project = "/home/ann/app",
			     .config_directory = "/home/ann/.config/berm",
			     .state_directory = "/home/ann/.local/state/berm" },
		.grants = { grants, 2 },
		.deny = { patterns, 2 },
		.named = { named, 1 },
		.searches = { searches, 1 },
		.state = { "d", "h", "t", "d", "k", "offline" },
		.network = { .allow = { allow, 1 }, .local = { local, 1 }, .publish = { publish, 1 } },
		.sockets = { items, 1 },
	};
	const struct cached_plan cached = { .dependencies = { dependencies, 1 },
					    .own_variables = { variables, 1 },
					    .passed = { &rules[3], 1 },
					    .blob = "filter",
					    .blob_size = 6 };
	PROPERTY(plan_encode(&plan, &cached, out));
}

static void try_edits(const uint8_t *data, size_t size)
{
	static struct text valid;
	static char edited[INPUT_MAX];
	struct arena arena = { 0 };
	struct cached_plan cached;
	struct plan plan;
	if (!valid.data) {
		encode_valid(&valid);
		PROPERTY(valid.length <= sizeof edited && plan_decode(&arena, valid.data, valid.length, &plan, &cached));
		arena_free(&arena);
	}
	memcpy(edited, valid.data, valid.length);
	for (size_t i = 0; i + 2 < size; i += 3)
		edited[(data[i] | (size_t)data[i + 1] << 8) % valid.length] = (char)data[i + 2];
	try_bytes(edited, valid.length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > INPUT_MAX)
		return 0;
	try_bytes((const char *)data, size);
	try_edits(data, size);
	return 0;
}
