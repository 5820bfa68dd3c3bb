/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/support/policy_fixture.h"

#include <errno.h>
#include <string.h>

static int fixture_read(void *self, struct arena *arena, const char *path, char **text, size_t *length, struct error *err)
{
	for (const struct fixture_file *file = self; file && file->path; file++) {
		if (strcmp(file->path, path) != 0)
			continue;
		if (!file->text)
			return error_errno(err, EACCES, "cannot open %s", path);
		*length = strlen(file->text);
		*text = arena_copy(arena, file->text);
		return 0;
	}
	return error_errno(err, ENOENT, "cannot open %s", path);
}

void fixture_parse_n(struct policy_fixture *fixture, enum layer layer, const char *text, size_t length)
{
	*fixture = (struct policy_fixture){ 0 };
	fixture->diagnostics.arena = &fixture->arena;
	fixture->status = policy_parse(&fixture->arena, "p.yml", layer, text, length, &fixture->policy, &fixture->diagnostics);
}

void fixture_parse(struct policy_fixture *fixture, enum layer layer, const char *text)
{
	fixture_parse_n(fixture, layer, text, strlen(text));
}

/* const is the reader's promise, which the callback's signature cannot express. */
static void *without_const(const void *pointer)
{
	union {
		const void *in;
		void *out;
	} both = { .in = pointer };
	return both.out;
}

void fixture_load(struct policy_fixture *fixture, struct policy_request request, const struct fixture_file *files)
{
	*fixture = (struct policy_fixture){ 0 };
	fixture->diagnostics.arena = &fixture->arena;
	request.read = fixture_read;
	request.self = without_const(files);
	fixture->status = policy_load(&fixture->arena, &request, &fixture->policy, &fixture->diagnostics);
}

void fixture_free(struct policy_fixture *fixture)
{
	arena_free(&fixture->arena);
}

bool fixture_complained(const struct policy_fixture *fixture, unsigned line, unsigned column, const char *part)
{
	for (size_t i = 0; i < fixture->diagnostics.count; i++) {
		const struct diagnostic *diagnostic = &fixture->diagnostics.items[i];
		if (diagnostic->origin.line == line && diagnostic->origin.column == column &&
		    (strstr(diagnostic->message, part) || (diagnostic->hint && strstr(diagnostic->hint, part))))
			return true;
	}
	return false;
}

const char *fixture_complaints(struct policy_fixture *fixture)
{
	const char *all = "";

	for (size_t i = 0; i < fixture->diagnostics.count; i++) {
		const struct diagnostic *diagnostic = &fixture->diagnostics.items[i];
		all = arena_printf(&fixture->arena, "%s\n%s:%u:%u: %s (%s)", all, diagnostic->origin.source,
				   diagnostic->origin.line, diagnostic->origin.column, diagnostic->message,
				   diagnostic->hint ? diagnostic->hint : "");
	}
	return all;
}

const struct rule *fixture_rule(const struct rules *rules, const char *text)
{
	for (size_t i = 0; i < rules->count; i++) {
		if (strcmp(rules->items[i].text, text) == 0)
			return &rules->items[i];
	}
	return NULL;
}
